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
async fn started(config: ServerConfig, tokens: Arc<dyn Tokens>) -> Bench {
    let bench = Bench::new(tokens);
    bench.configure([("s", config)]);
    bench.start().await;
    bench
}

async fn bench_of(server: &HttpServer) -> Bench {
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
async fn an_answer_can_be_a_stream_of_events() {
    let server = HttpServer::start(|request| {
        (request.method() == "tools/call").then(|| {
            let progress = json!({"jsonrpc": "2.0", "method": "notifications/progress", "params":
                {"progressToken": request.body["params"]["_meta"]["progressToken"], "progress": 1}});
            let end = result(request, json!({"content": [{"type": "text", "text": "end"}]}));
            Answer::events(&[progress, end], false)
        })
    })
    .await;
    let bench = bench_of(&server).await;
    let mut context = context("ses_1");
    let seen = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&seen);
    context.progress = Arc::new(move |_| {
        count.fetch_add(1, Ordering::SeqCst);
    });
    let tool = bench.tool("s_echo");
    let output = within(tool.call(json!({}), context)).await.unwrap();
    let text = "end".to_owned();
    assert_eq!(output.content, [ToolContent::Text { text }]);
    assert_eq!(seen.load(Ordering::SeqCst), 1);
    bench.servers.close().await;
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
