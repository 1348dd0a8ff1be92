//! Results of tools as servers really send them. Each file of `tests/wild/results` is one quirk: a result, and what it
//! becomes. To add a quirk, add a file.

use std::fs;
use std::path::Path;

use opencode_mcp::{CallError, CallOutput, State};
use opencode_schema::message::ToolContent;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::bench::{Bench, call};
use crate::http_server::{Answer, HttpServer, result};
use crate::remote::bench_of;
use crate::script::tool;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Quirk {
    about: String,
    reported: String,
    result: Value,
    #[serde(default)]
    content: Vec<ToolContent>,
    structured: Option<Value>,
    failed: Option<String>,
}

impl Quirk {
    fn expected(self) -> Result<CallOutput, CallError> {
        match self.failed {
            Some(message) => Err(CallError::Failed(message)),
            None => Ok(CallOutput {
                structured: self.structured,
                content: self.content,
            }),
        }
    }
}

/// Returns the quirks with their names.
fn quirks() -> Vec<(String, Quirk)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/wild/results");
    let files = fs::read_dir(folder).unwrap().map(|it| it.unwrap().path());
    let read = files.map(|path| {
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let quirk: Quirk = serde_json::from_slice(&fs::read(&path).unwrap())
            .unwrap_or_else(|error| panic!("{name}: {error}"));
        let is_place = quirk.reported.contains('#') || quirk.reported.starts_with("https://");
        assert!(is_place && !quirk.about.is_empty(), "{name}");
        (name, quirk)
    });
    read.collect()
}

#[tokio::test]
async fn results_of_local_servers_become_what_can_be_read() {
    let bench = Bench::local(json!({ "tools": [tool("lines")] })).await;
    let tool = bench.tool("s_lines");
    let mut failures = Vec::new();
    for (name, quirk) in quirks() {
        let lines = json!([{"jsonrpc": "2.0", "id": "$id", "result": quirk.result}]);
        let found = call(&tool, json!({ "lines": lines })).await;
        let expected = quirk.expected();
        if found != expected {
            failures.push(format!("{name}: {found:?}\n instead of {expected:?}"));
        }
    }
    assert!(failures.is_empty(), "\n{}", failures.join("\n"));
    bench.servers.close().await;
}

#[tokio::test]
async fn results_of_remote_servers_become_the_same() {
    for is_stream in [false, true] {
        let server = HttpServer::start(move |request| {
            (request.method() == "tools/call").then(|| {
                let given = request.body["params"]["arguments"]["result"].clone();
                let message = result(request, given);
                match is_stream {
                    true => Answer::events(&[message], false),
                    false => Answer::json(&message),
                }
            })
        })
        .await;
        let bench = bench_of(&server).await;
        let tool = bench.tool("s_echo");
        for (name, quirk) in quirks() {
            let found = call(&tool, json!({ "result": quirk.result })).await;
            assert_eq!(found, quirk.expected(), "{name}, stream: {is_stream}");
        }
        bench.servers.close().await;
    }
}

/// Answers that JSON libraries of other languages write, as the bytes of a message. `$id` is the id of the request.
const ODD_TEXTS: [(&str, &str); 8] = [
    (
        r#"{"jsonrpc":"2.0","id":$id,"result":{"content":[{"type":"text","text":"a \ud83d"}]}}"#,
        "a \u{fffd}",
    ),
    (
        r#"{"jsonrpc":"2.0","id":$id,"result":{"content":[{"type":"text","text":"\ude00 b","\ud800":1}]}}"#,
        "\u{fffd} b",
    ),
    (
        r#"{"jsonrpc":"2.0","id":$id,"result":{"structuredContent":{"\uD83Da":"\uDE00"}}}"#,
        "{\"\u{fffd}a\":\"\u{fffd}\"}",
    ),
    (
        r#"{"jsonrpc":"2.0","id":$id,"error":{"code":1,"message":"broken \udfff"}}"#,
        "broken \u{fffd}",
    ),
    (
        "\u{feff}{\"jsonrpc\":\"2.0\",\"id\":$id,\"result\":{\"content\":\"mark\"}}",
        "mark",
    ),
    (
        r#"{"id":$id.0,"jsonrpc":"2.0","result":{"content":"float"}}"#,
        "float",
    ),
    (
        r#"{"id":$id.0,"error":{"code":1,"message":"float"}}"#,
        "float",
    ),
    (
        r#"{"id":0,"id":$id,"result":{"content":"old"},"result":{"content":"twice"}}"#,
        "twice",
    ),
];

/// Returns the text that a call became, of its output or its failure.
fn told(found: Result<CallOutput, CallError>) -> String {
    match found {
        Ok(output) => match &output.content[..] {
            [ToolContent::Text { text }] => text.clone(),
            other => format!("{other:?}"),
        },
        Err(error) => error.to_string(),
    }
}

#[tokio::test]
async fn odd_texts_of_local_servers_are_read() {
    let bench = Bench::local(json!({ "tools": [tool("lines")] })).await;
    let tool = bench.tool("s_lines");
    for (line, expected) in ODD_TEXTS {
        let line = line.replace("$id", "\"$id\"");
        let found = call(&tool, json!({ "lines": [line] })).await;
        assert_eq!(told(found), expected, "{line}");
    }
    bench.servers.close().await;
}

#[tokio::test]
async fn odd_texts_of_remote_servers_are_read() {
    for is_stream in [false, true] {
        let server = HttpServer::start(move |request| {
            (request.method() == "tools/call").then(|| {
                let text = request.body["params"]["arguments"]["text"].as_str();
                let id = request.body["id"].to_string();
                let text = text.unwrap_or_default().replace("$id", &id);
                match is_stream {
                    true => Answer::body(200, "text/event-stream", format!("data: {text}\n\n")),
                    false => Answer::body(200, "application/json", text),
                }
            })
        })
        .await;
        let bench = bench_of(&server).await;
        let tool = bench.tool("s_echo");
        for (text, expected) in ODD_TEXTS {
            let found = call(&tool, json!({ "text": text })).await;
            assert_eq!(told(found), expected, "{text}, stream: {is_stream}");
        }
        bench.servers.close().await;
    }
}

/// The results of `initialize` that servers send despite the protocol. A server with the result is connected and has its
/// tool.
fn odd_introductions() -> [Value; 9] {
    let info = json!({"name": "odd", "version": "1"});
    [
        json!({"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}}),
        json!({"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "odd"}}),
        json!({"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": null, "instructions": ["a"], "_meta": 1}),
        json!({"protocolVersion": "2025-11-25", "serverInfo": info}),
        json!({"protocolVersion": "2025-11-25", "serverInfo": info, "capabilities": null}),
        json!({"protocolVersion": "2025-11-25", "serverInfo": info, "capabilities": []}),
        json!({"protocolVersion": "2025-11-25", "serverInfo": info, "capabilities": {"tools": null, "prompts": true}}),
        json!({"protocolVersion": "2025-11-25", "serverInfo": info, "capabilities": {"tools": true, "logging": 1}}),
        json!({"protocolVersion": "2025-11-25", "serverInfo": info, "capabilities": {"tools": {"listChanged": "yes"}, "prompts": []}}),
    ]
}

fn answered(result: &Value) -> Value {
    json!([{"jsonrpc": "2.0", "id": "$id", "result": result}])
}

#[tokio::test]
async fn odd_introductions_of_local_servers_are_read() {
    for result in odd_introductions() {
        let script = json!({"initialize": answered(&result), "tools": [tool("echo")]});
        let bench = Bench::local(script).await;
        assert_eq!(bench.state("s"), State::Connected, "{result}");
        bench.tool("s_echo");
        bench.servers.close().await;
    }
}

#[tokio::test]
async fn odd_introductions_of_remote_servers_are_read() {
    for is_stream in [false, true] {
        for given in odd_introductions() {
            let sent = given.clone();
            let server = HttpServer::start(move |request| {
                (request.method() == "initialize").then(|| {
                    let message = result(request, sent.clone());
                    match is_stream {
                        true => Answer::events(&[message], false),
                        false => Answer::json(&message),
                    }
                })
            })
            .await;
            let bench = bench_of(&server).await;
            assert_eq!(bench.state("s"), State::Connected, "{given}");
            bench.tool("s_echo");
            bench.servers.close().await;
        }
    }
}

#[tokio::test]
async fn a_server_that_does_not_say_whether_it_has_tools_may_have_none() {
    let refused = json!([{"jsonrpc": "2.0", "id": "$id", "error": {"code": -32601, "message": "no such method"}}]);
    let introduced = json!({"protocolVersion": "2025-11-25", "capabilities": null});
    let script = json!({"initialize": answered(&introduced), "tools/list": refused});
    let bench = Bench::local(script).await;
    assert_eq!(bench.state("s"), State::Connected);
    assert!(bench.servers.tools().is_empty());
    bench.servers.close().await;
}

#[tokio::test]
async fn batches_of_local_servers_are_their_messages() {
    let introduced = json!({"protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
        "serverInfo": {"name": "batch", "version": "1"}});
    let note = json!({"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": "a"}});
    let listed = json!({"tools": [tool("lines")]});
    let bench = Bench::local(json!({
        "initialize": [answered(&introduced)],
        "tools/list": [[note, 7, {"jsonrpc": "2.0", "id": "$id", "result": listed}]],
    }))
    .await;
    assert_eq!(bench.state("s"), State::Connected);
    let tool = bench.tool("s_lines");
    let said = |text: &str| json!({"jsonrpc": "2.0", "id": "$id", "result": {"content": text}});
    let many: Vec<Value> = (0..1001).map(|_| note.clone()).collect();
    for lines in [
        json!([[said("batched")]]),
        json!([[note, note, note, note, note, said("batched"), note]]),
        json!([[], [null, {}, "a"], "[info] text", many, said("batched")]),
        json!([[{"id": "$id", "error": "batched"}]]),
        json!([[{"error": {"message": "batched"}}, note]]),
    ] {
        let found = call(&tool, json!({ "lines": lines })).await;
        assert_eq!(told(found), "batched", "{lines}");
    }
    bench.servers.close().await;
}
