//! The assistant message that the events of a Provider Turn create.

use opencode_schema::event::SessionEvent;
use serde_json::{Value, json};

use crate::harness::{Bench, content, event, model, of_a, project, step_started, with};

fn tokens() -> Value {
    json!({"input": 10, "output": 20, "reasoning": 30, "cache": {"read": 40, "write": 50}})
}

fn ended(message: &str, more: Value) -> SessionEvent {
    let payload =
        json!({"assistantMessageID": message, "finish": "stop", "cost": 0.25, "tokens": tokens()});
    event("step.ended", with(payload, more))
}

fn failed(message: &str, text: &str) -> SessionEvent {
    let error = json!({"type": "unknown", "message": text});
    event(
        "step.failed",
        json!({"assistantMessageID": message, "error": error}),
    )
}

fn text(name: &str, more: Value) -> SessionEvent {
    let kind = if more.get("text").is_some() {
        "text.ended"
    } else {
        "text.started"
    };
    of_a(kind, with(json!({"textID": name}), more))
}

fn reasoning(name: &str, more: Value) -> SessionEvent {
    let kind = if more.get("text").is_some() {
        "reasoning.ended"
    } else {
        "reasoning.started"
    };
    of_a(kind, with(json!({"reasoningID": name}), more))
}

#[tokio::test]
async fn a_step_starts_and_ends() {
    let base = json!({
        "type": "assistant", "id": "msg_a", "time": {"created": 11}, "agent": "build",
        "model": model(), "content": [],
    });
    let with = |more| vec![with(base.clone(), more)];
    let started = || step_started("msg_a");
    let with_snapshot = || {
        let payload = json!({"assistantMessageID": "msg_a", "agent": "build", "model": model(), "snapshot": "s0"});
        event("step.started", payload)
    };
    let span = json!({"created": 11, "completed": 12});
    for (events, expected) in [
        (vec![started()], with(json!({}))),
        (
            vec![started(), ended("msg_a", json!({}))],
            with(json!({"time": span, "finish": "stop", "cost": 0.25, "tokens": tokens()})),
        ),
        (
            vec![
                with_snapshot(),
                ended("msg_a", json!({"snapshot": "s1", "files": ["f"]})),
            ],
            with(json!({
                "time": span, "snapshot": {"start": "s0", "end": "s1", "files": ["f"]},
                "finish": "stop", "cost": 0.25, "tokens": tokens(),
            })),
        ),
        (
            vec![started(), ended("msg_a", json!({"files": []}))],
            with(json!({
                "time": span, "snapshot": {"files": []}, "finish": "stop", "cost": 0.25,
                "tokens": tokens(),
            })),
        ),
        (
            vec![with_snapshot(), failed("msg_a", "cut")],
            with(json!({
                "time": span, "snapshot": {"start": "s0"}, "finish": "error",
                "error": {"type": "unknown", "message": "cut"},
            })),
        ),
        // No message has this id, so nothing changes.
        (
            vec![started(), ended("msg_b", json!({})), failed("msg_b", "cut")],
            with(json!({})),
        ),
    ] {
        assert_eq!(project(events).await, expected);
    }
}

#[tokio::test]
async fn text_parts_are_closed_by_name_with_the_last_one_first() {
    let started = |name| text(name, json!({}));
    let ended = |name, value: &str| text(name, json!({"text": value}));
    for (events, expected) in [
        (
            vec![started("t")],
            json!([{"type": "text", "id": "t", "text": ""}]),
        ),
        (
            vec![started("t"), started("u"), ended("u", "2"), ended("t", "1")],
            json!([{"type": "text", "id": "t", "text": "1"}, {"type": "text", "id": "u", "text": "2"}]),
        ),
        // A provider reuses a name.
        (
            vec![started("t"), ended("t", "1"), started("t"), ended("t", "2")],
            json!([{"type": "text", "id": "t", "text": "1"}, {"type": "text", "id": "t", "text": "2"}]),
        ),
        (
            vec![started("t"), started("t"), ended("t", "2"), ended("t", "3")],
            json!([{"type": "text", "id": "t", "text": ""}, {"type": "text", "id": "t", "text": "3"}]),
        ),
        // Each kind of part has separate names.
        (
            vec![reasoning("t", json!({})), ended("t", "1")],
            json!([{"type": "reasoning", "id": "t", "text": "", "time": {"created": 12}}]),
        ),
        (vec![ended("t", "1")], json!([])),
    ] {
        assert_eq!(content(events).await, expected);
    }
}

#[tokio::test]
async fn reasoning_keeps_its_first_metadata_unless_the_end_has_other() {
    let (first, last) = (json!({"p": {"a": 1}}), json!({"p": {"b": 2}}));
    let span = json!({"created": 12, "completed": 13});
    for (started, ended, expected) in [
        (json!({}), json!({"text": "x"}), None),
        (
            json!({"providerMetadata": first}),
            json!({"text": "x"}),
            Some(&first),
        ),
        (
            json!({}),
            json!({"text": "x", "providerMetadata": last}),
            Some(&last),
        ),
        (
            json!({"providerMetadata": first}),
            json!({"text": "x", "providerMetadata": last}),
            Some(&last),
        ),
    ] {
        let mut part = json!({"type": "reasoning", "id": "r", "text": "x"});
        if let Some(metadata) = expected {
            part["providerMetadata"] = metadata.clone();
        }
        part["time"] = span.clone();
        let events = [reasoning("r", started), reasoning("r", ended)];
        assert_eq!(content(events).await, json!([part]));
    }
}

#[tokio::test]
async fn an_abandoned_step_is_closed_by_the_next() {
    let messages = project([
        step_started("msg_1"),
        ended("msg_1", json!({})),
        step_started("msg_2"),
        event("synthetic", json!({"messageID": "msg_3", "text": "x"})),
        step_started("msg_4"),
        step_started("msg_5"),
    ])
    .await;
    let times: Vec<_> = messages.iter().map(|message| &message["time"]).collect();
    assert_eq!(
        json!(times),
        json!([
            {"created": 11, "completed": 12}, {"created": 13, "completed": 15}, {"created": 14},
            {"created": 15, "completed": 16}, {"created": 16},
        ])
    );
    assert_eq!(messages[1].get("finish"), None);
}

#[tokio::test]
async fn a_session_never_changes_the_messages_of_another() {
    let bench = Bench::new().await;
    let (mine, other) = (bench.session("ses_a").await, bench.session("ses_b").await);
    bench
        .all(&mine, 11, [step_started("msg_a"), text("t", json!({}))])
        .await;
    let before = bench.messages(&mine).await;
    bench
        .all(
            &other,
            21,
            [
                text("t", json!({"text": "x"})),
                failed("msg_a", "cut"),
                ended("msg_a", json!({})),
            ],
        )
        .await;
    // A new step in one session does not close an open step in another.
    bench.append(&other, 31, step_started("msg_b")).await;
    assert_eq!(bench.messages(&mine).await, before);
    assert_eq!(bench.messages(&other).await.len(), 1);
    let spent = bench.row(&other).await.unwrap().info;
    assert_eq!((spent.cost, spent.tokens), Default::default());
    assert_eq!(
        bench.events(&other).await.len(),
        4,
        "the log holds what was ignored"
    );
}

#[tokio::test]
async fn steps_are_summed_in_the_session_and_do_not_change_its_time() {
    let (bench, session) = Bench::with_session("ses_a").await;
    let events = [
        step_started("msg_a"),
        ended("msg_a", json!({})),
        step_started("msg_b"),
        ended("msg_b", json!({})),
        ended("msg_c", json!({})),
        event("revert.committed", json!({"messageID": "msg_a"})),
    ];
    for (at, event) in events.into_iter().enumerate() {
        // The revert changes the time and does not reduce the cost or the tokens.
        bench
            .append(&session, if at == 5 { 77 } else { 5000 }, event)
            .await;
        let updated = bench.row(&session).await.unwrap().info.time.updated;
        assert_eq!(updated, if at == 5 { 77 } else { 1000 });
    }
    let info = json!(bench.row(&session).await.unwrap().info);
    assert_eq!(info["cost"], json!(0.5));
    assert_eq!(
        info["tokens"],
        json!({"input": 20, "output": 40, "reasoning": 60, "cache": {"read": 80, "write": 100}})
    );
}

#[tokio::test]
async fn metadata_of_start_and_end_is_stored_in_the_message() {
    let (bench, session) = Bench::with_session("ses_a").await;
    for (event, metadata) in [
        (step_started("msg_a"), json!({"a": 1, "b": 1})),
        (ended("msg_a", json!({})), json!({"b": 2, "c": 2})),
    ] {
        let id = session.info.id.clone();
        let draft = opencode_store::Draft {
            metadata: metadata.as_object().cloned(),
            ..opencode_store::Draft::new(5, event)
        };
        let write = bench
            .store
            .write(move |transaction| transaction.append(&id, None, draft));
        write.await.unwrap();
    }
    let messages = bench.messages(&session).await;
    assert_eq!(messages[0]["metadata"], json!({"a": 1, "b": 2, "c": 2}));
}
