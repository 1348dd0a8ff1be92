//! The data of the previous request, and the changes of the history since then.

use opencode_schema::event::SessionEvent;
use opencode_schema::model::ModelRef;
use opencode_store::{Abort, Draft, Epoch, HistoryChanges, RecordedStep, SessionRow};
use serde_json::{Value, json};

use crate::harness::{Bench, event, model, of_a, prompted, step_started, with};

async fn recorded(bench: &Bench, session: &SessionRow) -> Option<RecordedStep> {
    let key = session.key;
    let read = bench.store.read(move |db| db.recorded_step(key));
    read.await.unwrap()
}

async fn changes(bench: &Bench, session: &SessionRow, after: u64) -> HistoryChanges {
    let key = session.key;
    let read = bench
        .store
        .read(move |db| db.history_changes(key, after.into()));
    read.await.unwrap()
}

/// Appends a step with this end, with or without metadata. Returns the sequence of its first entry.
async fn step(bench: &Bench, session: &SessionRow, message: &str, end: &str, note: Value) -> u64 {
    let started = bench.append(session, 1, step_started(message)).await;
    let own = json!({"assistantMessageID": message});
    let end = match end {
        "failed" => event(
            "step.failed",
            with(own, json!({"error": {"type": "unknown", "message": "no"}})),
        ),
        _ => {
            let tokens = json!({"input": 0, "output": 0, "reasoning": 0,
                "cache": {"read": 0, "write": 0}});
            let ended = json!({"finish": "stop", "cost": 0, "tokens": tokens});
            event("step.ended", with(own, ended))
        }
    };
    let draft = Draft {
        metadata: note.as_object().cloned(),
        ..Draft::new(2, end)
    };
    let id = session.info.id.clone();
    let write = bench.store.write(move |db| db.append(&id, None, draft));
    write.await.unwrap();
    started
}

#[tokio::test]
async fn the_newest_step_with_a_recorded_request_is_found() {
    let (bench, session) = Bench::with_session("ses_a").await;
    assert_eq!(recorded(&bench, &session).await, None);
    step(&bench, &session, "msg_1", "ended", Value::Null).await;
    assert_eq!(recorded(&bench, &session).await, None);
    let model: ModelRef = serde_json::from_value(model()).unwrap();
    let said = |seq, metadata: Value| RecordedStep {
        seq,
        model: model.clone(),
        metadata: metadata.as_object().unwrap().clone(),
    };
    for (message, end) in [("msg_2", "ended"), ("msg_3", "failed")] {
        let seq = step(&bench, &session, message, end, json!({"of": message})).await;
        let expected = Some(said(seq.into(), json!({"of": message})));
        assert_eq!(recorded(&bench, &session).await, expected);
    }
    // Steps without metadata, open steps and steps of other sessions do not count.
    let newest = recorded(&bench, &session).await;
    step(&bench, &session, "msg_4", "ended", Value::Null).await;
    bench.append(&session, 3, step_started("msg_5")).await;
    let other = bench.session("ses_b").await;
    step(&bench, &other, "msg_6", "ended", json!({"of": "msg_6"})).await;
    assert_eq!(recorded(&bench, &session).await, newest);
    // A reverted request was still sent.
    let revert = event("revert.committed", json!({"messageID": "msg_2"}));
    bench.append(&session, 4, revert).await;
    assert_eq!(recorded(&bench, &session).await, newest);
}

#[tokio::test]
async fn changes_of_the_history_are_distinguished_from_additions() {
    let (bench, session) = Bench::with_session("ses_a").await;
    type Mark = fn(&mut HistoryChanges);
    let calls = json!([{"assistantMessageID": "msg_a", "callID": "c"}]);
    let rows: [(SessionEvent, Mark); 7] = [
        (prompted("msg_1", "x", "steer"), |_| {}),
        (step_started("msg_a"), |_| {}),
        (of_a("text.started", json!({"textID": "t"})), |_| {}),
        (event("pruned", json!({"calls": calls})), |it| {
            it.pruned = true;
        }),
        (
            event("moved", json!({"location": {"directory": "/b"}})),
            |it| it.moved = true,
        ),
        (
            event(
                "compaction.ended",
                json!({"messageID": "msg_c", "reason": "auto", "text": "t", "recent": "r"}),
            ),
            |it| it.compacted = true,
        ),
        (
            event("revert.committed", json!({"messageID": "msg_1"})),
            |it| it.reverted = true,
        ),
    ];
    let mut all = HistoryChanges::default();
    for (event, mark) in rows {
        let seq = bench.append(&session, 1, event).await;
        let mut expected = HistoryChanges::default();
        mark(&mut expected);
        mark(&mut all);
        assert_eq!(changes(&bench, &session, seq - 1).await, expected, "{seq}");
        assert_eq!(
            changes(&bench, &session, seq).await,
            HistoryChanges::default()
        );
        assert_eq!(changes(&bench, &session, 0).await, all);
    }
    let other = bench.session("ses_b").await;
    assert_eq!(changes(&bench, &other, 0).await, HistoryChanges::default());
}

#[tokio::test]
async fn a_new_epoch_is_distinguished_from_a_continued_one() {
    let (bench, session) = Bench::with_session("ses_a").await;
    let seq = bench.append(&session, 1, step_started("msg_a")).await;
    let (key, epoch) = (
        session.key,
        Epoch {
            baseline: "b".to_owned(),
            snapshot: "{}".to_owned(),
            baseline_seq: seq.into(),
        },
    );
    let write = bench
        .store
        .write(move |db| Ok::<_, Abort<&'static str>>(db.set_epoch(key, &epoch)?));
    write.await.unwrap();
    assert_eq!(
        changes(&bench, &session, seq).await,
        HistoryChanges::default()
    );
    let replaced = HistoryChanges {
        replaced: true,
        ..HistoryChanges::default()
    };
    assert_eq!(changes(&bench, &session, seq - 1).await, replaced);
}
