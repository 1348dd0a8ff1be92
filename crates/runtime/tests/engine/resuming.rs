//! Resuming a session without a new prompt.

use opencode_schema::prompt::Delivery;
use opencode_testkit::{Fixture, Gate, Reply, compact};

#[tokio::test]
async fn resuming_starts_pending_inputs_and_returns_before_the_end() {
    let f = Fixture::open().await;
    let session = f.session().await;
    f.leave(&session, "Hi", Delivery::Steer).await;
    let gate = Gate::new();
    f.model
        .reply(Reply::new().text("Hello.").hold(&gate).stop());
    f.resume(&session).await;
    assert_eq!(f.runtime().active(), std::slice::from_ref(&session));
    f.reached(&gate).await;
    gate.release();
    f.wait(&session).await;
    assert_eq!(
        f.events(&session).await,
        [
            "prompt.admitted Hi",
            "prompted Hi",
            "step.started",
            "text.started",
            "text.ended Hello.",
            "step.ended stop",
        ]
    );
}

#[tokio::test]
async fn resuming_an_answered_session_sends_one_more_request() {
    let f = Fixture::open().await;
    let session = f.session().await;
    f.model
        .reply(Reply::says("Hello."))
        .reply(Reply::says("Still here."));
    f.ask(&session, "Hi").await;
    f.resume(&session).await;
    f.wait(&session).await;
    assert_eq!(
        f.events_after(&session, 6).await,
        [
            "step.started",
            "text.started",
            "text.ended Still here.",
            "step.ended stop",
        ]
    );
    assert_eq!(
        compact::messages(&f.model.last_request()),
        ["user: Hi", "assistant: Hello."]
    );
}

#[tokio::test]
async fn resuming_a_failed_turn_repeats_it() {
    let f = Fixture::open().await;
    let session = f.session().await;
    let failure = opencode_llm::LlmError::invalid_request("no");
    f.model
        .reply(Reply::fails(failure))
        .reply(Reply::says("Hello."));
    f.ask(&session, "Hi").await;
    f.resume(&session).await;
    f.wait(&session).await;
    let events = f.events(&session).await;
    assert_eq!(events[2..4], ["step.started", &events[3]]);
    assert!(events[3].starts_with("step.failed"), "{}", events[3]);
    assert_eq!(
        events[4..],
        [
            "step.started",
            "text.started",
            "text.ended Hello.",
            "step.ended stop",
        ]
    );
}

#[tokio::test]
async fn resuming_a_running_session_joins_its_drain() {
    let f = Fixture::open().await;
    let session = f.session().await;
    let gate = Gate::new();
    f.model
        .reply(Reply::new().text("Hello.").hold(&gate).stop());
    f.prompt(&session, "Hi").await;
    f.reached(&gate).await;
    f.resume(&session).await;
    f.resume(&session).await;
    gate.release();
    f.wait(&session).await;
    assert_eq!(f.model.requests().len(), 1);
}

#[tokio::test]
async fn resuming_while_an_interruption_settles_starts_again_after_it() {
    let f = Fixture::open().await;
    let session = f.session().await;
    let gate = Gate::new();
    f.model
        .reply(Reply::new().begin_text().delta("Long").hold(&gate))
        .reply(Reply::says("Fresh."));
    f.prompt(&session, "Tell").await;
    f.reached(&gate).await;
    // The writer is held before the end of the settlement.
    let hold = f.clock.hold_writer(1);
    let settles = f.interrupt(&session);
    let resumes = async {
        f.writer_held(&hold).await;
        f.resume(&session).await;
        drop(hold);
    };
    tokio::join!(settles, resumes);
    f.wait(&session).await;
    assert_eq!(
        f.events_after(&session, 4).await,
        [
            "text.ended Long",
            "step.failed Provider turn interrupted",
            "step.started",
            "text.started",
            "text.ended Fresh.",
            "step.ended stop",
        ]
    );
}
