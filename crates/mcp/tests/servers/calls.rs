//! Calls of tools: results, progress, limits of time, and interruptions.

use std::sync::Arc;
use std::time::Duration;

use opencode_mcp::{CallError, CallOutput, Progress};
use opencode_schema::message::ToolContent;
use parking_lot::Mutex;
use serde_json::{Value, json};

use crate::bench::{Bench, call, context, local, logged, within};
use crate::script::tool;

fn text(text: &str) -> ToolContent {
    ToolContent::Text {
        text: text.to_owned(),
    }
}

fn file(uri: &str, mime: &str, name: Option<&str>) -> ToolContent {
    ToolContent::File {
        uri: uri.to_owned(),
        mime: mime.to_owned(),
        name: name.map(str::to_owned),
    }
}

/// Returns the input of the tool `lines` for one result.
fn result(result: Value) -> Value {
    json!({ "lines": [{"jsonrpc": "2.0", "id": "$id", "result": result}] })
}

#[tokio::test]
async fn results_become_contents() {
    let bench = Bench::local(json!({ "tools": [tool("lines")] })).await;
    let tool = bench.tool("s_lines");
    let output = |structured, content| {
        Ok(CallOutput {
            structured,
            content,
        })
    };
    let failed = |message: &str| Err(CallError::Failed(message.to_owned()));
    for (given, expected) in [
        (json!({"content": []}), output(None, vec![])),
        (json!({}), output(None, vec![])),
        (
            json!({"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}),
            output(None, vec![text("a"), text("b")]),
        ),
        (
            json!({"content": [
                {"type": "image", "data": "AAEC", "mimeType": "image/PNG; x=y"},
                {"type": "audio", "data": "AA==", "mimeType": "nonsense"},
            ]}),
            output(
                None,
                vec![
                    file("data:image/png;base64,AAEC", "image/png", None),
                    file(
                        "data:application/octet-stream;base64,AA==",
                        "application/octet-stream",
                        None,
                    ),
                ],
            ),
        ),
        (
            json!({"content": [
                {"type": "resource", "resource": {"uri": "x://1", "text": "inside"}},
                {"type": "resource", "resource": {"uri": "x://2", "blob": "AA==", "mimeType": "a/b"}},
                {"type": "resource_link", "uri": "x://3", "name": "three", "description": "Third"},
            ]}),
            output(
                None,
                vec![
                    text("inside"),
                    file("data:a/b;base64,AA==", "a/b", Some("x://2")),
                    text("three: x://3\nThird"),
                ],
            ),
        ),
        (
            json!({"content": [], "structuredContent": {"b": 1, "a": [2]}}),
            output(
                Some(json!({"b": 1, "a": [2]})),
                vec![text(r#"{"b":1,"a":[2]}"#)],
            ),
        ),
        (
            json!({"content": [{"type": "text", "text": "t"}], "structuredContent": {"a": 1}}),
            output(Some(json!({"a": 1})), vec![text("t")]),
        ),
        (
            json!({"content": [{"type": "text", "text": "one"}, {"type": "text", "text": "two"}],
                "isError": true}),
            failed("one\ntwo"),
        ),
        (
            json!({"content": [], "isError": true}),
            failed("The tool failed without a message."),
        ),
        (
            json!({"content": [], "structuredContent": {"code": 4}, "isError": true}),
            failed(r#"{"code":4}"#),
        ),
    ] {
        let shown = given.to_string();
        assert_eq!(call(&tool, result(given)).await, expected, "{shown}");
    }
    let error = json!({"lines": [{"jsonrpc": "2.0", "id": "$id",
        "error": {"code": -32602, "message": "unknown thing"}}]});
    assert_eq!(call(&tool, error).await, failed("unknown thing"));
    for error in [
        json!({"jsonrpc": "2.0", "id": "$id", "error": {"code": "E", "message": "broken"}}),
        json!({"id": "$id", "error": {"message": "broken"}}),
        json!({"id": "$id", "error": "broken"}),
    ] {
        let lines = json!({ "lines": [error] });
        assert_eq!(
            call(&tool, lines.clone()).await,
            failed("broken"),
            "{lines}"
        );
    }
    // An error without an id belongs to the only request.
    for error in [
        json!({"jsonrpc": "2.0", "id": null, "error": {"code": 1, "message": "broken"}}),
        json!({"jsonrpc": "2.0", "error": {"code": "E", "message": "broken"}}),
        json!({"error": "broken"}),
    ] {
        let lines = json!({ "lines": [error] });
        assert_eq!(
            call(&tool, lines.clone()).await,
            failed("broken"),
            "{lines}"
        );
    }
    bench.servers.close().await;
}

#[tokio::test]
async fn progress_arrives_in_order_and_before_the_result() {
    let bench = Bench::local(json!({ "tools": [tool("lines")] })).await;
    let report = |number: u32| {
        json!({"jsonrpc": "2.0", "method": "notifications/progress", "params":
            {"progressToken": "$token", "progress": number, "total": 100, "message": "m"}})
    };
    let stranger = json!({"jsonrpc": "2.0", "method": "notifications/progress", "params":
        {"progressToken": "another", "progress": 1}});
    let mut lines: Vec<_> = (0..100).map(report).collect();
    lines.insert(50, stranger);
    // Some servers return the number as a text.
    lines[10]["params"]["progressToken"] = json!("text $token");
    lines.push(json!({"jsonrpc": "2.0", "id": "$id", "result": {"content": []}}));
    lines.push(report(1000));
    let seen = Arc::new(Mutex::new(Vec::new()));
    let mut context = context("ses_1");
    let all = Arc::clone(&seen);
    context.progress = Arc::new(move |progress: Progress| {
        assert_eq!(
            (progress.total, progress.message.as_deref()),
            (Some(100.0), Some("m"))
        );
        all.lock().push(progress.progress);
    });
    let tool = bench.tool("s_lines");
    within(tool.call(json!({ "lines": lines }), context))
        .await
        .unwrap();
    let expected: Vec<f64> = (0..100).map(f64::from).collect();
    assert_eq!(*seen.lock(), expected);
    bench.servers.close().await;
}

#[tokio::test]
async fn an_interrupted_call_settles_at_once_and_the_server_learns_of_it() {
    let bench = Bench::new(Arc::new(opencode_mcp::NoTokens));
    let log = bench.path("log");
    let script = json!({ "tools": [tool("hang")], "log": log });
    bench.configure([("s", local(&script))]);
    bench.start().await;
    let context = context("ses_1");
    let cancel = context.cancel.clone();
    let tool = bench.tool("s_hang");
    let running = tokio::spawn(async move { tool.call(json!({}), context).await });
    let is_call = |line: &Value| line["method"] == "tools/call";
    let lines = logged(&log, is_call).await;
    let id = lines.iter().find(|line| is_call(line)).unwrap()["id"].clone();
    cancel.cancel();
    assert_eq!(within(running).await.unwrap(), Err(CallError::Interrupted));
    logged(&log, |line| {
        line["method"] == "notifications/cancelled" && line["params"]["requestId"] == id
    })
    .await;
    // The next call works.
    bench.servers.close().await;
}

#[tokio::test]
async fn a_call_without_an_answer_ends_at_its_limit() {
    let bench = Bench::new(Arc::new(opencode_mcp::NoTokens));
    let log = bench.path("log");
    let script = json!({ "tools": [tool("hang"), tool("echo")], "log": log });
    let mut config = local(&script);
    config.timeouts.request = Duration::from_millis(300);
    bench.configure([("s", config)]);
    bench.start().await;
    let failed = CallError::Failed("The server did not answer within 0.3 seconds.".to_owned());
    assert_eq!(call(&bench.tool("s_hang"), json!({})).await, Err(failed));
    logged(&log, |line| line["method"] == "notifications/cancelled").await;
    call(&bench.tool("s_echo"), json!({})).await.unwrap();
    bench.servers.close().await;
}

#[tokio::test]
async fn calls_run_side_by_side() {
    let bench = Bench::local(json!({ "tools": [tool("hang"), tool("echo")] })).await;
    let hanging = bench.tool("s_hang");
    let context = context("ses_1");
    let cancel = context.cancel.clone();
    let hanging = tokio::spawn(async move { hanging.call(json!({}), context).await });
    let tool = bench.tool("s_echo");
    let calls = (0..200).map(|number| call(&tool, json!({ "number": number })));
    for (number, output) in futures::future::join_all(calls)
        .await
        .into_iter()
        .enumerate()
    {
        assert_eq!(
            output.unwrap().structured,
            Some(json!({ "number": number }))
        );
    }
    cancel.cancel();
    assert_eq!(within(hanging).await.unwrap(), Err(CallError::Interrupted));
    bench.servers.close().await;
}
