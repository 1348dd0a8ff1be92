//! Servers that die, flood, hang or lie: each fails its own calls, or itself, in one defined way.

use std::time::Duration;

use opencode_mcp::{CallError, State};
use serde_json::{Value, json};

use crate::bench::{Bench, call, command_of, context, local, within};
use crate::script::tool;

fn failed(message: &str) -> State {
    State::Failed(message.to_owned())
}

fn answer(result: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": "$id", "result": result})
}

/// Returns the state of a server with a script.
async fn state_of(script: Value) -> State {
    let bench = Bench::local(script).await;
    let state = bench.state("s");
    bench.servers.close().await;
    state
}

#[tokio::test]
async fn a_wrong_handshake_fails_the_server() {
    for (script, message) in [
        (
            json!({"initialize": [{"jsonrpc": "2.0", "id": "$id",
                "error": {"code": -32000, "message": "go away"}}]}),
            "The server refused the connection: go away",
        ),
        (
            json!({"initialize": [{"id": "$id", "error": "go away"}]}),
            "The server refused the connection: go away",
        ),
        (
            json!({"initialize": [{"jsonrpc": "2.0", "id": 4711, "result": {}}]}),
            "The server did not answer the handshake.",
        ),
        (
            json!({"initialize": [answer(json!({"tools": []}))]}),
            "The answer of the server to the handshake has no usable member \"protocolVersion\".",
        ),
        (
            json!({"initialize": [answer(json!({"protocolVersion": ["2025-11-25"], "capabilities": {}}))]}),
            "The answer of the server to the handshake has no usable member \"protocolVersion\".",
        ),
        (
            json!({"initialize": [answer(json!("2025-11-25"))]}),
            "The answer of the server to the handshake has no usable member \"protocolVersion\".",
        ),
        (
            json!({"initialize": [answer(json!({"protocolVersion": 20251125}))]}),
            "The server speaks version 20251125 of the protocol, which the host does not know.",
        ),
        (
            json!({"version": "1999-01-01"}),
            "The server speaks version 1999-01-01 of the protocol, which the host does not know.",
        ),
        (
            json!({"exit": 9}),
            "The server ended with the exit code 9 before it was ready.",
        ),
        (
            json!({"initialize": ["$exit"]}),
            "The server ended with the exit code 3 before it was ready.",
        ),
    ] {
        let shown = script.to_string();
        assert_eq!(state_of(script).await, failed(message), "{shown}");
    }
}

#[tokio::test]
async fn a_program_that_does_not_run_fails_the_server() {
    for (command, message) in [
        (
            &["/no/such/program"][..],
            "The program \"/no/such/program\" cannot be run (exit code 127).",
        ),
        (
            &[],
            "The program \"\" cannot be started: the command is empty",
        ),
    ] {
        let bench = Bench::local(json!({})).await;
        bench.configure([("s", command_of(command, &json!({})))]);
        bench.start().await;
        assert_eq!(bench.state("s"), failed(message));
        bench.servers.close().await;
    }
}

#[cfg(unix)]
#[tokio::test]
async fn a_directory_that_does_not_exist_fails_the_server() {
    let bench = Bench::local(json!({})).await;
    let mut config = command_of(&["true"], &json!({}));
    if let opencode_mcp::Connection::Local(local) = &mut config.connection {
        local.directory = "/no/such/directory".into();
    }
    bench.configure([("s", config)]);
    bench.start().await;
    let message = "The program \"true\" cannot be started: its working directory does not exist";
    assert_eq!(bench.state("s"), failed(message));
    bench.servers.close().await;
}

#[tokio::test]
async fn older_versions_are_accepted() {
    for version in ["2024-11-05", "2025-03-26", "2025-06-18"] {
        assert_eq!(
            state_of(json!({ "version": version })).await,
            State::Connected
        );
    }
}

#[tokio::test]
async fn a_server_that_never_answers_fails_at_the_limit() {
    for (script, message) in [
        (
            json!({"initialize": []}),
            "The server was not ready in time.",
        ),
        (
            json!({"tools/list": []}),
            "The server did not list its tools in time.",
        ),
    ] {
        let bench = Bench::new(std::sync::Arc::new(opencode_mcp::NoTokens));
        let mut config = local(&script);
        config.timeouts.startup = Duration::from_secs(2);
        bench.configure([("s", config)]);
        bench.start().await;
        assert_eq!(bench.state("s"), failed(message));
        bench.servers.close().await;
    }
}

#[tokio::test]
async fn a_list_that_lies_fails_the_server() {
    for (script, message) in [
        (
            json!({"tools/list": [answer(json!({"tools": 5}))]}),
            "The answer to tools/list has no list \"tools\".",
        ),
        (
            json!({"tools/list": [answer(json!({}))]}),
            "The answer to tools/list has no list \"tools\".",
        ),
        (
            json!({"pages": {"": {"tools": [], "nextCursor": "a"}, "a": {"tools": [], "nextCursor": "a"}}}),
            "tools/list has a page that refers to an earlier page.",
        ),
        (
            json!({"pages": {"": {"tools": [], "nextCursor": "x".repeat(20_000)}}}),
            "tools/list has too many pages or a cursor that is too long.",
        ),
        (
            json!({"endless": true}),
            "tools/list has too many pages or a cursor that is too long.",
        ),
    ] {
        let shown: String = script.to_string().chars().take(200).collect();
        assert_eq!(state_of(script).await, failed(message), "{shown}");
    }
}

#[tokio::test]
async fn a_tool_that_lies_is_left_out() {
    let deep = (0..100).fold(json!({}), |inner, _| json!({ "not": inner }));
    let bad = |name: &str, schema: Value| json!({"name": name, "inputSchema": schema});
    let recursive = json!({"properties": {"children": {"items": {"$ref": "#"}}}});
    let circular = json!({"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/a"}}});
    let bench = Bench::local(json!({"tools": [
        tool("good"),
        bad("text", json!("object")),
        bad("none", json!(null)),
        bad("large", json!(10 * 1024 * 1024)),
        bad("deep", deep),
        {"inputSchema": {}},
        {"name": "n".repeat(300), "inputSchema": {}},
        7,
        bad("circular", circular),
        bad("recursive", recursive),
        {"name": "task", "inputSchema": {}, "execution": {"taskSupport": "required"}},
        {"name": "either", "inputSchema": {}, "execution": {"taskSupport": "optional"}},
    ]}))
    .await;
    let names: Vec<_> = bench
        .servers
        .tools()
        .iter()
        .map(|tool| tool.tool.clone())
        .collect();
    assert_eq!(names, ["good", "recursive", "either"]);
    let schema = &bench.tool("s_recursive").input_schema;
    assert_eq!(
        schema["properties"]["children"]["items"]["$ref"],
        "#/$defs/root"
    );
    let problems = bench.servers.problems();
    let problems: Vec<_> = problems
        .iter()
        .map(|problem| problem.message.as_str())
        .collect();
    assert_eq!(
        problems,
        [
            "the tool \"text\" is left out: its input schema is not an object",
            "the tool \"none\" is left out: its input schema is not an object",
            "the tool \"large\" is left out: its input schema has 10485778 bytes",
            "the tool \"deep\" is left out: its input schema has more than 32 levels",
            "a tool has no name, or one that is too long",
            "a tool has no name, or one that is too long",
            "a tool has no name, or one that is too long",
            "the tool \"circular\" is left out: its input schema has endless references or too many alternatives",
            "the tool \"task\" is left out: it works only as a task, which the host does not support",
        ]
    );
    bench.servers.close().await;
}

#[tokio::test]
async fn too_many_tools_are_cut() {
    let bench = Bench::local(json!({ "tools": 10_000 })).await;
    assert_eq!(bench.servers.tools().len(), 1000);
    let problems = bench.servers.problems();
    assert_eq!(problems.len(), 1);
    assert_eq!(problems[0].message, "only its first 1000 tools are used");
    let large = |number: u32| json!({"name": number.to_string(), "inputSchema": 100_000});
    let tools: Vec<_> = (0..100).map(large).collect();
    bench.configure([("s", local(&json!({ "tools": tools })))]);
    bench.servers.settled(crate::bench::DEADLINE).await;
    assert_eq!(bench.servers.tools().len(), 83);
    let problems = bench.servers.problems();
    assert_eq!(problems.len(), 1);
    assert_eq!(
        problems[0].message,
        "the definitions of its tools are too large"
    );
    bench.servers.close().await;
}

#[tokio::test]
async fn floods_and_noise_do_not_disturb_a_call() {
    let bench = Bench::local(json!({
        "tools": [tool("lines")],
        "before": ["Hello from a library", "{", "", "[]", "\u{1b}[31mred"],
    }))
    .await;
    let tool = bench.tool("s_lines");
    let notification = |method: &str| {
        let text = json!({"jsonrpc": "2.0", "method": method,
            "params": {"level": "error", "data": "x".repeat(1000)}});
        format!("$flood {text}")
    };
    let end = answer(json!({"content": [{"type": "text", "text": "done"}]}));
    for lines in [
        json!([notification("notifications/message"), end]),
        json!([notification("notifications/tools/list_changed"), end]),
        json!([notification("notifications/unknown"), end]),
        json!(["$stderr ", end]),
        json!(["noise", {"no": "message"}, {"jsonrpc": "2.0"}, end]),
        // Answers to unknown requests, and ids of wrong types.
        json!([
            {"jsonrpc": "2.0", "id": 999_999, "result": {}},
            {"jsonrpc": "2.0", "id": "other", "error": {"code": 1, "message": "m"}},
            {"jsonrpc": "2.0", "id": {"a": 1}, "result": {}},
            {"jsonrpc": "2.0", "id": null, "result": {}},
            end, end
        ]),
    ] {
        let shown: String = lines.to_string().chars().take(100).collect();
        let output = call(&tool, json!({ "lines": lines })).await;
        let output = output.unwrap_or_else(|error| panic!("{shown}: {error}"));
        assert_eq!(output.content.len(), 1, "{shown}");
    }
    assert_eq!(bench.state("s"), State::Connected);
    bench.servers.close().await;
}

#[tokio::test]
async fn an_answer_that_cannot_be_read_fails_its_call_only() {
    let bench = Bench::local(json!({ "tools": [tool("lines"), tool("echo")] })).await;
    let deep = "[".repeat(10_000) + &"]".repeat(10_000);
    let line = format!("{{\"jsonrpc\":\"2.0\",\"result\":{deep},\"id\":\"$id\"}}");
    let error = call(&bench.tool("s_lines"), json!({ "lines": [line] }))
        .await
        .unwrap_err();
    let CallError::Failed(message) = error else {
        panic!("{error:?}");
    };
    assert!(
        message.starts_with("the answer of the server cannot be read: "),
        "{message}"
    );
    call(&bench.tool("s_echo"), json!({})).await.unwrap();
    bench.servers.close().await;
}

#[tokio::test]
async fn an_endless_line_ends_the_connection() {
    let bench = Bench::local(json!({ "tools": [tool("lines")] })).await;
    let error = call(&bench.tool("s_lines"), json!({"lines": ["$huge"]}))
        .await
        .unwrap_err();
    let message = "The server sent a message of more than 33554432 bytes.";
    assert_eq!(error, CallError::Failed(message.to_owned()));
    bench.until_state("s", &failed(message)).await;
    bench.servers.close().await;
}

#[tokio::test]
async fn a_server_that_dies_during_a_call_fails_all_its_calls_and_starts_again() {
    let bench = Bench::local(json!({ "tools": [tool("lines"), tool("hang"), tool("echo")] })).await;
    let before = bench.tool("s_echo");
    let hanging = bench.tool("s_hang");
    let hanging = tokio::spawn(async move { hanging.call(json!({}), context("ses_2")).await });
    let error = call(&bench.tool("s_lines"), json!({"lines": ["$exit"]}))
        .await
        .unwrap_err();
    let closed = CallError::Failed("Connection closed".to_owned());
    assert_eq!(error, closed);
    assert_eq!(within(hanging).await.unwrap(), Err(closed));
    bench.until_state("s", &failed("Connection closed")).await;
    assert!(bench.servers.tools().is_empty());
    let gone = CallError::Failed("The server \"s\" is not connected.".to_owned());
    assert_eq!(call(&before, json!({})).await, Err(gone));
    bench.until_state("s", &State::Connected).await;
    // The same tool is the same value, and it works again.
    assert!(std::sync::Arc::ptr_eq(&before, &bench.tool("s_echo")));
    call(&before, json!({})).await.unwrap();
    bench.servers.close().await;
}

#[tokio::test]
async fn a_flood_of_requests_ends_the_connection() {
    let bench = Bench::local(json!({ "tools": [tool("lines")] })).await;
    let request = |id: u32| {
        json!({"jsonrpc": "2.0", "id": id, "method": "elicitation/create",
        "params": {"message": "m", "requestedSchema": {"type": "object", "properties": {}}}})
    };
    // The questions wait for a user who never answers.
    let mut context = context("ses_1");
    let (user, _questions) = tokio::sync::mpsc::unbounded_channel();
    context.ask = std::sync::Arc::new(crate::bench::User(user));
    let lines: Vec<_> = (0..100).map(request).collect();
    let tool = bench.tool("s_lines");
    let error = within(tool.call(json!({ "lines": lines }), context))
        .await
        .unwrap_err();
    let message = "The server sends requests and does not read the answers.";
    assert_eq!(error, CallError::Failed(message.to_owned()));
    bench.servers.close().await;
}
