//! The states of a tool call, and the events that change them.

use opencode_schema::event::SessionEvent;
use serde_json::{Value, json};

use crate::harness::{content, event, of_a, project, step_started, with};

fn of_call(name: &str, more: Value) -> SessionEvent {
    of_a(name, with(json!({"callID": "c"}), more))
}

fn started() -> SessionEvent {
    of_call("tool.input.started", json!({"name": "read"}))
}

fn input() -> SessionEvent {
    of_call("tool.input.ended", json!({"text": r#"{"path":"a"}"#}))
}

fn called() -> SessionEvent {
    let provider = json!({"executed": true, "metadata": {"p": {"call": 1}}});
    let payload = json!({"tool": "read", "input": {"path": "a"}, "provider": provider});
    of_call("tool.called", payload)
}

fn progress(value: i64) -> SessionEvent {
    let content = json!([{"type": "text", "text": "so far"}]);
    of_call(
        "tool.progress",
        json!({"structured": {"lines": value}, "content": content}),
    )
}

fn success() -> SessionEvent {
    let provider = json!({"executed": false, "metadata": {"p": {"result": 2}}});
    let payload = json!({"structured": {"lines": 9}, "content": [], "provider": provider});
    of_call("tool.success", payload)
}

fn failed() -> SessionEvent {
    let error = json!({"type": "unknown", "message": "no"});
    let payload =
        json!({"error": error, "result": {"type": "error"}, "provider": {"executed": false}});
    of_call("tool.failed", payload)
}

fn pruned() -> SessionEvent {
    event(
        "pruned",
        json!({"calls": [{"assistantMessageID": "msg_a", "callID": "c"}]}),
    )
}

fn part(provider: Option<Value>, state: Value, time: Value) -> Value {
    let mut part = json!({"type": "tool", "id": "c", "name": "read"});
    let members = part.as_object_mut().unwrap();
    members.extend(provider.map(|provider| ("provider".to_owned(), provider)));
    members.insert("state".into(), state);
    members.insert("time".into(), time);
    part
}

fn pending(input: &str, time: Value) -> Value {
    part(None, json!({"status": "pending", "input": input}), time)
}

fn running(structured: Value, content: Value, time: Value) -> Value {
    let provider = json!({"executed": true, "metadata": {"p": {"call": 1}}});
    let state = json!({"status": "running", "input": {"path": "a"}, "structured": structured, "content": content});
    part(Some(provider), state, time)
}

fn completed(time: Value) -> Value {
    let provider = json!({
        "executed": true, "metadata": {"p": {"call": 1}}, "resultMetadata": {"p": {"result": 2}},
    });
    let state = json!({
        "status": "completed", "input": {"path": "a"}, "content": [], "outputPaths": [],
        "structured": {"lines": 9},
    });
    part(Some(provider), state, time)
}

fn error(provider: Value, input: Value, structured: Value, content: Value, time: Value) -> Value {
    let state = json!({
        "status": "error", "input": input, "content": content, "structured": structured,
        "error": {"type": "unknown", "message": "no"}, "result": {"type": "error"},
    });
    part(Some(provider), state, time)
}

#[tokio::test]
async fn a_call_passes_through_its_states() {
    let text = json!([{"type": "text", "text": "so far"}]);
    let call_side = json!({"executed": true, "metadata": {"p": {"call": 1}}});
    for (events, expected) in [
        (vec![started()], pending("", json!({"created": 12}))),
        (
            vec![started(), input()],
            pending(r#"{"path":"a"}"#, json!({"created": 12})),
        ),
        (
            vec![started(), input(), called()],
            running(json!({}), json!([]), json!({"created": 12, "ran": 14})),
        ),
        (
            vec![started(), input(), called(), progress(1), progress(2)],
            running(
                json!({"lines": 2}),
                text.clone(),
                json!({"created": 12, "ran": 14}),
            ),
        ),
        (
            vec![started(), input(), called(), progress(1), success()],
            completed(json!({"created": 12, "ran": 14, "completed": 16})),
        ),
        (
            vec![started(), input(), called(), progress(1), failed()],
            error(
                call_side.clone(),
                json!({"path": "a"}),
                json!({"lines": 1}),
                text,
                json!({"created": 12, "ran": 14, "completed": 16}),
            ),
        ),
        (
            vec![started(), input(), called(), failed()],
            error(
                call_side,
                json!({"path": "a"}),
                json!({}),
                json!([]),
                json!({"created": 12, "ran": 14, "completed": 15}),
            ),
        ),
        // The arguments were never complete.
        (
            vec![started(), input(), failed()],
            error(
                json!({"executed": false}),
                json!({}),
                json!({}),
                json!([]),
                json!({"created": 12, "completed": 14}),
            ),
        ),
        (
            vec![started(), called(), success(), pruned()],
            completed(json!({"created": 12, "ran": 13, "completed": 14, "pruned": 15})),
        ),
    ] {
        assert_eq!(content(events).await, json!([expected]));
    }
}

#[tokio::test]
async fn events_in_a_wrong_state_are_ignored() {
    let of_nobody = |event: SessionEvent| vec![event];
    for events in [
        input(),
        called(),
        progress(1),
        success(),
        failed(),
        pruned(),
    ]
    .map(of_nobody)
    {
        assert_eq!(content(events).await, json!([]));
    }
    for (events, ignored) in [
        (vec![started()], vec![progress(1), success()]),
        (vec![started(), input()], vec![progress(1), success()]),
        (vec![started(), input(), called()], vec![input(), called()]),
        (
            vec![started(), called(), success()],
            vec![input(), called(), progress(1), success(), failed()],
        ),
        (
            vec![started(), failed()],
            vec![input(), called(), progress(1), success(), failed()],
        ),
    ] {
        let expected = content(events.clone()).await;
        assert_eq!(content(events.into_iter().chain(ignored)).await, expected);
    }
}

#[tokio::test]
async fn an_id_refers_to_the_last_call_with_it() {
    let twice = content([started(), called(), success(), started(), called()]).await;
    let first = completed(json!({"created": 12, "ran": 13, "completed": 14}));
    let second = running(json!({}), json!([]), json!({"created": 15, "ran": 16}));
    assert_eq!(twice, json!([first, second]));
    // An earlier call with the same id that is still open cannot be reached.
    let both_open = content([started(), started(), called()]).await;
    let second = running(json!({}), json!([]), json!({"created": 13, "ran": 14}));
    assert_eq!(
        both_open,
        json!([pending("", json!({"created": 12})), second])
    );
}

#[tokio::test]
async fn the_same_call_in_two_messages_is_two_calls() {
    let of_b = event(
        "tool.input.started",
        json!({"assistantMessageID": "msg_b", "callID": "c", "name": "read"}),
    );
    let messages = project([
        step_started("msg_a"),
        started(),
        step_started("msg_b"),
        of_b,
        called(),
    ])
    .await;
    let first = running(json!({}), json!([]), json!({"created": 12, "ran": 15}));
    assert_eq!(messages[0]["content"], json!([first]));
    assert_eq!(
        messages[1]["content"],
        json!([pending("", json!({"created": 14}))])
    );
}

#[tokio::test]
async fn output_paths_and_native_results_are_stored() {
    let payload = json!({
        "structured": {}, "content": [{"type": "text", "text": "t"}], "outputPaths": ["/o"],
        "result": {"native": [1]}, "provider": {"executed": true},
    });
    let mut content = content([started(), called(), of_call("tool.success", payload)]).await;
    let state = json!({
        "status": "completed", "input": {"path": "a"}, "content": [{"type": "text", "text": "t"}],
        "outputPaths": ["/o"], "structured": {}, "result": {"native": [1]},
    });
    assert_eq!(content[0]["state"].take(), state);
}
