//! Calls that the provider executes: they are recorded and settled like others, but never executed locally.

use opencode_llm::{ErrorKind, LlmError, LlmEvent, Part, ToolContent, ToolOutput, ToolResultValue};
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
        f.events(&session).await,
        [
            "prompt.admitted Search",
            "prompted Search",
            "step.started",
            "tool.input.started h1 web_search",
            "tool.input.ended h1",
            r#"tool.called h1 web_search {"query":"x"}"#,
            r#"tool.success h1 {"found":1}"#,
            "text.started",
            "text.ended Found it.",
            // The step does not wait for a local result.
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
            "result": {"type": "json", "value": native},
        })
    );
    // The same model gets call and result at their original position.
    f.ask(&session, "Again").await;
    assert_eq!(
        compact::messages(&f.model.last_request())[1],
        format!(r#"assistant: h1 web_search{{"query":"x"}} | h1 = {native} | Found it."#)
    );
}

/// The durable events of a session with one answer.
async fn answer(reply: Reply) -> Vec<String> {
    let f = Fixture::open().await;
    let session = f.session().await;
    f.model.reply(reply);
    f.ask(&session, "Search").await;
    f.events(&session).await
}

fn hosted_call() -> Reply {
    Reply::new().hosted_call("h1", "web_search", json!({}))
}

const RECORDED: [&str; 6] = [
    "prompt.admitted Search",
    "prompted Search",
    "step.started",
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
async fn a_hosted_call_fails_before_a_step_with_a_broken_exchange() {
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
            "result": {"type": "error", "value": error},
        })
    );
}

#[tokio::test]
async fn the_readable_result_is_derived_from_the_native_result() {
    let file = || ToolContent::File {
        uri: "https://example.com/a.png".into(),
        mime: "image/png".into(),
        name: None,
    };
    let file_json =
        json!({"type": "file", "uri": "https://example.com/a.png", "mime": "image/png"});
    for (result, stored, structured, content) in [
        (
            ToolResultValue::Json(json!([1])),
            json!({"type": "json", "value": [1]}),
            json!({"value": [1]}),
            json!([]),
        ),
        (
            ToolResultValue::Text("found".into()),
            json!({"type": "text", "value": "found"}),
            json!({}),
            json!([{"type": "text", "text": "found"}]),
        ),
        (
            ToolResultValue::Content(vec![file()]),
            json!({"type": "content", "value": [file_json]}),
            json!({}),
            json!([file_json]),
        ),
    ] {
        let f = Fixture::open().await;
        let session = f.session().await;
        let reply = hosted_call().hosted_result("h1", "web_search", result.clone(), None);
        f.model.reply(reply.stop()).reply(Reply::says("Again."));
        f.ask(&session, "Search").await;
        let success = &f.payloads(&session, "tool.success").await[0];
        assert_eq!(
            [
                &success["result"],
                &success["structured"],
                &success["content"]
            ],
            [&stored, &structured, &content]
        );
        // The result goes back in its original form.
        f.ask(&session, "Again").await;
        let request = f.model.last_request();
        let Part::ToolResult(sent) = &request.messages[1].content[1] else {
            panic!("{:?}", request.messages[1])
        };
        assert_eq!(sent.result, result);
    }
}

#[tokio::test]
async fn a_hosted_call_may_fail_without_a_result() {
    for (error, result) in [
        (None, Value::Null),
        (
            Some(json!({"code": 1})),
            json!({"type": "error", "value": {"code": 1}}),
        ),
    ] {
        let f = Fixture::open().await;
        let session = f.session().await;
        let failed = LlmEvent::ToolError {
            id: "h1".into(),
            name: "web_search".into(),
            message: "no such luck".into(),
            error,
            provider_metadata: None,
        };
        f.model.reply(hosted_call().events([failed]).stop());
        f.ask(&session, "Search").await;
        let failed = &f.payloads(&session, "tool.failed").await[0];
        assert_eq!(failed["error"]["message"], "no such luck");
        assert_eq!(failed["result"], result);
    }
}
