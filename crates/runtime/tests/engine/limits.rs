//! Limits of a session: the number of pending inputs, the number of promotions at one boundary, and
//! the size of one prompt.

use opencode_runtime::{PromptRequest, RuntimeError};
use opencode_schema::id::MessageID;
use opencode_schema::prompt::{Delivery, SessionInputAdmitted};
use opencode_testkit::{Fixture, Gate, Reply, output, prompt_request};
use serde_json::json;

use crate::flow;

fn named(request: PromptRequest, id: &str) -> PromptRequest {
    PromptRequest {
        id: MessageID::parse(id).ok(),
        ..request
    }
}

#[tokio::test]
async fn a_full_inbox_refuses_and_stores_nothing() {
    let f = Fixture::with(|options| options.limits.inbox = 2).await;
    let (session, other) = (f.session().await, f.session().await);
    let first = PromptRequest {
        resume: false,
        ..named(prompt_request(&session, "One"), "msg_one")
    };
    let receipt = f.admit(first.clone()).await;
    f.leave(&session, "Two", Delivery::Queue).await;
    let before = f.events(&session).await;
    for delivery in [Delivery::Steer, Delivery::Queue] {
        let refused = f
            .try_admit(PromptRequest {
                delivery,
                ..named(prompt_request(&session, "Three"), "msg_three")
            })
            .await;
        assert!(
            matches!(
                &refused,
                Err(RuntimeError::Backlog { session_id, pending: 2, limit: 2 })
                    if *session_id == session
            ),
            "{refused:?}"
        );
    }
    assert_eq!(f.events(&session).await, before);
    assert_eq!(f.inbox(&session).await, ["One", "Two (queue)"]);
    // A refused prompt does not wake the session.
    assert_eq!(f.runtime().active(), []);
    // A retry is not a new input, and each session has its own limit.
    assert_eq!(f.admit(first).await, receipt);
    f.leave(&other, "Elsewhere", Delivery::Steer).await;
}

#[tokio::test]
async fn promotion_and_withdrawal_make_room_in_the_inbox() {
    let f = Fixture::with(|options| options.limits.inbox = 1).await;
    let session = f.session().await;
    let input = f.leave(&session, "Never", Delivery::Steer).await;
    f.withdraw(&input).await;
    f.leave(&session, "One", Delivery::Steer).await;
    f.model.otherwise(|_| Reply::says("Done."));
    f.resume(&session).await;
    f.wait(&session).await;
    // A refused prompt may be sent again under its id.
    f.leave(&session, "Two", Delivery::Steer).await;
    let third = PromptRequest {
        resume: false,
        ..named(prompt_request(&session, "Three"), "msg_three")
    };
    let refused = f.try_admit(third.clone()).await;
    assert!(
        matches!(refused, Err(RuntimeError::Backlog { .. })),
        "{refused:?}"
    );
    f.resume(&session).await;
    f.wait(&session).await;
    f.admit(third).await;
    assert_eq!(f.inbox(&session).await, ["Three"]);
}

#[tokio::test]
async fn the_backlog_is_counted_again_after_a_restart() {
    let mut f = Fixture::with(|options| options.limits.inbox = 2).await;
    let session = f.session().await;
    f.leave(&session, "One", Delivery::Steer).await;
    f.leave(&session, "Two", Delivery::Steer).await;
    f.reopen().await;
    let refused = f.try_admit(prompt_request(&session, "Three")).await;
    assert!(
        matches!(
            refused,
            Err(RuntimeError::Backlog {
                pending: 2,
                limit: 2,
                ..
            })
        ),
        "{refused:?}"
    );
}

#[tokio::test]
async fn a_boundary_promotes_the_oldest_steers_and_the_next_one_the_others() {
    let f = Fixture::with(|options| options.limits.steer_batch = 2).await;
    let session = f.session().await;
    f.leave(&session, "Queued", Delivery::Queue).await;
    for text in ["1", "2", "3", "4", "5"] {
        f.leave(&session, text, Delivery::Steer).await;
    }
    f.tool("echo", |input, _| async { output(input) });
    f.model
        .reply(Reply::calls("c1", "echo", json!({})))
        .otherwise(|_| Reply::says("Done."));
    f.resume(&session).await;
    f.wait(&session).await;
    assert_eq!(
        flow(&f.events(&session).await),
        [
            "prompted 1",
            "prompted 2",
            "step.started",
            "prompted 3",
            "prompted 4",
            "step.started",
            "prompted 5",
            "step.started",
            "prompted Queued (queue)",
            "step.started",
        ]
    );
}

#[tokio::test]
async fn steers_beyond_a_batch_join_the_activity_of_a_later_queued_input() {
    let f = Fixture::with(|options| options.limits.steer_batch = 1).await;
    let session = f.session().await;
    let gate = Gate::new();
    f.model
        .reply(Reply::new().text("Working.").hold(&gate).stop())
        .otherwise(|_| Reply::says("Done."));
    f.queue(&session, "Go").await;
    f.reached(&gate).await;
    f.queue(&session, "Next").await;
    let steers = ["A", "B"].map(|text| f.leave(&session, text, Delivery::Queue));
    for steer in steers {
        let steer = steer.await;
        f.set_delivery(&steer, Delivery::Steer).await;
    }
    gate.release();
    f.wait(&session).await;
    assert_eq!(
        flow(&f.events(&session).await),
        [
            "prompted Go (queue)",
            "step.started",
            "prompted A",
            "step.started",
            "prompted B",
            "step.started",
            "prompted Next (queue)",
            "step.started",
        ]
    );
}

#[tokio::test]
async fn a_boundary_promotes_at_least_one_steer() {
    let f = Fixture::with(|options| options.limits.steer_batch = 0).await;
    let session = f.session().await;
    f.leave(&session, "1", Delivery::Steer).await;
    f.leave(&session, "2", Delivery::Steer).await;
    f.model
        .reply(Reply::says("One."))
        .reply(Reply::says("Two."));
    f.resume(&session).await;
    f.wait(&session).await;
    assert_eq!(
        flow(&f.events(&session).await),
        ["prompted 1", "step.started", "prompted 2", "step.started"]
    );
}

#[tokio::test]
async fn a_prompt_that_clients_could_not_read_is_refused() {
    const LIMIT: usize = 8 * 1024 * 1024;
    let f = Fixture::open().await;
    let session = f.session().await;
    let around = r#"{"text":""}"#.len();
    // Each line end takes two bytes of JSON.
    let largest = "\n".repeat((LIMIT - around) / 2);
    let receipt = f.leave(&session, &largest, Delivery::Steer).await;
    assert_eq!(receipt.prompt.text.len(), largest.len());
    let request = PromptRequest {
        prompt: prompt_request(&session, &format!("{largest}aa")).prompt,
        resume: false,
        ..prompt_request(&session, "")
    };
    let refused = f.try_admit(request).await;
    assert!(
        matches!(
            refused,
            Err(RuntimeError::PromptTooLarge { bytes, limit: LIMIT }) if bytes == LIMIT + 1
        ),
        "{refused:?}"
    );
    let waiting: Vec<SessionInputAdmitted> = f.runtime().inbox(&session).await.unwrap();
    assert_eq!(waiting, [receipt]);
}
