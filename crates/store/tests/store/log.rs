//! Entries read back as they were written, byte for byte, however they are stored.

use opencode_schema::event::{DURABLE_EVENTS, SessionEvent, is_streamed};
use opencode_store::{Draft, SessionRow};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::harness::{Bench, admitted, created, event, model, of_a, prompted, step_started};

/// One event of every kind. Assistant's events belong to `owner`.
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
    let of = |mut payload: Value| {
        let mut with_owner = json!({"assistantMessageID": owner});
        let members = payload.as_object_mut().unwrap();
        with_owner.as_object_mut().unwrap().append(members);
        with_owner
    };
    let tokens = json!({"input": 1, "output": 2, "reasoning": 3, "cache": {"read": 4, "write": 5}});
    let revert = json!({
        "messageID": "msg_u", "partID": "prt", "snapshot": "s", "diff": "d",
        "files": [{"path": "a", "status": "modified", "additions": 1, "deletions": 2, "patch": "@@"}],
    });
    vec![
        ("session.updated", json!({"info": info})),
        ("agent.switched", json!({"messageID": "msg_1", "agent": "plan"})),
        ("model.switched", json!({"messageID": "msg_2", "model": {"id": "m", "providerID": "p", "variant": "high"}})),
        ("moved", json!({"location": {"directory": "/b", "workspaceID": "wrk_2"}, "subdirectory": "x"})),
        ("prompt.admitted", json!({"messageID": "msg_u", "prompt": prompt, "delivery": "queue"})),
        ("prompt.redelivered", json!({"messageID": "msg_u", "delivery": "steer"})),
        ("prompted", json!({"messageID": "msg_u", "prompt": prompt, "delivery": "steer"})),
        ("prompt.withdrawn", json!({"messageID": "msg_u"})),
        ("context.updated", json!({"messageID": "msg_3", "text": "It is \u{2028} Friday"})),
        ("synthetic", json!({"messageID": "msg_4", "text": "go on"})),
        ("shell.started", json!({"messageID": "msg_5", "callID": "c", "command": "ls"})),
        ("shell.ended", json!({"callID": "c", "output": "a\tb"})),
        ("step.started", of(json!({"agent": "build", "model": model(), "snapshot": "s0"}))),
        ("text.started", of(json!({"textID": "t"}))),
        ("text.ended", of(json!({"textID": "t", "text": "x"}))),
        ("reasoning.started", of(json!({"reasoningID": "r", "providerMetadata": metadata}))),
        ("reasoning.ended", of(json!({"reasoningID": "r", "text": "y", "providerMetadata": metadata}))),
        ("tool.input.started", of(json!({"callID": "c", "name": "read"}))),
        ("tool.input.ended", of(json!({"callID": "c", "text": structured.to_string()}))),
        ("tool.called", of(json!({"callID": "c", "tool": "read", "input": structured, "provider": provider}))),
        ("tool.progress", of(json!({"callID": "c", "structured": structured, "content": content}))),
        ("tool.success", of(json!({
            "callID": "c", "structured": structured, "content": content, "outputPaths": ["/o"],
            "result": [1], "provider": provider,
        }))),
        ("tool.failed", of(json!({"callID": "c", "error": error, "result": {"type": "error"}, "provider": provider}))),
        ("pruned", json!({"calls": [{"assistantMessageID": owner, "callID": "c"}]})),
        ("step.ended", of(json!({"finish": "stop", "cost": 0.000102, "tokens": tokens, "snapshot": "s1", "files": ["a"]}))),
        ("step.failed", of(json!({"error": error}))),
        ("retried", json!({"attempt": 1, "error": {"message": "cut", "statusCode": 500, "isRetryable": true}})),
        ("compaction.started", json!({"messageID": "msg_6", "reason": "auto"})),
        ("compaction.ended", json!({"messageID": "msg_6", "reason": "manual", "text": "so far", "recent": "r"})),
        ("revert.staged", json!({"revert": revert})),
        ("revert.cleared", json!({})),
        ("revert.committed", json!({"messageID": "msg_u"})),
        ("session.deleted", json!({"info": info})),
    ]
}

/// Stored text of an entry, whether it is streamed or not.
fn raw_data(bench: &Bench, session: &SessionRow, seq: u64) -> Option<String> {
    let raw = bench.raw();
    raw.query_row(
        "SELECT data FROM event WHERE aggregate = ? AND seq = ?",
        [session.key, seq as i64],
        |row| row.get(0),
    )
    .unwrap()
}

/// Appends the events and checks that reading gives them back.
async fn round_trip(bench: &Bench, session: &SessionRow, events: &[SessionEvent]) {
    bench.all(session, 1000, events.to_vec()).await;
    let read = bench.events(session).await;
    let mut read = read.iter();
    for (index, event) in events.iter().enumerate() {
        let written = serde_json::to_string(event).unwrap();
        let seq = index as u64 + 1;
        if is_streamed(event.number()) {
            let entry = read.next().unwrap();
            assert_eq!((entry.seq, entry.timestamp), (seq, 1000 + index as i64));
            assert_eq!((entry.number, entry.metadata.as_deref()), (event.number(), None));
            assert_eq!(entry.data, written);
            assert_eq!(&entry.payload().unwrap(), event);
        } else {
            assert_eq!(raw_data(bench, session, seq), Some(written));
        }
    }
    assert_eq!(read.next(), None);
}

#[tokio::test]
async fn every_kind_reads_back_as_it_was_written() {
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
            assert_eq!(in_order, payload.to_string(), "key order of {}", event.name());
        }
        let mut numbers: Vec<_> = events.iter().map(SessionEvent::number).collect();
        numbers.push(created("ses_a", "/").number());
        numbers.sort_unstable();
        let known: Vec<_> = DURABLE_EVENTS.iter().map(|spec| spec.number).collect();
        assert_eq!(numbers, known, "the table has one of every kind");
        round_trip(&bench, &session, &events).await;
        // Without the step its message does not exist, and the events say all themselves.
        let (bench, session) = Bench::with_session("ses_a").await;
        let without_step: Vec<_> = events
            .into_iter()
            .filter(|event| event.name() != "session.next.step.started")
            .collect();
        round_trip(&bench, &session, &without_step).await;
    }
}

#[tokio::test]
async fn an_event_that_names_a_message_of_another_kind_reads_back_too() {
    let (bench, session) = Bench::with_session("ses_a").await;
    let events = [
        event("synthetic", json!({"messageID": "msg_a", "text": "not an answer"})),
        of_a("text.started", json!({"textID": "t"})),
        of_a("text.ended", json!({"textID": "t", "text": "x"})),
    ];
    round_trip(&bench, &session, &events).await;
}

#[tokio::test]
async fn a_promotion_stores_its_prompt_only_when_it_differs() {
    let (bench, session) = Bench::with_session("ses_a").await;
    let redelivered = event(
        "prompt.redelivered",
        json!({"messageID": "msg_2", "delivery": "steer"}),
    );
    for (time, event) in [
        (5, admitted("msg_1", "one", "steer")),
        (5, prompted("msg_1", "one", "steer")),
        (6, admitted("msg_2", "two", "queue")),
        (9, redelivered),
        (6, prompted("msg_2", "two", "steer")),
        (7, prompted("msg_3", "imported", "steer")),
    ] {
        bench.append(&session, time, event).await;
    }
    let read: Vec<_> = bench.events(&session).await;
    let data = |seq: usize| read[seq - 1].data.as_str();
    assert_eq!(data(2), data(1));
    assert_eq!(
        data(5),
        r#"{"messageID":"msg_2","prompt":{"text":"two"},"delivery":"steer"}"#
    );
    let stored: Vec<_> = (1..=6).map(|seq| raw_data(&bench, &session, seq).is_some()).collect();
    assert_eq!(stored, [true, false, true, true, true, true]);
}

#[tokio::test]
async fn a_call_stores_its_input_only_when_it_differs_from_the_argument_text() {
    for (text, is_shared) in [
        (r#"{"path":"src/main.rs","limit":200}"#, true),
        (r#"{"quoted":"a \"b\" \\ c","newline":"\n\t\u0001"}"#, true),
        (r#"{"ünïcode":{"deep":["🦀","\u0000 nul",{"é":null}]}}"#, true),
        (r#"{"trap":"\",\"provider\":{}","input":{},"provider":1}"#, true),
        (r#"{"a":{"input":{"a":1},"provider":{"executed":false}}}"#, true),
        (r#"{"text":"\"text\":\"x\"}"}"#, true),
        // Too short to be worth a reference.
        (r#"{"a":1}"#, false),
        // Read the same, written otherwise.
        (r#"{ "path": "src/main.rs", "limit": 200 }"#, false),
        (r#"{"number":1.0e2,"path":"src/main.rs"}"#, false),
        (r#"{"escaped":"\u00e9\/","path":"src/main.rs"}"#, false),
        (r#"{"twice":"src/main.rs","twice":"src/main.rs"}"#, false),
    ] {
        let (bench, session) = Bench::with_session("ses_a").await;
        let input: Value = serde_json::from_str(text).unwrap();
        let metadata = json!({"p": {"input": input, "provider": {}}});
        for provider in [json!({"executed": false}), json!({"executed": true, "metadata": metadata})] {
            let events = [
                step_started("msg_a"),
                of_a("tool.input.started", json!({"callID": "c", "name": "read"})),
                of_a("tool.input.ended", json!({"callID": "c", "text": text})),
                of_a("tool.called", json!({"callID": "c", "tool": "read", "input": input, "provider": provider})),
            ];
            let session = bench.session(&format!("ses_{provider}")).await;
            let renamed = events.map(|event| rename(event, provider.to_string().len()));
            round_trip(&bench, &session, &renamed).await;
            let stored = raw_data(&bench, &session, 4).unwrap();
            assert_eq!(stored.contains('\0'), is_shared, "{text}");
        }
        drop(session);
    }
}
