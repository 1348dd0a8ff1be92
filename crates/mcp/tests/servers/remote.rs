//! Remote servers over Streamable HTTP.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use opencode_mcp::{CallError, Change, NoTokens, ServerConfig, State, Tokens};
use opencode_schema::message::ToolContent;
use serde_json::{Value, json};

use crate::bench::{Bench, call, context, within};
use crate::http_server::{Answer, HttpServer, Request, result};
use crate::script::tool;

/// Starts a bench with one remote server `s`.
pub(crate) async fn started(config: ServerConfig, tokens: Arc<dyn Tokens>) -> Bench {
    let bench = Bench::new(tokens);
    bench.configure([("s", config)]);
    bench.start().await;
    bench
}

pub(crate) async fn bench_of(server: &HttpServer) -> Bench {
    started(server.config(&[], true), Arc::new(NoTokens)).await
}

fn failure(state: State) -> String {
    match state {
        State::Failed(message) => message,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn each_request_has_the_headers_of_the_configuration_and_the_session() {
    let server = HttpServer::start(|_| None).await;
    let config = server.config(&[("X-Key", "secret")], false);
    let bench = started(config, Arc::new(NoTokens)).await;
    assert_eq!(bench.state("s"), State::Connected);
    let output = call(&bench.tool("s_echo"), json!({"a": 1})).await.unwrap();
    let text = r#"{"a":1}"#.to_owned();
    assert_eq!(output.content, [ToolContent::Text { text }]);
    bench.servers.close().await;
    let requests = server.requests.lock().clone();
    assert!(
        requests
            .iter()
            .all(|request| request.header("x-key") == "secret")
    );
    let after = requests
        .iter()
        .filter(|request| request.method() != "initialize");
    for request in after {
        assert_eq!(request.header("mcp-session-id"), "session-1", "{request:?}");
        assert_eq!(
            request.header("mcp-protocol-version"),
            "2025-11-25",
            "{request:?}"
        );
    }
    // The close ends the session.
    assert_eq!(requests.last().unwrap().verb, "DELETE");
}

#[tokio::test]
async fn changes_arrive_over_the_stream_of_the_session() {
    let lists = Arc::new(AtomicUsize::new(0));
    let server =
        HttpServer::start(
            move |request| match (request.verb.as_str(), request.method()) {
                ("GET", _) => {
                    let changed =
                        json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"});
                    Some(Answer::events(&[changed], true))
                }
                (_, "tools/list") => {
                    let name = format!("t{}", lists.fetch_add(1, Ordering::SeqCst));
                    let tools = json!({"tools": [tool(&name)]});
                    Some(Answer::json(&result(request, tools)))
                }
                _ => None,
            },
        )
        .await;
    let bench = bench_of(&server).await;
    bench
        .until(|servers| servers.tools().iter().any(|tool| tool.tool == "t1"))
        .await;
    bench.servers.close().await;
}

#[tokio::test]
async fn a_temporary_failure_is_tried_again() {
    let attempts = Arc::new(AtomicUsize::new(0));
    let server = HttpServer::start(move |request| {
        let is_first =
            request.method() == "initialize" && attempts.fetch_add(1, Ordering::SeqCst) == 0;
        is_first.then(|| Answer::status(503))
    })
    .await;
    let bench = bench_of(&server).await;
    assert!(failure(bench.state("s")).contains("503"));
    bench.until_state("s", &State::Connected).await;
    bench.servers.close().await;
}

#[tokio::test]
async fn a_failure_does_not_show_the_address() {
    let server = HttpServer::start(|_| None).await;
    let config = server.config(&[], false);
    let address = server.url.socket_addrs(|| None).unwrap()[0];
    drop(server);
    // Waits until nothing listens any more.
    within(async {
        while tokio::net::TcpStream::connect(address).await.is_ok() {
            tokio::task::yield_now().await;
        }
    })
    .await;
    let bench = started(config, Arc::new(NoTokens)).await;
    let message = failure(bench.state("s"));
    assert!(message.contains("error sending request"), "{message}");
    assert!(
        !message.contains("secret") && !message.contains("127.0.0.1:"),
        "{message}"
    );
    bench.servers.close().await;
}

#[tokio::test]
async fn answers_that_are_no_messages_fail_the_server() {
    for (answer, part) in [(404, "404"), (302, "302"), (200, "content type")] {
        let server = HttpServer::start(move |_| Some(Answer::status(answer))).await;
        let bench = bench_of(&server).await;
        let message = failure(bench.state("s"));
        assert!(message.contains(part), "{answer}: {message}");
        bench.servers.close().await;
    }
    let config = HttpServer::start(|_| None)
        .await
        .config(&[("a b", "c")], false);
    let bench = started(config, Arc::new(NoTokens)).await;
    assert_eq!(
        failure(bench.state("s")),
        "\"a b\" is not the name of a header."
    );
    bench.servers.close().await;
}

#[tokio::test]
async fn a_call_that_fails_leaves_the_server_connected() {
    let large = "x".repeat(33 * 1024 * 1024);
    let server = HttpServer::start(move |request| {
        if request.method() != "tools/call" {
            return None;
        }
        let content = |text: &str| json!({"content": [{"type": "text", "text": text}]});
        Some(
            match request.body["params"]["arguments"]["case"]
                .as_str()
                .unwrap()
            {
                "status" => Answer::status(500),
                "nothing" => Answer::body(200, "application/json", ""),
                "html" => Answer::body(200, "text/html", "<html>"),
                "large" => Answer::json(&result(request, content(&large))),
                "large event" => Answer::events(&[result(request, content(&large))], false),
                "cut" => Answer::events(&[], false),
                "error" => Answer::json(&json!({"jsonrpc": "2.0", "id": request.body["id"],
                "error": {"code": 1, "message": "no"}})),
                _ => return None,
            },
        )
    })
    .await;
    let mut config = server.config(&[], true);
    config.timeouts.request = std::time::Duration::from_secs(3);
    let bench = started(config, Arc::new(NoTokens)).await;
    let tool = bench.tool("s_echo");
    for case in [
        "status",
        "nothing",
        "html",
        "large",
        "large event",
        "cut",
        "error",
    ] {
        let result = call(&tool, json!({ "case": case })).await;
        assert!(
            matches!(result, Err(CallError::Failed(_))),
            "{case}: {result:?}"
        );
        call(&tool, json!({"case": "good"})).await.unwrap();
    }
    assert_eq!(bench.state("s"), State::Connected);
    bench.servers.close().await;
}

#[tokio::test]
async fn a_lost_session_begins_again_and_its_lists_are_read_again() {
    let calls = Arc::new(AtomicUsize::new(0));
    let sessions = Arc::new(AtomicUsize::new(0));
    let server = HttpServer::start(move |request| match request.method() {
        "initialize" => {
            let number = sessions.fetch_add(1, Ordering::SeqCst);
            let answer = crate::http_server::usual(request);
            Some(answer.header("mcp-session-id", &format!("session-{number}")))
        }
        "tools/call" if calls.fetch_add(1, Ordering::SeqCst) == 0 => Some(Answer::status(404)),
        _ => None,
    })
    .await;
    let bench = bench_of(&server).await;
    let before = bench.changes.borrow().len();
    call(&bench.tool("s_echo"), json!({})).await.unwrap();
    let tools = ("s".to_owned(), Change::Tools);
    bench
        .until(|_| bench.changes.borrow()[before..].contains(&tools))
        .await;
    assert_eq!(server.with_method("initialize").len(), 2);
    bench.servers.close().await;
}

#[tokio::test]
async fn a_large_answer_needs_no_content_type() {
    let large = "x".repeat(100_000);
    let expected = large.clone();
    let server = HttpServer::start(move |request| {
        let content = json!({"content": [{"type": "text", "text": large}]});
        let answer = result(request, content).to_string();
        (request.method() == "tools/call").then(|| Answer::body(200, "text/plain", answer))
    })
    .await;
    let bench = bench_of(&server).await;
    let output = call(&bench.tool("s_echo"), json!({})).await.unwrap();
    assert_eq!(output.content, [ToolContent::Text { text: expected }]);
    bench.servers.close().await;
}

/// Calls a tool whose server answers with this. Returns the failure, and the number of calls and sessions at the server.
async fn failing(
    answer: impl Fn(&Request) -> Answer + Send + Sync + 'static,
) -> (String, usize, usize) {
    let server = HttpServer::start(move |request| {
        (request.method() == "tools/call").then(|| answer(request))
    })
    .await;
    let bench = bench_of(&server).await;
    let failed = call(&bench.tool("s_echo"), json!({})).await;
    assert_eq!(bench.state("s"), State::Connected);
    bench.servers.close().await;
    let count = |method| server.with_method(method).len();
    let Err(CallError::Failed(message)) = failed else {
        panic!("{failed:?}");
    };
    let message = message.replace("The request failed: ", "");
    (message, count("tools/call"), count("initialize"))
}

/// The time limit of these calls is longer than that of the test.
#[tokio::test]
async fn a_failure_that_names_no_request_ends_the_call_of_its_exchange() {
    let json = "application/json";
    let error = |id: Value| json!({"jsonrpc": "2.0", "id": id, "error": {"code": -32000, "message": "the reason"}});
    let mut without_id = error(json!(null));
    without_id.as_object_mut().unwrap().remove("id");
    for status in [200, 400, 409, 422, 429, 500, 503] {
        for message in [
            error(json!(null)),
            error(json!("server-error")),
            error(json!(4711)),
            without_id.clone(),
            json!([error(json!(null))]),
            json!({"error": "the reason"}),
        ] {
            let body = message.to_string();
            let failed = failing(move |_| Answer::body(status, json, body.clone())).await;
            assert_eq!(
                failed,
                ("the reason".to_owned(), 1, 1),
                "{status} {message}"
            );
        }
    }
    for kind in [
        "event: message\ndata: ",
        "id: 1\r\nevent: message\r\ndata:",
        "data: ",
    ] {
        let body = format!("{kind}{}\n\n", error(json!(null)));
        let failed = failing(move |_| Answer::body(400, "text/event-stream", body.clone())).await;
        assert_eq!(failed, ("the reason".to_owned(), 1, 1), "{kind}");
    }
    for stream in [
        Answer::events(&[error(json!(null))], true),
        Answer::events(&[error(json!("server-error"))], true),
        Answer::events(&[json!([error(json!(null))])], true),
    ] {
        let stream = parking_lot::Mutex::new(Some(stream));
        let failed = failing(move |_| stream.lock().take().unwrap()).await;
        assert_eq!(failed, ("the reason".to_owned(), 1, 1));
    }
}

#[tokio::test]
async fn a_body_that_is_no_message_is_told() {
    let json = "application/json";
    for (status, kind, body, expected) in [
        (
            422,
            json,
            r#"{"detail":"Not allowed"}"#,
            "HTTP 422 Unprocessable Entity: Not allowed",
        ),
        (
            500,
            json,
            r#"{"message":"broken"}"#,
            "HTTP 500 Internal Server Error: broken",
        ),
        (
            502,
            "text/html",
            "<h1>Bad\n gateway</h1>",
            "HTTP 502 Bad Gateway: <h1>Bad gateway</h1>",
        ),
        (
            400,
            "text/plain",
            "no\u{1b}[0m",
            "HTTP 400 Bad Request: no [0m",
        ),
        (
            200,
            json,
            "",
            "The server sent an empty answer of the content type \"application/json\".",
        ),
        (
            200,
            "text/html",
            "<p>Log in</p>",
            "The server sent no answer of the protocol, but the content type \"text/html\": <p>Log in</p>",
        ),
        (
            200,
            json,
            r#"{"jsonrpc":"2.0","id":4711,"result":{}}"#,
            "The server answered another request.",
        ),
        (
            200,
            json,
            r#"{"jsonrpc":"2.0","method":"notifications/message","params":{}}"#,
            "The server sent no answer to the request.",
        ),
    ] {
        let (message, calls, sessions) = failing(move |_| Answer::body(status, kind, body)).await;
        assert_eq!(
            (message.as_str(), calls, sessions),
            (expected, 1, 1),
            "{body}"
        );
    }
    let (message, ..) = failing(|_| Answer::status(202)).await;
    assert_eq!(
        message,
        "The server accepted the request and sent no answer."
    );
}

/// A server that has lost the session says so in its own way. It has not run the call, so the call is sent again.
#[tokio::test]
async fn a_forgotten_session_begins_again_however_the_server_says_it() {
    let json = "application/json";
    let not_found =
        r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32001,"message":"Session not found"}}"#;
    for (status, kind, body) in [
        (404, "text/plain", ""),
        (404, json, r#"{"jsonrpc":"2.0","id":1}"#),
        (404, json, not_found),
        (400, json, not_found),
        (503, json, not_found),
        (200, json, not_found),
        (
            400,
            json,
            r#"{"jsonrpc":"2.0","id":"server-error","error":{"code":-32600,"message":"Bad Request: No valid session ID provided"}}"#,
        ),
        (
            422,
            json,
            r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"Unprocessable: no session, the reason"}}"#,
        ),
        (401, "text/plain", "Unauthorized: Session not found"),
        (400, "text/plain", "Mcp-Session-Id header is invalid"),
        (410, json, r#"{"error":{"message":"session terminated"}}"#),
    ] {
        let calls = AtomicUsize::new(0);
        let server = HttpServer::start(move |request| {
            let is_first =
                request.method() == "tools/call" && calls.fetch_add(1, Ordering::SeqCst) == 0;
            is_first.then(|| Answer::body(status, kind, body))
        })
        .await;
        let bench = bench_of(&server).await;
        call(&bench.tool("s_echo"), json!({})).await.unwrap();
        bench.servers.close().await;
        let counts = ["tools/call", "initialize"].map(|method| server.with_method(method).len());
        assert_eq!(counts, [2, 2], "{status} {body}");
        if status == 401 {
            // The refusal of the second session is one of the credentials.
            continue;
        }
        // A server that always says so gives its reason, after one more session.
        let (message, calls, sessions) = failing(move |_| Answer::body(status, kind, body)).await;
        assert_eq!((calls, sessions), (2, 2), "{status} {body}: {message}");
        assert!(
            message.contains("ession") || message.starts_with("HTTP 404"),
            "{body}: {message}"
        );
    }
}

/// The session of an error with the id of the call is another thing than the session of the protocol.
#[tokio::test]
async fn an_error_of_the_tool_about_a_session_is_no_lost_session() {
    let error = |request: &Request| json!({"jsonrpc": "2.0", "id": request.body["id"], "error": {"code": 1, "message": "browser session not found"}});
    for (status, sent) in [(200, 1), (400, 1), (422, 1), (503, 1), (404, 2)] {
        let kind = "application/json";
        let failed = failing(move |it| Answer::body(status, kind, error(it).to_string())).await;
        let expected = ("browser session not found".to_owned(), sent, sent);
        assert_eq!(failed, expected, "{status}");
    }
    // A failure of the way to the server says nothing about the session of the protocol.
    let page = "<p>The session of the gateway has expired</p>";
    let failed = failing(move |_| Answer::body(502, "text/html", page)).await;
    assert_eq!(failed, (format!("HTTP 502 Bad Gateway: {page}"), 1, 1));
}

#[tokio::test]
async fn an_interrupted_call_settles_at_once_and_the_server_learns_of_it() {
    let (begun, mut started_calls) = tokio::sync::mpsc::unbounded_channel();
    let server = HttpServer::start(move |request: &Request| {
        begun.send(request.method().to_owned()).unwrap();
        (request.method() == "tools/call").then(|| Answer::events(&[], true))
    })
    .await;
    let bench = bench_of(&server).await;
    let tool = bench.tool("s_echo");
    let context = context("ses_1");
    let cancel = context.cancel.clone();
    let running = tokio::spawn(async move { tool.call(json!({}), context).await });
    let mut until = async |method: &str| {
        within(async { while started_calls.recv().await.as_deref() != Some(method) {} }).await;
    };
    until("tools/call").await;
    cancel.cancel();
    assert_eq!(within(running).await.unwrap(), Err(CallError::Interrupted));
    until("notifications/cancelled").await;
    bench.servers.close().await;
    let id: Vec<Value> = server
        .with_method("tools/call")
        .into_iter()
        .map(|request| request.body["id"].clone())
        .collect();
    within(async {
        while server.with_method("notifications/cancelled").is_empty() {
            tokio::task::yield_now().await;
        }
    })
    .await;
    let cancelled = server.with_method("notifications/cancelled");
    assert_eq!(cancelled[0].body["params"]["requestId"], id[0]);
}
