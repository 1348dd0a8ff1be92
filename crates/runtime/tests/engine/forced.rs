//! Runs that a caller requests although no input is pending.

use opencode_runtime::{DrainOutcome, RuntimeError};
use opencode_schema::prompt::Delivery;
use opencode_testkit::{Fixture, Reply};

#[tokio::test]
async fn a_run_of_a_session_without_history_sends_no_request() {
    let f = Fixture::open().await;
    let session = f.session().await;
    let outcome = f.run(&session).await;
    assert!(matches!(outcome, DrainOutcome::Done), "{outcome:?}");
    // Records that a model never reads are not history, even if they choose a model that does not exist.
    for _ in 0..10 {
        for model in ["m2", "m9"] {
            f.switch_model(&session, model).await;
        }
    }
    let before = f.events(&session).await;
    let outcome = f.run(&session).await;
    assert!(matches!(outcome, DrainOutcome::Done), "{outcome:?}");
    assert_eq!(f.model.requests().len(), 0);
    assert_eq!(f.events(&session).await, before);
}

#[tokio::test]
async fn resuming_a_session_without_history_is_refused() {
    let f = Fixture::open().await;
    let session = f.session().await;
    f.switch_model(&session, "m2").await;
    let refused = f.runtime().resume(&session).await;
    let refused = refused.unwrap_err();
    assert!(
        matches!(&refused, RuntimeError::NothingToRun(id) if *id == session),
        "{refused:?}"
    );
    assert_eq!(f.runtime().active(), []);
    // Pending input is enough for a run.
    f.leave(&session, "Hi", Delivery::Steer).await;
    f.model.reply(Reply::says("Hello."));
    f.resume(&session).await;
    f.wait(&session).await;
    assert_eq!(f.model.requests().len(), 1);
}

#[tokio::test]
async fn a_run_of_an_answered_session_sends_one_request() {
    let f = Fixture::open().await;
    let session = f.session().await;
    for _ in 0..20 {
        f.switch_model(&session, "m2").await;
        f.switch_model(&session, "m1").await;
    }
    f.model.otherwise(|_| Reply::says("Hello."));
    f.ask(&session, "Hi").await;
    let before = f.events(&session).await.len();
    let outcome = f.run(&session).await;
    assert!(matches!(outcome, DrainOutcome::Done), "{outcome:?}");
    assert_eq!(
        f.events_after(&session, before).await,
        [
            "step.started",
            "text.started",
            "text.ended Hello.",
            "step.ended stop",
        ]
    );
    assert_eq!(f.model.requests().len(), 2);
}
