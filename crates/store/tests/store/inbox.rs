//! Admitted Prompts: receipts, conflicts, promotion, withdrawal and pending inputs.

use opencode_schema::event::SessionEvent;
use opencode_schema::prompt::Delivery;
use opencode_store::{Abort, LifecycleConflict, SessionRow};
use serde_json::{Value, json};

use crate::harness::{Bench, admitted, append, event, message_id, prompted, step_started};

/// Returns the stored input as `(receipt, withdrawn)`.
async fn input(bench: &Bench, id: &str) -> Option<(Value, bool)> {
    let id = message_id(id);
    let read = bench.store.read(move |db| db.input(&id)).await;
    read.unwrap()
        .map(|input| (json!(input.receipt), input.withdrawn))
}

/// Returns the ids of pending inputs.
async fn pending(
    bench: &Bench,
    session: &SessionRow,
    delivery: Delivery,
    (cutoff, limit): (u64, usize),
) -> Vec<String> {
    let (id, key) = (session.info.id.clone(), session.key);
    let read = bench.store.read(move |db| {
        let inputs = db.pending(&id, key, delivery, cutoff.into(), limit)?;
        assert_eq!(
            db.has_pending(key, delivery)?,
            !db.pending(&id, key, delivery, u64::MAX.into(), 1)?
                .is_empty()
        );
        Ok(inputs)
    });
    let inputs = read.await.unwrap();
    assert!(
        inputs
            .iter()
            .all(|input| input.delivery == delivery && input.promoted_seq.is_none())
    );
    inputs.iter().map(|input| input.id.to_string()).collect()
}

async fn conflict(
    bench: &Bench,
    session: &SessionRow,
    time: i64,
    event: SessionEvent,
) -> LifecycleConflict {
    let append = append(&bench.store, &session.info.id, time, event).await;
    match append {
        Err(Abort::Refused(conflict)) => conflict,
        other => panic!("{other:?}"),
    }
}

fn withdrawn(id: &str) -> SessionEvent {
    event("prompt.withdrawn", json!({"messageID": id}))
}

fn redelivered(id: &str, delivery: &str) -> SessionEvent {
    event(
        "prompt.redelivered",
        json!({"messageID": id, "delivery": delivery}),
    )
}

#[tokio::test]
async fn an_admitted_input_is_a_receipt_until_its_promotion() {
    let (bench, session) = Bench::with_session("ses_a").await;
    assert_eq!(input(&bench, "msg_1").await, None);
    let file = json!({"uri": "file:///a", "mime": "text/plain"});
    let prompt = json!({"text": "hi", "files": [file], "agents": [{"name": "plan"}]});
    let payload = json!({"messageID": "msg_1", "prompt": prompt, "delivery": "queue"});
    bench
        .append(&session, 50, event("prompt.admitted", payload.clone()))
        .await;
    let receipt = json!({
        "admittedSeq": 1, "id": "msg_1", "sessionID": "ses_a", "prompt": prompt,
        "delivery": "queue", "timeCreated": 50,
    });
    assert_eq!(input(&bench, "msg_1").await, Some((receipt.clone(), false)));
    assert_eq!(bench.messages(&session).await, Vec::<Value>::new());

    bench.append(&session, 50, event("prompted", payload)).await;
    let promoted = crate::harness::with(receipt, json!({"promotedSeq": 2}));
    assert_eq!(input(&bench, "msg_1").await, Some((promoted, false)));
    let message = json!({
        "type": "user", "id": "msg_1", "time": {"created": 50}, "text": "hi", "files": [file],
        "agents": [{"name": "plan"}],
    });
    assert_eq!(bench.messages(&session).await, [message]);
    assert_eq!(
        pending(&bench, &session, Delivery::Queue, (u64::MAX, 9)).await,
        [""; 0]
    );
}

#[tokio::test]
async fn inputs_with_files_or_agents_are_found_among_text_inputs() {
    let (bench, session) = Bench::with_session("ses_a").await;
    let file = json!({"uri": "file:///a", "mime": "text/plain"});
    for (id, prompt) in [
        ("msg_text", json!({"text": "hi"})),
        ("msg_file", json!({"text": "", "files": [file]})),
        (
            "msg_agent",
            json!({"text": "hi", "agents": [{"name": "plan"}]}),
        ),
        (
            "msg_both",
            json!({"text": "hi", "files": [file, file], "agents": [{"name": "a"}]}),
        ),
        ("msg_other", json!({"text": "hi again"})),
    ] {
        let payload = json!({"messageID": id, "prompt": prompt, "delivery": "steer"});
        bench
            .append(&session, 50, event("prompt.admitted", payload))
            .await;
    }
    let (id, key) = (session.info.id.clone(), session.key);
    let read = bench
        .store
        .read(move |db| db.pending_attached(&id, key, Delivery::Steer, u64::MAX.into(), 9));
    let found: Vec<_> = read
        .await
        .unwrap()
        .into_iter()
        .map(|input| input.id.to_string())
        .collect();
    assert_eq!(found, ["msg_file", "msg_agent", "msg_both"]);
}

#[tokio::test]
async fn an_id_is_unique_across_all_sessions() {
    let (bench, session) = Bench::with_session("ses_a").await;
    let other = bench.session("ses_b").await;
    let events = [
        admitted("msg_pending", "x", "steer"),
        admitted("msg_promoted", "x", "steer"),
        prompted("msg_promoted", "x", "steer"),
        admitted("msg_withdrawn", "x", "steer"),
        withdrawn("msg_withdrawn"),
        step_started("msg_assistant"),
        event(
            "synthetic",
            json!({"messageID": "msg_synthetic", "text": "x"}),
        ),
    ];
    for event in events {
        bench.append(&session, 5, event).await;
    }
    for id in [
        "msg_pending",
        "msg_promoted",
        "msg_withdrawn",
        "msg_assistant",
        "msg_synthetic",
    ] {
        for session in [&session, &other] {
            let conflict = conflict(&bench, session, 5, admitted(id, "x", "steer")).await;
            assert_eq!(conflict, LifecycleConflict::IdInUse(message_id(id)));
        }
    }
}

#[tokio::test]
async fn a_promotion_must_match_its_admission() {
    let (bench, session) = Bench::with_session("ses_a").await;
    let other = bench.session("ses_b").await;
    for id in ["msg_1", "msg_2", "msg_3"] {
        bench.append(&session, 5, admitted(id, "x", "steer")).await;
    }
    bench
        .append(&session, 5, prompted("msg_2", "x", "steer"))
        .await;
    bench.append(&session, 5, withdrawn("msg_3")).await;
    for (session, time, event) in [
        (&session, 5, prompted("msg_1", "y", "steer")),
        (&session, 5, prompted("msg_1", "x", "queue")),
        (&session, 6, prompted("msg_1", "x", "steer")),
        (&other, 5, prompted("msg_1", "x", "steer")),
        (&session, 5, prompted("msg_2", "x", "steer")),
        (&session, 5, prompted("msg_3", "x", "steer")),
    ] {
        let SessionEvent::Prompted(it) = &event else {
            panic!("not a promotion")
        };
        let expected = LifecycleConflict::NotPending(it.message_id.clone());
        assert_eq!(conflict(&bench, session, time, event).await, expected);
    }
    // Its message was reverted, but it is still not pending.
    bench
        .append(
            &session,
            7,
            event("synthetic", json!({"messageID": "msg_s", "text": "x"})),
        )
        .await;
    bench
        .append(&session, 5, prompted("msg_1", "x", "steer"))
        .await;
    bench
        .append(
            &session,
            7,
            event("revert.committed", json!({"messageID": "msg_s"})),
        )
        .await;
    let again = conflict(&bench, &session, 5, prompted("msg_1", "x", "steer")).await;
    assert_eq!(again, LifecycleConflict::NotPending(message_id("msg_1")));
}

#[tokio::test]
async fn a_promotion_of_imported_history_creates_its_row() {
    let (bench, session) = Bench::with_session("ses_a").await;
    bench
        .append(&session, 5, prompted("msg_1", "x", "queue"))
        .await;
    let receipt = json!({
        "admittedSeq": 1, "id": "msg_1", "sessionID": "ses_a", "prompt": {"text": "x"},
        "delivery": "queue", "timeCreated": 5, "promotedSeq": 1,
    });
    assert_eq!(input(&bench, "msg_1").await, Some((receipt, false)));
    let message = json!({"type": "user", "id": "msg_1", "time": {"created": 5}, "text": "x"});
    assert_eq!(bench.messages(&session).await, [message]);
}

#[tokio::test]
async fn only_a_pending_input_of_the_session_is_withdrawn_or_redelivered() {
    let (bench, session) = Bench::with_session("ses_a").await;
    let other = bench.session("ses_b").await;
    for id in ["msg_pending", "msg_promoted", "msg_withdrawn"] {
        bench.append(&session, 5, admitted(id, "x", "steer")).await;
    }
    bench
        .append(&session, 5, prompted("msg_promoted", "x", "steer"))
        .await;
    bench.append(&session, 6, withdrawn("msg_withdrawn")).await;
    let mut before = Vec::new();
    for id in ["msg_pending", "msg_promoted", "msg_withdrawn"] {
        before.push(input(&bench, id).await.unwrap());
    }
    let states: Vec<_> = before.iter().map(|(_, withdrawn)| *withdrawn).collect();
    assert_eq!(states, [false, false, true]);
    for (session, event) in [
        (&other, withdrawn("msg_pending")),
        (&other, redelivered("msg_pending", "queue")),
        (&session, withdrawn("msg_promoted")),
        (&session, redelivered("msg_promoted", "queue")),
        (&session, redelivered("msg_withdrawn", "queue")),
        (&session, withdrawn("msg_withdrawn")),
        (&session, withdrawn("msg_unknown")),
    ] {
        bench.append(session, 7, event).await;
    }
    for (id, before) in ["msg_pending", "msg_promoted", "msg_withdrawn"]
        .into_iter()
        .zip(before)
    {
        assert_eq!(input(&bench, id).await.unwrap(), before);
    }
    assert_eq!(
        pending(&bench, &session, Delivery::Steer, (u64::MAX, 9)).await,
        ["msg_pending"]
    );
    assert_eq!(
        pending(&bench, &session, Delivery::Queue, (u64::MAX, 9)).await,
        [""; 0]
    );
}

#[tokio::test]
async fn a_redelivered_input_is_pending_with_its_new_delivery_and_the_same_receipt() {
    let (bench, session) = Bench::with_session("ses_a").await;
    bench
        .append(&session, 5, admitted("msg_1", "x", "queue"))
        .await;
    let receipt = input(&bench, "msg_1").await;
    bench
        .append(&session, 6, redelivered("msg_1", "steer"))
        .await;
    assert_eq!(input(&bench, "msg_1").await, receipt);
    assert_eq!(
        pending(&bench, &session, Delivery::Steer, (u64::MAX, 9)).await,
        ["msg_1"]
    );
    assert_eq!(
        pending(&bench, &session, Delivery::Queue, (u64::MAX, 9)).await,
        [""; 0]
    );
    let refused = conflict(&bench, &session, 5, prompted("msg_1", "x", "queue")).await;
    assert_eq!(refused, LifecycleConflict::NotPending(message_id("msg_1")));
    bench
        .append(&session, 5, prompted("msg_1", "x", "steer"))
        .await;
}

#[tokio::test]
async fn pending_inputs_are_returned_in_admission_order_up_to_the_cutoff() {
    let (bench, session) = Bench::with_session("ses_a").await;
    let other = bench.session("ses_b").await;
    // The order of the ids differs from the order of the admissions, which are entries 1 to 6.
    for (id, delivery) in [
        ("msg_f", "steer"),
        ("msg_e", "queue"),
        ("msg_d", "steer"),
        ("msg_c", "steer"),
        ("msg_b", "queue"),
        ("msg_a", "steer"),
    ] {
        bench.append(&session, 5, admitted(id, "x", delivery)).await;
    }
    bench
        .append(&other, 5, admitted("msg_other", "x", "steer"))
        .await;
    bench
        .append(&session, 5, prompted("msg_d", "x", "steer"))
        .await;
    for (delivery, range, expected) in [
        (
            Delivery::Steer,
            (u64::MAX, usize::MAX),
            vec!["msg_f", "msg_c", "msg_a"],
        ),
        (Delivery::Steer, (5, 9), vec!["msg_f", "msg_c"]),
        (Delivery::Steer, (4, 9), vec!["msg_f", "msg_c"]),
        (Delivery::Steer, (3, 9), vec!["msg_f"]),
        (Delivery::Steer, (0, 9), vec![]),
        (Delivery::Steer, (u64::MAX, 2), vec!["msg_f", "msg_c"]),
        (Delivery::Queue, (u64::MAX, 1), vec!["msg_e"]),
        (Delivery::Queue, (u64::MAX, 9), vec!["msg_e", "msg_b"]),
        (Delivery::Queue, (u64::MAX, 0), vec![]),
    ] {
        assert_eq!(
            pending(&bench, &session, delivery, range).await,
            expected,
            "{range:?}"
        );
    }
}
