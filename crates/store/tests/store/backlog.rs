//! Pending inputs of an inbox: their order, their delivery and their number.

use opencode_schema::event::SessionEvent;
use opencode_schema::prompt::Delivery;
use opencode_store::{Abort, SessionRow};
use serde_json::json;

use crate::harness::{Bench, admitted, event, message_id, prompted};

fn withdrawn(id: &str) -> SessionEvent {
    event("prompt.withdrawn", json!({"messageID": id}))
}

fn redelivered(id: &str, delivery: &str) -> SessionEvent {
    event(
        "prompt.redelivered",
        json!({"messageID": id, "delivery": delivery}),
    )
}

/// Returns id, admission and delivery of all pending inputs, and the stored count.
async fn backlog(bench: &Bench, session: &SessionRow) -> (Vec<(String, u64, Delivery)>, u64) {
    let row = session.clone();
    let read = bench.store.read(move |db| {
        let inputs = db.pending_inputs(&row)?;
        assert!(inputs.iter().all(|input| input.session_id == row.info.id));
        assert!(inputs.iter().all(|input| input.promoted_seq.is_none()));
        Ok((inputs, db.pending_count(row.key)?))
    });
    let (inputs, count) = read.await.unwrap();
    let shown = inputs
        .into_iter()
        .map(|input| (input.id.to_string(), input.admitted_seq, input.delivery));
    (shown.collect(), count)
}

#[tokio::test]
async fn inputs_of_both_deliveries_are_ordered_by_admission() {
    let (bench, session) = Bench::with_session("ses_a").await;
    let other = bench.session("ses_b").await;
    let of = |id: &str, seq, delivery| (id.to_owned(), seq, delivery);
    let (steer, queue) = (Delivery::Steer, Delivery::Queue);
    for (event, expected) in [
        (admitted("msg_f", "x", "queue"), vec![of("msg_f", 1, queue)]),
        (
            admitted("msg_e", "x", "steer"),
            vec![of("msg_f", 1, queue), of("msg_e", 2, steer)],
        ),
        (
            admitted("msg_d", "x", "queue"),
            vec![
                of("msg_f", 1, queue),
                of("msg_e", 2, steer),
                of("msg_d", 3, queue),
            ],
        ),
        (
            redelivered("msg_d", "steer"),
            vec![
                of("msg_f", 1, queue),
                of("msg_e", 2, steer),
                of("msg_d", 3, steer),
            ],
        ),
        (
            prompted("msg_e", "x", "steer"),
            vec![of("msg_f", 1, queue), of("msg_d", 3, steer)],
        ),
        (withdrawn("msg_f"), vec![of("msg_d", 3, steer)]),
        // Events without effect do not change the count.
        (withdrawn("msg_f"), vec![of("msg_d", 3, steer)]),
        (withdrawn("msg_e"), vec![of("msg_d", 3, steer)]),
        (withdrawn("msg_nobody"), vec![of("msg_d", 3, steer)]),
        (
            prompted("msg_imported", "x", "steer"),
            vec![of("msg_d", 3, steer)],
        ),
        (
            event("revert.committed", json!({"messageID": "msg_e"})),
            vec![of("msg_d", 3, steer)],
        ),
        (prompted("msg_d", "x", "steer"), vec![]),
    ] {
        bench.append(&session, 5, event.clone()).await;
        let count = expected.len() as u64;
        assert_eq!(
            backlog(&bench, &session).await,
            (expected, count),
            "{event:?}"
        );
        assert_eq!(backlog(&bench, &other).await, (vec![], 0));
    }
    bench
        .append(&session, 5, admitted("msg_last", "x", "steer"))
        .await;
    let SessionEvent::SessionCreated(created) = crate::harness::created("ses_a", "/project") else {
        panic!("not a creation")
    };
    bench
        .append(&session, 5, event("session.deleted", json!(created)))
        .await;
    assert_eq!(backlog(&bench, &session).await, (vec![], 0));
}

#[tokio::test]
async fn inputs_of_a_rolled_back_command_are_not_counted() {
    let (bench, session) = Bench::with_session("ses_a").await;
    bench
        .append(&session, 5, admitted("msg_1", "x", "steer"))
        .await;
    let id = session.info.id.clone();
    let write = bench.store.write(move |transaction| {
        for event in [
            admitted("msg_2", "x", "steer"),
            prompted("msg_1", "x", "steer"),
        ] {
            let draft = opencode_store::Draft::new(5, event);
            transaction
                .append(&id, None, draft)
                .map_err(Abort::unexpected)?;
        }
        Err::<(), Abort<_>>(Abort::Refused("decided"))
    });
    assert_eq!(write.await, Err(Abort::Refused("decided")));
    let expected = vec![("msg_1".to_owned(), 1, Delivery::Steer)];
    assert_eq!(backlog(&bench, &session).await, (expected, 1));
}

#[tokio::test]
async fn a_receipt_contains_the_first_and_the_current_delivery() {
    let (bench, session) = Bench::with_session("ses_a").await;
    let stored = |id: &'static str| {
        let read = bench.store.read(move |db| db.input(&message_id(id)));
        async {
            read.await
                .unwrap()
                .map(|it| (it.receipt.delivery, it.delivery, it.withdrawn))
        }
    };
    let (steer, queue) = (Delivery::Steer, Delivery::Queue);
    for (event, expected) in [
        (admitted("msg_1", "x", "queue"), (queue, queue, false)),
        (redelivered("msg_1", "steer"), (queue, steer, false)),
        (redelivered("msg_1", "queue"), (queue, queue, false)),
        (redelivered("msg_1", "steer"), (queue, steer, false)),
        (prompted("msg_1", "x", "steer"), (queue, steer, false)),
    ] {
        bench.append(&session, 5, event.clone()).await;
        assert_eq!(stored("msg_1").await, Some(expected), "{event:?}");
    }
    bench
        .append(&session, 5, admitted("msg_2", "x", "steer"))
        .await;
    bench.append(&session, 5, withdrawn("msg_2")).await;
    assert_eq!(stored("msg_2").await, Some((steer, steer, true)));
}

#[tokio::test]
async fn a_redelivered_input_keeps_its_position_by_admission() {
    let (bench, session) = Bench::with_session("ses_a").await;
    let (id, key) = (session.info.id.clone(), session.key);
    for (id, delivery) in [
        ("msg_1", "queue"),
        ("msg_2", "steer"),
        ("msg_3", "queue"),
        ("msg_4", "steer"),
    ] {
        bench.append(&session, 5, admitted(id, "x", delivery)).await;
    }
    for (event, steers, queued) in [
        (
            redelivered("msg_3", "steer"),
            vec!["msg_2", "msg_3", "msg_4"],
            vec!["msg_1"],
        ),
        (
            redelivered("msg_1", "steer"),
            vec!["msg_1", "msg_2", "msg_3", "msg_4"],
            vec![],
        ),
        (
            redelivered("msg_2", "queue"),
            vec!["msg_1", "msg_3", "msg_4"],
            vec!["msg_2"],
        ),
    ] {
        bench.append(&session, 6, event).await;
        for (delivery, expected) in [(Delivery::Steer, steers), (Delivery::Queue, queued)] {
            let id = id.clone();
            // The cutoff refers to the admission, not to the change of the delivery.
            let read = bench
                .store
                .read(move |db| db.pending(&id, key, delivery, 4.into(), 99));
            let pending = read.await.unwrap();
            let ids: Vec<_> = pending.iter().map(|input| input.id.as_str()).collect();
            assert_eq!(ids, expected);
        }
    }
}
