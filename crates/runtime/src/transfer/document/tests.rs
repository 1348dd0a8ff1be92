use opencode_schema::id::SessionID;
use opencode_store::ReplayEvent;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

fn message(role: &str, info: Value, parts: Value) -> DocumentMessage {
    let mut all = json!({ "id": format!("msg_{role}"), "role": role, "time": { "created": 5 } });
    let members = all.as_object_mut().unwrap();
    members.extend(info.as_object().unwrap().clone());
    DocumentMessage {
        info: members.clone(),
        parts: serde_json::from_value(parts).unwrap(),
    }
}

/// Returns the events of a message as `type` and payload, and the omitted values.
fn events(message: &DocumentMessage) -> (Vec<(String, Value)>, Vec<OmittedItem>) {
    let mut log = Log::new(SessionID::parse("ses_a").unwrap());
    translate(&mut log, message);
    let (events, omitted) = log.into_parts();
    let read = |event: &ReplayEvent| {
        let data: Value = serde_json::from_str(&event.data).unwrap();
        (event.kind.clone(), data)
    };
    (events.iter().map(read).collect(), omitted)
}

fn kinds(events: &[(String, Value)]) -> Vec<&str> {
    events
        .iter()
        .map(|(kind, _)| kind.trim_start_matches("session.next."))
        .collect()
}

#[test]
fn a_prompt_keeps_its_text_files_and_agents() {
    let (events, omitted) = events(&message(
        "user",
        json!({}),
        json!([
            { "id": "prt_1", "type": "text", "text": "Look at @a.png" },
            { "id": "prt_2", "type": "text", "text": "read for it", "synthetic": true },
            { "id": "prt_3", "type": "text", "text": "hidden", "ignored": true },
            { "id": "prt_4", "type": "file", "mime": "image/png", "url": "data:image/png;base64,AA==", "filename": "a.png",
              "source": { "type": "file", "path": "a.png", "text": { "value": "@a.png", "start": 8, "end": 14 } } },
            { "id": "prt_5", "type": "agent", "name": "explore" }
        ]),
    ));
    assert_eq!(kinds(&events), ["synthetic.1", "prompted.1"]);
    assert_eq!(events[0].1["text"], "read for it");
    assert_eq!(events[0].1["messageID"], "msg_2");
    assert_eq!(
        events[1].1["prompt"],
        json!({
            "text": "Look at @a.png",
            "files": [{
                "uri": "data:image/png;base64,AA==", "mime": "image/png", "name": "a.png",
                "source": { "start": 8.0, "end": 14.0, "text": "@a.png" }
            }],
            "agents": [{ "name": "explore" }]
        })
    );
    assert_eq!(omitted, []);
}

#[test]
fn an_answer_becomes_a_step_with_its_parts() {
    let state = json!({
        "status": "completed", "input": { "path": "a" }, "output": "content", "title": "Read a",
        "metadata": { "lines": 1 }, "time": { "start": 6, "end": 7, "compacted": 9 },
        "attachments": [{ "mime": "image/png", "url": "data:image/png;base64,AA==" }]
    });
    let (events, omitted) = events(&message(
        "assistant",
        json!({
            "agent": "build", "modelID": "m", "providerID": "p", "finish": "tool-calls", "cost": 0.5,
            "tokens": { "input": 1, "output": 2, "reasoning": 3, "cache": { "read": 4, "write": 5 } },
            "time": { "created": 5, "completed": 8 }
        }),
        json!([
            { "id": "prt_1", "type": "step-start", "snapshot": "abc" },
            { "id": "prt_2", "type": "reasoning", "text": "hm", "metadata": { "p": {} }, "time": { "start": 5, "end": 6 } },
            { "id": "prt_3", "type": "text", "text": "I read it" },
            { "id": "prt_4", "type": "tool", "callID": "c1", "tool": "read", "state": state },
            { "id": "prt_5", "type": "invention" }
        ]),
    ));
    assert_eq!(
        kinds(&events),
        [
            "step.started.1",
            "reasoning.started.1",
            "reasoning.ended.1",
            "text.started.1",
            "text.ended.1",
            "tool.input.started.1",
            "tool.input.ended.1",
            "tool.called.1",
            "tool.success.1",
            "step.ended.2",
            "pruned.1"
        ]
    );
    assert_eq!(
        events[0].1["model"],
        json!({ "id": "m", "providerID": "p" })
    );
    assert_eq!(events[7].1["input"], json!({ "path": "a" }));
    assert_eq!(
        events[8].1["content"],
        json!([
            { "type": "text", "text": "content" },
            { "type": "file", "uri": "data:image/png;base64,AA==", "mime": "image/png" }
        ])
    );
    assert_eq!(
        events[8].1["structured"],
        json!({ "title": "Read a", "metadata": { "lines": 1 } })
    );
    assert_eq!(
        events[9].1["tokens"]["cache"],
        json!({ "read": 4, "write": 5 })
    );
    assert_eq!(events[9].1["cost"], 0.5);
    let omitted: Vec<_> = omitted.iter().map(|it| it.kind.as_str()).collect();
    assert_eq!(omitted, ["step-start", "reasoning", "invention"]);
}

#[test]
fn an_answer_that_was_cut_off_or_failed_has_a_failed_step() {
    let aborted = json!({ "name": "MessageAbortedError", "data": { "message": "stopped" } });
    let refused = json!({ "name": "APIError", "data": { "message": "busy", "isRetryable": true, "statusCode": 529 } });
    for (info, message_text, cause) in [
        (
            json!({}),
            "The answer was cut off",
            json!({ "kind": "interrupted", "retryable": false }),
        ),
        (
            json!({ "error": aborted }),
            "stopped",
            json!({ "kind": "interrupted", "retryable": false }),
        ),
        (
            json!({ "error": refused }),
            "busy",
            json!({ "kind": "unknown", "status": 529, "retryable": true }),
        ),
    ] {
        let running = json!([
            { "id": "prt_1", "type": "tool", "callID": "c", "tool": "bash", "state": { "status": "running", "input": {} } }
        ]);
        let (events, _) = events(&message("assistant", info, running));
        let failed: Vec<_> = events.iter().rev().take(2).collect();
        assert_eq!(failed[0].0, "session.next.step.failed.2");
        assert_eq!(failed[0].1["error"]["message"], message_text);
        assert_eq!(failed[0].1["error"]["cause"], cause);
        assert_eq!(failed[1].0, "session.next.tool.failed.1");
        assert_eq!(failed[1].1["error"]["cause"]["kind"], "interrupted");
    }
}

#[test]
fn a_summary_becomes_a_checkpoint() {
    let parts = json!([{ "id": "prt_1", "type": "text", "text": "so far" }]);
    let (events, _) = events(&message("assistant", json!({ "summary": true }), parts));
    assert_eq!(
        kinds(&events),
        ["compaction.started.1", "compaction.ended.2"]
    );
    assert_eq!(events[1].1["text"], "so far");
    let empty = message("assistant", json!({ "summary": true }), json!([]));
    let (events, omitted) = super::tests::events(&empty);
    assert_eq!((events.len(), omitted.len()), (0, 1));
}

#[test]
fn a_message_without_a_usable_id_or_role_is_reported() {
    for info in [json!({ "id": "prompt" }), json!({ "role": "tool" })] {
        let (events, omitted) = events(&message("user", info, json!([])));
        assert_eq!((events.len(), omitted.len()), (0, 1));
    }
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "[a-z_]{0,6}".prop_map(Value::from),
        Just(json!("tool")),
        Just(json!("completed")),
    ];
    leaf.prop_recursive(3, 24, 5, |inner| {
        let key = prop_oneof![
            Just("id"),
            Just("type"),
            Just("role"),
            Just("text"),
            Just("time"),
            Just("start"),
            Just("state"),
            Just("status"),
            Just("callID"),
            Just("tool"),
            Just("input"),
            Just("tokens"),
            Just("error"),
        ];
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            proptest::collection::btree_map(key.prop_map(str::to_owned), inner, 0..6)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn any_message_gives_consecutive_elements_twice_the_same(
        role in prop_oneof![Just("user"), Just("assistant")],
        parts in proptest::collection::vec(any_json(), 0..5),
    ) {
        let parts: Vec<_> = parts.into_iter().filter_map(|it| it.as_object().cloned()).collect();
        let mut message = message(role, json!({}), json!([]));
        message.parts = parts;
        let translated = || {
            let mut log = Log::new(SessionID::parse("ses_a").unwrap());
            translate(&mut log, &message);
            log.into_parts().0
        };
        let events = translated();
        prop_assert_eq!(&events, &translated());
        for (seq, event) in (0..).zip(&events) {
            prop_assert_eq!(event.seq, seq);
        }
    }
}
