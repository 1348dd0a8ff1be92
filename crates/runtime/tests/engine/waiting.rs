//! Pending inputs: callers can list them, withdraw them and change their delivery.

use opencode_runtime::{PromptRequest, RuntimeError};
use opencode_schema::id::{MessageID, SessionID};
use opencode_schema::prompt::{Delivery, SessionInputAdmitted};
use opencode_testkit::{Fixture, Gate, Reply, prompt_request};
use serde_json::json;

use crate::flow;

/// A session whose answer is held at the gate, so that new input stays pending.
async fn held(f: &Fixture, gate: &Gate) -> SessionID {
    let session = f.session().await;
    f.model
        .reply(Reply::new().text("Working.").hold(gate).stop());
    f.prompt(&session, "Go").await;
    f.reached(gate).await;
    session
}

#[tokio::test]
async fn the_inbox_lists_pending_inputs_in_the_order_of_admission() {
    let f = Fixture::open().await;
    let gate = Gate::new();
    let session = held(&f, &gate).await;
    assert_eq!(f.inbox(&session).await, [""; 0]);
    let queued = f.queue(&session, "One").await;
    let steer = f.prompt(&session, "Two").await;
    let another = f.queue(&session, "Three").await;
    // Another session has its own inbox.
    let other = f.session().await;
    f.leave(&other, "Elsewhere", Delivery::Steer).await;
    let waiting = f.runtime().inbox(&session).await.unwrap();
    assert_eq!(waiting, [queued, steer, another]);
    f.model.otherwise(|_| Reply::says("Done."));
    gate.release();
    f.wait(&session).await;
    assert_eq!(f.inbox(&session).await, [""; 0]);
    assert_eq!(f.inbox(&other).await, ["Elsewhere"]);
}

#[tokio::test]
async fn a_withdrawn_input_never_runs_and_its_id_stays_used() {
    let f = Fixture::open().await;
    let session = f.session().await;
    let request = PromptRequest {
        id: MessageID::parse("msg_mine").ok(),
        resume: false,
        ..prompt_request(&session, "Never")
    };
    let withdrawn = f.admit(request.clone()).await;
    f.leave(&session, "Hi", Delivery::Steer).await;
    f.withdraw(&withdrawn).await;
    assert_eq!(f.inbox(&session).await, ["Hi"]);
    let payload = json!({"messageID": "msg_mine"});
    assert_eq!(f.payloads(&session, "prompt.withdrawn").await, [payload]);
    f.model.reply(Reply::says("Hello."));
    f.resume(&session).await;
    f.wait(&session).await;
    let expected = [
        "prompt.admitted Never",
        "prompt.admitted Hi",
        "prompt.withdrawn",
        "prompted Hi",
        "step.started",
        "text.started",
        "text.ended Hello.",
        "step.ended stop",
    ];
    assert_eq!(f.events(&session).await, expected);
    // Neither the same prompt nor another one may use that id again.
    for text in ["Never", "Other"] {
        let refused = f
            .try_admit(PromptRequest {
                prompt: prompt_request(&session, text).prompt,
                ..request.clone()
            })
            .await;
        assert!(
            matches!(&refused, Err(RuntimeError::PromptConflict(id)) if *id == withdrawn.id),
            "{refused:?}"
        );
    }
    assert_eq!(f.events(&session).await, expected);
}

#[tokio::test]
async fn a_queued_input_that_becomes_a_steer_joins_the_next_turn() {
    let f = Fixture::open().await;
    let gate = Gate::new();
    let session = held(&f, &gate).await;
    f.queue(&session, "First").await;
    let second = f.queue(&session, "Second").await;
    let changed = f.set_delivery(&second, Delivery::Steer).await;
    let expected = SessionInputAdmitted {
        delivery: Delivery::Steer,
        ..second.clone()
    };
    assert_eq!(changed, expected);
    assert_eq!(f.inbox(&session).await, ["First (queue)", "Second"]);
    f.model
        .reply(Reply::says("Second done."))
        .reply(Reply::says("First done."));
    gate.release();
    f.wait(&session).await;
    assert_eq!(
        flow(&f.events(&session).await),
        [
            "prompted Go",
            "step.started",
            "prompted Second",
            "step.started",
            "prompted First (queue)",
            "step.started",
        ]
    );
    let payload = json!({"messageID": second.id, "delivery": "steer"});
    assert_eq!(f.payloads(&session, "prompt.redelivered").await, [payload]);
    // A retry repeats the original request and gets the original answer.
    let retry = PromptRequest {
        id: Some(second.id.clone()),
        delivery: Delivery::Queue,
        ..prompt_request(&session, "Second")
    };
    let receipt = f.admit(retry).await;
    let promoted_seq = receipt.promoted_seq;
    assert!(promoted_seq.is_some());
    let expected = SessionInputAdmitted {
        promoted_seq,
        ..second
    };
    assert_eq!(receipt, expected);
}

#[tokio::test]
async fn an_unchanged_delivery_is_not_recorded_but_wakes_the_session() {
    let f = Fixture::open().await;
    let session = f.session().await;
    let input = f.leave(&session, "Hi", Delivery::Queue).await;
    f.model.reply(Reply::says("Hello."));
    assert_eq!(f.set_delivery(&input, Delivery::Queue).await, input);
    f.wait(&session).await;
    assert_eq!(
        f.events(&session).await,
        [
            "prompt.admitted Hi (queue)",
            "prompted Hi (queue)",
            "step.started",
            "text.started",
            "text.ended Hello.",
            "step.ended stop",
        ]
    );
}

#[tokio::test]
async fn a_delivery_can_be_changed_repeatedly() {
    let f = Fixture::open().await;
    let gate = Gate::new();
    let session = held(&f, &gate).await;
    let input = f.queue(&session, "Later").await;
    f.set_delivery(&input, Delivery::Steer).await;
    assert_eq!(f.set_delivery(&input, Delivery::Queue).await, input);
    assert_eq!(
        f.events_after(&session, 4).await,
        [
            "text.ended Working.",
            "prompt.admitted Later (queue)",
            "prompt.redelivered steer",
            "prompt.redelivered queue",
        ]
    );
    f.model.reply(Reply::says("Later done."));
    gate.release();
    f.wait(&session).await;
    assert_eq!(
        flow(&f.events(&session).await),
        [
            "prompted Go",
            "step.started",
            "prompted Later (queue)",
            "step.started"
        ]
    );
}

#[tokio::test]
async fn only_pending_inputs_can_be_changed() {
    let f = Fixture::open().await;
    let (session, other) = (f.session().await, f.session().await);
    f.model.reply(Reply::says("Hello."));
    let promoted = f.ask(&session, "Hi").await;
    let withdrawn = f.leave(&session, "Never", Delivery::Steer).await;
    f.withdraw(&withdrawn).await;
    let elsewhere = f.leave(&other, "Elsewhere", Delivery::Steer).await;
    let unknown = MessageID::parse("msg_unknown").unwrap();
    let before = f.events(&session).await;
    let runtime = f.runtime();
    for (id, is_promoted) in [
        (&promoted.id, true),
        (&withdrawn.id, false),
        (&elsewhere.id, false),
        (&unknown, false),
    ] {
        let changed = runtime.set_delivery(&session, id, Delivery::Queue).await;
        for refused in [runtime.withdraw(&session, id).await.err(), changed.err()] {
            let as_expected = match &refused {
                Some(RuntimeError::InputPromoted(it)) => is_promoted && it == id,
                Some(RuntimeError::InputNotFound {
                    session_id,
                    message_id,
                }) => !is_promoted && *session_id == session && message_id == id,
                _ => false,
            };
            assert!(as_expected, "{id}: {refused:?}");
        }
    }
    assert_eq!(f.events(&session).await, before);
    assert_eq!(f.inbox(&other).await, ["Elsewhere"]);
    assert_eq!(runtime.active(), []);
}

#[tokio::test]
async fn an_input_is_promoted_or_withdrawn_and_never_both() {
    let f = Fixture::open().await;
    let session = f.session().await;
    let input = f.leave(&session, "Hi", Delivery::Steer).await;
    // The writer is held in the promotion, and the withdrawal waits behind it.
    let hold = f.clock.hold_writer(0);
    f.model.reply(Reply::says("Hello."));
    f.resume(&session).await;
    f.writer_held(&hold).await;
    let release = async {
        tokio::task::yield_now().await;
        drop(hold);
    };
    let withdrawal = f.runtime().withdraw(&session, &input.id);
    let (refused, ()) = tokio::join!(f.within("withdraw", withdrawal), release);
    assert!(
        matches!(&refused, Err(RuntimeError::InputPromoted(id)) if *id == input.id),
        "{refused:?}"
    );
    f.wait(&session).await;
    assert_eq!(f.model.requests().len(), 1);
}
