//! Calls that the provider runs itself: recorded and settled like others, never started here.

use opencode_llm::{ErrorKind, LlmError, ToolContent, ToolOutput, ToolResultValue};
use opencode_testkit::{Fixture, Reply, compact};
use serde_json::{Value, json};

#[tokio::test]
async fn a_hosted_call_keeps_the_result_of_its_provider() {
    let f = Fixture::open().await;
    let session = f.session().await;
    let native = json!([{"url": "https://example.com", "title": "Example"}]);
    let output = ToolOutput {
        structured: json!({"found": 1}),
        content: vec![ToolContent::Text {
            text: "Example".into(),
        }],
    };
    let reply = Reply::new()
        .hosted_call("h1", "web_search", json!({"query": "x"}))
        .hosted_result(
            "h1",
            "web_search",
            ToolResultValue::Json(native.clone()),
            Some(output),
        )
        .text("Found it.")
        .stop();
    f.model.reply(reply).reply(Reply::says("Again."));
    f.ask(&session, "Search").await;
    assert_eq!(
        f.events_after(&session, 2).await,
        [
            "step.started",
            "tool.input.started h1 web_search",
            "tool.input.ended h1",
            r#"tool.called h1 web_search {"query":"x"}"#,
            r#"tool.success h1 {"found":1}"#,
            "text.started",
            "text.ended Found it.",
            // It waits for no result of ours.
            "step.ended stop",
        ]
    );
    let messages = serde_json::to_value(f.messages(&session).await).unwrap();
    let part = &messages[1]["content"][0];
    assert_eq!(part["provider"], json!({"executed": true}));
    assert_eq!(
        part["state"],
        json!({
            "status": "completed",
            "input": {"query": "x"},
            "content": [{"type": "text", "text": "Example"}],
            "outputPaths": [],
            "structured": {"found": 1},
            "result": native,
        })
    );
    // The same model reads call and result where they stood.
    f.ask(&session, "Again").await;
    assert_eq!(
        compact::messages(&f.model.last_request())[1],
        format!(r#"assistant: h1 web_search{{"query":"x"}} | h1 = {native} | Found it."#)
    );
}

/// The durable events of one answer after `step.started`.
async fn answer(reply: Reply) -> Vec<String> {
    let f = Fixture::open().await;
    let session = f.session().await;
    f.model.reply(reply);
    f.ask(&session, "Search").await;
    f.events_after(&session, 3).await
}

fn hosted_call() -> Reply {
    Reply::new().hosted_call("h1", "web_search", json!({}))
}

const RECORDED: [&str; 3] = [
    "tool.input.started h1 web_search",
    "tool.input.ended h1",
    "tool.called h1 web_search {}",
];

fn recorded_then(more: &[&str]) -> Vec<String> {
    RECORDED
        .iter()
        .chain(more)
        .map(ToString::to_string)
        .collect()
}

#[tokio::test]
async fn a_hosted_call_without_a_result_fails_after_the_end_of_its_step() {
    assert_eq!(
        answer(hosted_call().stop()).await,
        recorded_then(&[
            "step.ended stop",
            "tool.failed h1 Provider did not return a tool result",
        ])
    );
}

#[tokio::test]
async fn a_hosted_call_fails_before_a_step_whose_exchange_broke() {
    assert_eq!(
        answer(hosted_call().fail(LlmError::invalid_output("mock", "cut off"))).await,
        recorded_then(&[
            "tool.failed h1 Provider did not return a tool result",
            "step.failed cut off",
        ])
    );
}

#[tokio::test]
async fn a_hosted_call_is_interrupted_by_an_error_of_its_provider() {
    assert_eq!(
        answer(hosted_call().provider_error("overloaded", ErrorKind::Overloaded)).await,
        recorded_then(&[
            "step.failed overloaded",
            "tool.failed h1 Tool execution interrupted",
        ])
    );
}

#[tokio::test]
async fn a_hosted_failure_keeps_the_error_of_its_provider() {
    let f = Fixture::open().await;
    let session = f.session().await;
    let error = json!({"code": "max_uses_exceeded"});
    let reply = hosted_call()
        .hosted_result(
            "h1",
            "web_search",
            ToolResultValue::Error(error.clone()),
            None,
        )
        .stop();
    f.model.reply(reply);
    f.ask(&session, "Search").await;
    let messages: Value = serde_json::to_value(f.messages(&session).await).unwrap();
    assert_eq!(
        messages[1]["content"][0]["state"],
        json!({
            "status": "error",
            "input": {},
            "content": [],
            "structured": {},
            "error": {
                "type": "unknown",
                "message": error.to_string(),
                "cause": {"kind": "tool", "retryable": false},
            },
            "result": error,
        })
    );
}
