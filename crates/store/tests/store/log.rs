//! Entries read back exactly as written, regardless of their stored form.

use opencode_schema::event::{DURABLE_EVENTS, SessionEvent};
use opencode_store::Draft;
use serde_json::{Value, json};

use crate::harness::{Bench, created, event, model, of_a, round_trip, with};

/// Returns one event of every kind. Assistant events belong to `owner`.
fn catalogue(session: &str, owner: &str) -> Vec<(&'static str, Value)> {
    let info = json!({
        "id": session, "slug": "quiet-river", "projectID": "p", "workspaceID": "wrk_1",
        "directory": "/project/ü", "path": "sub", "parentID": "ses_parent", "title": "T \"1\"",
        "agent": "build", "model": model(), "version": "1.0.0",
        "time": {"created": 1, "updated": 2, "archived": 3},
    });
    let file = json!({
        "uri": "file:///a.md", "mime": "text/markdown", "name": "a.md", "description": "d",
        "source": {"start": 0.0, "end": 4.5, "text": "@a"},
    });
    let prompt = json!({"text": "see \u{0} @a", "files": [file], "agents": [{"name": "plan"}]});
    let error = json!({
        "type": "unknown", "message": "no",
        "cause": {"kind": "rate-limit", "status": 429, "retryable": true, "retryAfterMs": 5,
                  "providerID": "anthropic"},
    });
    let metadata = json!({"anthropic": {"z": [1, {"a": null}], "b": 0.1}});
    let provider = json!({"executed": true, "metadata": metadata});
    let structured = json!({"z": 1, "a": {"é": [true, 1e300]}});
    let content = json!([{"type": "text", "text": "t"},
                         {"type": "file", "uri": "data:image/png;base64,AA==", "mime": "image/png", "name": "n"}]);
    let of = |payload| with(json!({"assistantMessageID": owner}), payload);
    let tokens = json!({"input": 1, "output": 2, "reasoning": 3, "cache": {"read": 4, "write": 5}});
    let revert = json!({
        "messageID": "msg_u", "partID": "prt", "snapshot": "s", "diff": "d",
        "files": [{"path": "a", "status": "modified", "additions": 1, "deletions": 2, "patch": "@@"}],
    });
    vec![
        ("session.updated", json!({"info": info})),
        (
            "agent.switched",
            json!({"messageID": "msg_1", "agent": "plan"}),
        ),
        (
            "model.switched",
            json!({"messageID": "msg_2", "model": {"id": "m", "providerID": "p", "variant": "high"}}),
        ),
        (
            "moved",
            json!({"location": {"directory": "/b", "workspaceID": "wrk_2"}, "subdirectory": "x"}),
        ),
        (
            "prompt.admitted",
            json!({"messageID": "msg_u", "prompt": prompt, "delivery": "queue"}),
        ),
        (
            "prompt.redelivered",
            json!({"messageID": "msg_u", "delivery": "steer"}),
        ),
        (
            "prompted",
            json!({"messageID": "msg_u", "prompt": prompt, "delivery": "steer"}),
        ),
        ("prompt.withdrawn", json!({"messageID": "msg_u"})),
        (
            "context.updated",
            json!({"messageID": "msg_3", "text": "It is \u{2028} Friday"}),
        ),
        ("synthetic", json!({"messageID": "msg_4", "text": "go on"})),
        (
            "shell.started",
            json!({"messageID": "msg_5", "callID": "c", "command": "ls"}),
        ),
        ("shell.ended", json!({"callID": "c", "output": "a\tb"})),
        (
            "step.started",
            of(json!({"agent": "build", "model": model(), "snapshot": "s0"})),
        ),
        ("text.started", of(json!({"textID": "t"}))),
        ("text.ended", of(json!({"textID": "t", "text": "x"}))),
        (
            "reasoning.started",
            of(json!({"reasoningID": "r", "providerMetadata": metadata})),
        ),
        (
            "reasoning.ended",
            of(json!({"reasoningID": "r", "text": "y", "providerMetadata": metadata})),
        ),
        (
            "tool.input.started",
            of(json!({"callID": "c", "name": "read"})),
        ),
        (
            "tool.input.ended",
            of(json!({"callID": "c", "text": structured.to_string()})),
        ),
        (
            "tool.called",
            of(json!({"callID": "c", "tool": "read", "input": structured, "provider": provider})),
        ),
        (
            "tool.progress",
            of(json!({"callID": "c", "structured": structured, "content": content})),
        ),
        (
            "tool.success",
            of(json!({
                "callID": "c", "structured": structured, "content": content, "outputPaths": ["/o"],
                "result": [1], "provider": provider,
            })),
        ),
        (
            "tool.failed",
            of(
                json!({"callID": "c", "error": error, "result": {"type": "error"}, "provider": provider}),
            ),
        ),
        (
            "pruned",
            json!({"calls": [{"assistantMessageID": owner, "callID": "c"}]}),
        ),
        (
            "step.ended",
            of(
                json!({"finish": "stop", "cost": 0.000102, "tokens": tokens, "snapshot": "s1", "files": ["a"]}),
            ),
        ),
        ("step.failed", of(json!({"error": error}))),
        (
            "output.produced",
            of(json!({"name": "answer", "output": structured})),
        ),
        ("output.failed", of(json!({"error": error}))),
        (
            "output.rejected",
            of(json!({"messageID": "msg_r", "text": "no"})),
        ),
        ("interrupted", json!({"messageID": "msg_u"})),
        (
            "paused",
            json!({
                "scope": "session", "budgetID": "ses_p", "limit": "cost", "used": 1.25, "allowed": 1.0,
                "message": "used up",
            }),
        ),
        (
            "model.fallback",
            json!({"from": model(), "to": model(), "error": error}),
        ),
        (
            "todos.updated",
            json!({"todos": [{"content": "Look", "status": "pending", "priority": "low"}]}),
        ),
        (
            "retried",
            json!({"attempt": 1, "error": {"message": "cut", "statusCode": 500, "isRetryable": true}}),
        ),
        (
            "compaction.started",
            json!({"messageID": "msg_6", "reason": "auto"}),
        ),
        (
            "compaction.ended",
            json!({"messageID": "msg_6", "reason": "manual", "text": "so far", "recent": "r"}),
        ),
        ("revert.staged", json!({"revert": revert})),
        ("revert.cleared", json!({})),
        ("revert.committed", json!({"messageID": "msg_u"})),
        ("session.deleted", json!({"info": info})),
    ]
}

#[tokio::test]
async fn every_kind_is_read_as_written() {
    for owner in [
        "msg_0123456789abAZaz09AZaz09AZ",
        "msg_",
        "msg_\"q\\\",\"agent\":\"\u{1}\u{7f}",
        "msg_ü🦀\u{2028}\n",
    ] {
        let (bench, session) = Bench::with_session("ses_a").await;
        let table = catalogue("ses_a", owner);
        let events: Vec<_> = table
            .iter()
            .map(|(name, payload)| event(name, payload.clone()))
            .collect();
        for (event, (_, payload)) in events.iter().zip(&table) {
            let in_order = serde_json::to_string(event).unwrap();
            assert_eq!(
                in_order,
                payload.to_string(),
                "key order of {}",
                event.name()
            );
        }
        let mut numbers: Vec<_> = events.iter().map(SessionEvent::number).collect();
        numbers.push(created("ses_a", "/").number());
        numbers.sort_unstable();
        let known: Vec<_> = DURABLE_EVENTS.iter().map(|spec| spec.number).collect();
        assert_eq!(numbers, known, "the table has one of every kind");
        round_trip(&bench, &session, &events).await;
        // Without the step, its message does not exist, and the stored events omit nothing.
        let (bench, session) = Bench::with_session("ses_a").await;
        let without_step: Vec<_> = events
            .into_iter()
            .filter(|event| event.name() != "session.next.step.started")
            .collect();
        round_trip(&bench, &session, &without_step).await;
    }
}

#[tokio::test]
async fn an_event_that_names_a_message_of_another_kind_is_read_as_written() {
    let (bench, session) = Bench::with_session("ses_a").await;
    let events = [
        event(
            "synthetic",
            json!({"messageID": "msg_a", "text": "not an answer"}),
        ),
        of_a("text.started", json!({"textID": "t"})),
        of_a("text.ended", json!({"textID": "t", "text": "x"})),
    ];
    round_trip(&bench, &session, &events).await;
}

#[tokio::test]
async fn metadata_is_read_as_written() {
    let (bench, session) = Bench::with_session("ses_a").await;
    let metadata = json!({"z": {"b": [0.1, 1e-7], "a": "\u{0}"}, "a": null});
    let draft = Draft {
        metadata: metadata.as_object().cloned(),
        ..Draft::new(
            5,
            event("synthetic", json!({"messageID": "msg_1", "text": "go on"})),
        )
    };
    let id = session.info.id.clone();
    let write = bench
        .store
        .write(move |transaction| transaction.append(&id, None, draft));
    assert_eq!(write.await, Ok(1.into()));
    let read = bench.events(&session).await;
    assert_eq!(read[0].metadata, Some(metadata.to_string()));
    let message = json!({
        "type": "synthetic", "id": "msg_1", "metadata": metadata, "time": {"created": 5},
        "sessionID": "ses_a", "text": "go on",
    });
    assert_eq!(bench.messages(&session).await, [message]);
}
