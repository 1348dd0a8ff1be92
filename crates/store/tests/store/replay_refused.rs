//! Refused elements, and elements that replay accepts although a local append would fail.

use opencode_store::{
    Abort, LifecycleConflict, ReplayConflict, ReplayEvent, ReplayOrder, Replayed,
};
use serde_json::{Value, json};

use crate::harness::{Bench, admitted, append, message_id, with};
use crate::replay::{creation, element, export, replay, replay_all, session_id, source};

#[tokio::test]
async fn elements_that_contradict_the_log_are_refused_and_change_nothing() {
    let (bench, _, log) = source().await;
    let other = bench.session("ses_b").await;
    bench
        .append(&other, 5, admitted("msg_other", "x", "steer"))
        .await;
    let id = session_id("ses_a");
    let changed = |change: &dyn Fn(&mut ReplayEvent)| {
        let mut event = log[1].clone();
        change(&mut event);
        event
    };
    let next = |kind: &str, data: Value| element(5, kind, &data);
    let used = export(&bench.store, "ses_b").await[1].id.clone();
    let diverged = || ReplayConflict::Diverged {
        session_id: id.clone(),
        seq: 1,
    };
    let text = log[1].data.replace("one", "two");
    let later = log[1].data.replace("\"timestamp\":5", "\"timestamp\":6");
    let synthetic =
        json!({"timestamp": 5, "sessionID": "ses_a", "messageID": "msg_s", "text": "x"});
    let foreign = json!({"timestamp": 5, "sessionID": "ses_b", "messageID": "msg_s", "text": "x"});
    let in_use = json!({
        "timestamp": 5, "sessionID": "ses_a", "messageID": "msg_other", "delivery": "steer",
        "prompt": {"text": "x"},
    });
    let record = json!({
        "id": "ses_b", "slug": "s", "projectID": "p", "directory": "/d", "title": "T",
        "version": "1", "time": {"created": 1, "updated": 1},
    });
    let updated = json!({"sessionID": "ses_a", "info": record});
    let synthetic_kind = "session.next.synthetic.1";
    for (event, expected) in [
        (changed(&|it| it.id = used.clone()), diverged()),
        (changed(&|it| it.data.clone_from(&text)), diverged()),
        (changed(&|it| it.data.clone_from(&later)), diverged()),
        (
            changed(&|it| it.kind = "session.next.prompted.1".into()),
            diverged(),
        ),
        (
            element(6, synthetic_kind, &synthetic),
            ReplayConflict::Gap {
                session_id: id.clone(),
                expected: 5,
                found: 6,
            },
        ),
        (
            element(u64::MAX, synthetic_kind, &synthetic),
            ReplayConflict::Gap {
                session_id: id.clone(),
                expected: 5,
                found: u64::MAX,
            },
        ),
        (
            ReplayEvent {
                id: used.clone(),
                ..next(synthetic_kind, synthetic.clone())
            },
            ReplayConflict::EventIdInUse {
                seq: 5,
                id: used.clone(),
            },
        ),
        (
            next("session.next.synthetic.2", synthetic.clone()),
            ReplayConflict::UnknownType {
                seq: 5,
                kind: "session.next.synthetic.2".into(),
            },
        ),
        (
            next("message.updated.1", synthetic.clone()),
            ReplayConflict::UnknownType {
                seq: 5,
                kind: "message.updated.1".into(),
            },
        ),
        (
            next(synthetic_kind, foreign),
            ReplayConflict::ForeignSession {
                seq: 5,
                session_id: id.clone(),
                named: session_id("ses_b"),
            },
        ),
        (
            next("session.updated.1", updated),
            ReplayConflict::ForeignSession {
                seq: 5,
                session_id: id.clone(),
                named: session_id("ses_b"),
            },
        ),
        (
            next("session.next.prompt.admitted.1", in_use),
            ReplayConflict::Lifecycle {
                seq: 5,
                conflict: LifecycleConflict::IdInUse(message_id("msg_other")),
            },
        ),
        (
            ReplayEvent {
                session_id: session_id("ses_new"),
                data: synthetic.to_string().replace("ses_a", "ses_new"),
                ..element(0, synthetic_kind, &synthetic)
            },
            ReplayConflict::NoSession(session_id("ses_new")),
        ),
    ] {
        assert_eq!(
            replay(&bench.store, &event).await,
            Err(expected),
            "{event:?}"
        );
    }
    for data in [
        "",
        "[]",
        r#"{"timestamp":5,"messageID":"msg_s","text":"x"}"#,
        r#"{"sessionID":"ses_a","messageID":"msg_s","text":"x"}"#,
        r#"{"timestamp":"now","sessionID":"ses_a","messageID":"msg_s","text":"x"}"#,
        r#"{"timestamp":5,"sessionID":"ses_a","messageID":"nobody","text":"x"}"#,
        r#"{"timestamp":5,"sessionID":"ses_a","messageID":"msg_s"}"#,
    ] {
        let mut event = next(synthetic_kind, json!({}));
        event.data = data.to_owned();
        let refused = replay(&bench.store, &event).await;
        let is_unreadable = matches!(&refused, Err(ReplayConflict::Payload { seq: 5, reason }) if !reason.is_empty());
        assert!(is_unreadable, "{data}: {refused:?}");
    }
    assert_eq!(export(&bench.store, "ses_a").await, log);
    let missing = bench
        .store
        .read(|db| db.session(&session_id("ses_new")))
        .await;
    assert_eq!(missing.unwrap(), None);
    assert_eq!(
        replay(&bench.store, &next(synthetic_kind, synthetic)).await,
        Ok(Replayed::Applied)
    );
}

#[test]
fn a_list_must_have_consecutive_elements_of_one_session() {
    let data = json!({});
    let of = |session: &str, seq: u64| ReplayEvent {
        session_id: session_id(session),
        ..element(seq, "", &data)
    };
    for (list, expected) in [
        (vec![], None),
        (vec![of("ses_a", 7), of("ses_a", 8), of("ses_a", 9)], None),
        (
            vec![of("ses_a", 7), of("ses_b", 8)],
            Some(ReplayConflict::MixedSessions {
                first: session_id("ses_a"),
                other: session_id("ses_b"),
                seq: 8,
            }),
        ),
        (
            vec![of("ses_a", 7), of("ses_a", 9)],
            Some(ReplayConflict::NotConsecutive {
                expected: 8,
                found: 9,
            }),
        ),
        (
            vec![of("ses_a", 7), of("ses_a", 7)],
            Some(ReplayConflict::NotConsecutive {
                expected: 8,
                found: 7,
            }),
        ),
    ] {
        let mut order = ReplayOrder::default();
        let refused = list.iter().find_map(|event| order.next(event).err());
        assert_eq!(refused, expected, "{list:?}");
    }
}

/// Returns the log of a program that deletes inputs when a revert removes them.
fn admitted_again(until: usize) -> Vec<ReplayEvent> {
    let of = |more: Value| with(json!({"timestamp": 5, "sessionID": "ses_a"}), more);
    let input = |id: &str, text: &str| {
        of(json!({
            "messageID": id, "prompt": {"text": text}, "delivery": "steer",
        }))
    };
    let (admitted, prompted) = ("session.next.prompt.admitted.1", "session.next.prompted.1");
    let log = [
        (
            "session.next.synthetic.1",
            of(json!({"messageID": "msg_s", "text": "x"})),
        ),
        (admitted, input("msg_1", "one")),
        (prompted, input("msg_1", "one")),
        (admitted, input("msg_2", "two")),
        (
            "session.next.revert.committed.1",
            of(json!({"messageID": "msg_s"})),
        ),
        (admitted, input("msg_1", "other")),
        (admitted, input("msg_2", "two")),
        (prompted, input("msg_1", "other")),
        (admitted, input("msg_1", "other")),
    ];
    let log = (1..)
        .zip(log)
        .map(|(seq, (kind, data))| element(seq, kind, &data));
    std::iter::once(creation()).chain(log).take(until).collect()
}

#[tokio::test]
async fn another_program_may_have_admitted_a_reverted_input_again() {
    let bench = Bench::new().await;
    replay_all(&bench.store, &admitted_again(9)).await;
    let session = bench
        .store
        .read(|db| db.session(&session_id("ses_a")))
        .await;
    let session = session.unwrap().unwrap();
    let inputs = bench.store.read(move |db| {
        let first = db.input(&message_id("msg_1"))?.unwrap();
        let second = db.input(&message_id("msg_2"))?.unwrap();
        let pending = db.pending_inputs(&session)?;
        Ok((
            json!(first.receipt),
            json!(second.receipt),
            json!(pending),
            db.pending_count(session.key)?,
        ))
    });
    let (first, second, pending, count) = inputs.await.unwrap();
    let receipt = |id: &str, admitted: u64, text: &str| {
        json!({
            "admittedSeq": admitted, "id": id, "sessionID": "ses_a", "prompt": {"text": text},
            "delivery": "steer", "timeCreated": 5,
        })
    };
    let promoted = with(receipt("msg_1", 6, "other"), json!({"promotedSeq": 8}));
    assert_eq!((first, second), (promoted, receipt("msg_2", 7, "two")));
    assert_eq!((pending, count), (json!([receipt("msg_2", 7, "two")]), 1));
    // Its message exists now, so the id is in use.
    let again = admitted_again(10);
    let in_use = ReplayConflict::Lifecycle {
        seq: 9,
        conflict: LifecycleConflict::IdInUse(message_id("msg_1")),
    };
    assert_eq!(replay(&bench.store, &again[9]).await, Err(in_use));
    assert_eq!(export(&bench.store, "ses_a").await.len(), 9);
}

#[tokio::test]
async fn this_store_does_not_admit_a_reverted_input_again() {
    let bench = Bench::new().await;
    replay_all(&bench.store, &admitted_again(6)).await;
    let id = session_id("ses_a");
    let refused = append(&bench.store, &id, 5, admitted("msg_1", "one", "steer")).await;
    let in_use = LifecycleConflict::IdInUse(message_id("msg_1"));
    assert_eq!(refused, Err(Abort::Refused(in_use)));
}
