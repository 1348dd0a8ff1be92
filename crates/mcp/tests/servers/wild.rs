//! Results of tools as servers really send them. Each file of `tests/wild/results` is one quirk: a result, and what it
//! becomes. To add a quirk, add a file.

use std::fs;
use std::path::Path;

use opencode_mcp::{CallError, CallOutput};
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
