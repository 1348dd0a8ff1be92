//! Tests for the settlement of a call for every behavior of a tool.

mod common;

use std::sync::Arc;

use common::{Scripted, answer, call, context, failed, registry, success, text, tools};
use opencode_schema::message::ErrorKind;
use opencode_tools::{Contributions, Registry, Settlement, ToolFailure, ToolOutput};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::sync::{Barrier, Notify};

fn empty() -> (TempDir, Registry) {
    let temp = tempfile::tempdir().expect("a temporary directory");
    let registry = registry(&Contributions::default(), temp.path());
    (temp, registry)
}

/// Settles one call of a single tool.
async fn settle(tool: Scripted, input: Value) -> Settlement {
    let (temp, registry) = empty();
    let pairs = tools(vec![("tool", tool)]);
    let _registration = registry.host().register(pairs).expect("the name is good");
    let turn = registry.materialize("/project", |_| true);
    turn.settle(call("tool", input), &context(temp.path()))
        .await
}

#[tokio::test]
async fn each_result_has_its_settlement() {
    type Result = std::result::Result<ToolOutput, ToolFailure>;
    let output = |structured| ToolOutput {
        structured,
        ..ToolOutput::default()
    };
    let cases: Vec<(Result, Settlement)> = vec![
        (
            Ok(output(json!({"b": 1, "a": 2}))),
            success(json!({"b": 1, "a": 2}), vec![]),
        ),
        (
            Ok(output(json!([1]))),
            success(json!({"value": [1]}), vec![]),
        ),
        (
            Ok(output(json!("x"))),
            success(json!({"value": "x"}), vec![]),
        ),
        (
            Ok(output(json!(null))),
            success(json!({"value": null}), vec![]),
        ),
        (
            Ok(output(json!({})).with_content(vec![text("a"), text("b")])),
            success(json!({}), vec![text("a"), text("b")]),
        ),
        (
            Ok(ToolOutput {
                structured: json!({}),
                content: vec![],
                output_paths: vec!["/own".to_owned()],
                explored: vec!["src".to_owned()],
            }),
            Settlement::Success {
                structured: serde_json::Map::new(),
                content: vec![],
                output_paths: vec!["/own".to_owned()],
                explored: vec!["src".to_owned()],
            },
        ),
        (Err(ToolFailure::new("no")), failed("no")),
        (
            Err(ToolFailure::Failed {
                message: "denied".to_owned(),
                kind: ErrorKind::Permission,
            }),
            Settlement::Failed {
                message: "denied".to_owned(),
                kind: ErrorKind::Permission,
            },
        ),
        (Err(ToolFailure::Declined), Settlement::Declined),
    ];
    for (result, expected) in cases {
        let tool = Scripted::new(move |_, _| {
            let result = result.clone();
            async move { result }
        });
        assert_eq!(settle(tool, json!({})).await, expected);
    }
}

#[tokio::test]
async fn a_tool_receives_its_input_and_context() {
    let tool = Scripted::new(|input, context| async move {
        answer(json!({
            "input": input,
            "session": context.source.session_id,
            "agent": context.source.agent,
            "message": context.source.message_id,
            "call": context.source.call_id,
        }))
    });
    let expected = json!({
        "input": [1],
        "session": "ses_1",
        "agent": "build",
        "message": "msg_1",
        "call": "call_1",
    });
    assert_eq!(settle(tool, json!([1])).await, success(expected, vec![]));
}

#[tokio::test]
async fn unknown_and_hidden_names_reach_no_tool() {
    let (temp, registry) = empty();
    let pairs = tools(vec![("hidden", Scripted::named("x"))]);
    let _registration = registry.host().register(pairs).unwrap();
    let turn = registry.materialize("/project", |action| action != "hidden");
    for name in ["hidden", "teleport", "", "no name\0"] {
        let settled = turn
            .settle(call(name, json!({})), &context(temp.path()))
            .await;
        let message = format!("Unknown tool: {name}");
        assert_eq!(settled, failed(message));
    }
}

#[tokio::test]
async fn a_call_to_anything_but_the_advertised_registration_is_stale() {
    let temp = tempfile::tempdir().unwrap();
    let host = Contributions::default();
    let registry = registry(&host, temp.path());
    let one = || tools(vec![("tool", Scripted::named("one"))]);
    let settle = async |turn: &opencode_tools::Materialized| {
        turn.settle(call("tool", json!({})), &context(temp.path()))
            .await
    };
    let stale = failed("Stale tool call: tool");
    let fresh = success(json!({"from": "one"}), vec![]);

    let first = host.register(one()).unwrap();
    let turn = registry.materialize("/project", |_| true);
    assert_eq!(settle(&turn).await, fresh);
    let shadow = registry.register_in("/project", one()).unwrap();
    assert_eq!(settle(&turn).await, stale, "shadowed by an equal tool");
    drop(shadow);
    assert_eq!(settle(&turn).await, fresh, "the shadow is gone");
    let newer = host.register(one()).unwrap();
    assert_eq!(settle(&turn).await, stale, "replaced");
    drop(newer);
    drop(first);
    assert_eq!(settle(&turn).await, stale, "removed");
    let _again = host.register(one()).unwrap();
    assert_eq!(settle(&turn).await, stale, "registered anew");
}

#[tokio::test]
async fn a_running_call_outlives_its_registration() {
    let (temp, registry) = empty();
    let [started, go] = [Arc::new(Notify::new()), Arc::new(Notify::new())];
    let tool = Scripted::new({
        let (started, go) = (Arc::clone(&started), Arc::clone(&go));
        move |_, _| {
            let (started, go) = (Arc::clone(&started), Arc::clone(&go));
            async move {
                started.notify_one();
                go.notified().await;
                answer(json!({"done": true}))
            }
        }
    });
    let registration = registry
        .host()
        .register(tools(vec![("tool", tool)]))
        .unwrap();
    let turn = registry.materialize("/project", |_| true);
    let unregister = async {
        started.notified().await;
        drop(registration);
        go.notify_one();
    };
    let context = context(temp.path());
    let call = turn.settle(call("tool", json!({})), &context);
    let (settled, ()) = tokio::join!(call, unregister);
    assert_eq!(settled, success(json!({"done": true}), vec![]));
}

#[tokio::test]
async fn a_panic_fails_only_its_own_call() {
    let (temp, registry) = empty();
    let both_run = Arc::new(Barrier::new(2));
    let tool = Scripted::new(move |input, _| {
        let both_run = Arc::clone(&both_run);
        async move {
            both_run.wait().await;
            assert!(input["panic"].is_null(), "{} was asked for", input["panic"]);
            answer(json!({"fine": true}))
        }
    });
    let _registration = registry
        .host()
        .register(tools(vec![("tool", tool)]))
        .unwrap();
    let turn = registry.materialize("/project", |_| true);
    let context = context(temp.path());
    let settle = |input| turn.settle(call("tool", input), &context);
    let (panicked, fine) = tokio::join!(settle(json!({"panic": 7})), settle(json!({})));
    assert_eq!(panicked, failed("Tool execution failed: 7 was asked for"));
    assert_eq!(fine, success(json!({"fine": true}), vec![]));
}

#[tokio::test]
async fn every_kind_of_panic_is_caught() {
    struct Bomb;
    impl Drop for Bomb {
        fn drop(&mut self) {
            panic!("on drop");
        }
    }
    let while_running = Scripted::new(|_, _| async { panic!("while running") });
    let before_running = Scripted::new(|input: Value, _| {
        assert!(input.is_null(), "before running");
        std::future::ready(answer(input))
    });
    let not_text = Scripted::new(|_, _| async { std::panic::panic_any(7) });
    let dropped = Scripted::new(|_, context| async move {
        let _bomb = Bomb;
        context.cancel.cancel();
        std::future::pending().await
    });
    for (tool, message) in [
        (while_running, "while running"),
        (before_running, "before running"),
        (not_text, "the tool panicked"),
        (dropped, "on drop"),
    ] {
        let expected = failed(format!("Tool execution failed: {message}"));
        assert_eq!(settle(tool, json!({})).await, expected);
    }
}

#[tokio::test]
async fn an_interrupted_call_never_starts() {
    let (temp, registry) = empty();
    let tool = Scripted::new(|_, _| async { panic!("it started") });
    let _registration = registry
        .host()
        .register(tools(vec![("tool", tool)]))
        .unwrap();
    let turn = registry.materialize("/project", |_| true);
    let context = context(temp.path());
    context.cancel.cancel();
    let settled = turn.settle(call("tool", json!({})), &context).await;
    assert_eq!(settled, Settlement::Interrupted);
}

#[tokio::test]
async fn an_interruption_ends_a_waiting_call_but_not_a_finished_one() {
    let waits = Scripted::new(|_, context| async move {
        context.cancel.cancel();
        std::future::pending().await
    });
    assert_eq!(settle(waits, json!({})).await, Settlement::Interrupted);
    let is_done = Scripted::new(|_, context| async move {
        context.cancel.cancel();
        answer(json!({"done": true}))
    });
    let expected = success(json!({"done": true}), vec![]);
    assert_eq!(settle(is_done, json!({})).await, expected);
}

#[tokio::test]
async fn a_success_is_bounded_even_after_an_interruption() {
    let tool = Scripted::new(|_, context| async move {
        context.cancel.cancel();
        Ok(ToolOutput {
            structured: json!({"n": 1}),
            content: vec![text(&"x".repeat(60_000))],
            explored: vec!["src".to_owned()],
            ..ToolOutput::default()
        })
    });
    let settled = settle(tool, json!({})).await;
    let Settlement::Success {
        structured,
        content,
        output_paths,
        explored,
    } = settled
    else {
        panic!("{settled:?}");
    };
    assert_eq!(Value::Object(structured), json!({"n": 1}));
    assert_eq!(explored, ["src"]);
    let [path] = output_paths.try_into().unwrap();
    let marker = format!("\n\n... output truncated; full content saved to {path} ...\n\n");
    let rest = 51_200 - marker.len();
    let [head, tail] = ["x".repeat(rest.div_ceil(2)), "x".repeat(rest / 2)];
    assert_eq!(content, [text(&format!("{head}{marker}{tail}"))]);
}

#[tokio::test]
async fn a_very_large_failure_is_bounded() {
    let tool = Scripted::new(|_, _| async { Err(ToolFailure::new("e".repeat(1_000_000))) });
    let Settlement::Failed { message, .. } = settle(tool, json!({})).await else {
        panic!("it failed");
    };
    assert_eq!(message.len(), 51_200);
}
