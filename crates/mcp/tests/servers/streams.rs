//! Answers of remote servers over event streams: that of the request, another one, and that of the session.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use opencode_mcp::NoTokens;
use opencode_schema::message::ToolContent;
use parking_lot::Mutex;
use serde_json::{Value, json};

use crate::bench::{call, context, within};
use crate::http_server::{Answer, HttpServer, Request, result, usual};
use crate::remote::{bench_of, started};
use crate::script::tool;

/// The ways of an answer to the host.
const WAYS: [&str; 4] = ["body", "events", "resumed", "session"];

/// Returns events that end the stream. The host asks for more of them soon.
fn part(messages: &[Value]) -> Answer {
    let events = messages
        .iter()
        .map(|message| format!("data: {message}\n\n"));
    let body = format!("id: 1\nretry: 10\n\n{}", events.collect::<String>());
    Answer::body(200, "text/event-stream", body)
}

/// Starts a server that answers the requests of one method in one of the ways.
async fn answering(
    way: &'static str,
    method: &'static str,
    answer: impl Fn(&Request) -> Value + Send + Sync + 'static,
) -> HttpServer {
    // The answers that the event streams have not sent.
    let waiting = Mutex::new(Vec::new());
    HttpServer::start(move |request| match (request.verb.as_str(), way) {
        ("GET", "session") => Some(part(&std::mem::take(&mut *waiting.lock()))),
        ("GET", "resumed") if !request.header("last-event-id").is_empty() => {
            Some(part(&std::mem::take(&mut *waiting.lock())))
        }
        ("POST", _) if request.method() == method => {
            let answer = answer(request);
            Some(match way {
                "body" => Answer::json(&answer),
                "events" => Answer::events(&[answer], false),
                _ => {
                    waiting.lock().push(answer);
                    match way {
                        "resumed" => part(&[]),
                        _ => Answer::status(202),
                    }
                }
            })
        }
        _ => Some(usual(request)),
    })
    .await
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
async fn a_tool_that_works_only_as_a_task_is_left_out_however_its_list_arrives() {
    for way in WAYS {
        let server = answering(way, "tools/list", |request| {
            let mut task = tool("task");
            task["execution"] = json!({"taskSupport": "required"});
            result(request, json!({"tools": [tool("echo"), task]}))
        })
        .await;
        let bench = bench_of(&server).await;
        let tools = bench.servers.tools();
        let names: Vec<_> = tools.iter().map(|it| it.tool.as_str()).collect();
        assert_eq!(names, ["echo"], "{way}");
        let problems = bench.servers.problems();
        let problems: Vec<_> = problems.iter().map(|it| it.message.as_str()).collect();
        let expected = "the tool \"task\" is left out: it works only as a task, which the host does not support";
        assert_eq!(problems, [expected], "{way}");
        bench.servers.close().await;
    }
}

/// The time limit of these calls is longer than that of the test.
#[tokio::test]
async fn an_error_in_any_form_ends_its_call_however_it_arrives() {
    for way in WAYS {
        for error in [
            json!({"id": "$id", "error": {"code": 1, "message": "the reason"}}),
            json!({"id": "$id", "error": {"code": "E", "message": "the reason"}}),
            json!({"id": "$id", "error": "the reason"}),
            json!({"id": null, "error": {"code": 1, "message": "the reason"}}),
            json!({"error": "the reason"}),
        ] {
            let sent = error.clone();
            let server = answering(way, "tools/call", move |request| {
                let mut sent = sent.clone();
                if sent["id"] == "$id" {
                    sent["id"] = request.body["id"].clone();
                }
                sent
            })
            .await;
            let bench = bench_of(&server).await;
            let failed = call(&bench.tool("s_echo"), json!({})).await;
            let failed = failed.unwrap_err().to_string();
            assert_eq!(failed, "the reason", "{way} {error}");
            bench.servers.close().await;
        }
    }
}

#[tokio::test]
async fn an_answer_to_another_call_ends_that_call() {
    let first = Mutex::new(Value::Null);
    let server = HttpServer::start(move |request| {
        if request.method() != "tools/call" {
            return None;
        }
        let mut answer = request.body["params"]["arguments"]["answer"].clone();
        if answer.is_null() {
            *first.lock() = request.body["id"].clone();
            return Some(Answer::events(&[], true));
        }
        answer["id"] = first.lock().clone();
        Some(Answer::events(&[answer], true))
    })
    .await;
    let bench = bench_of(&server).await;
    let tool = bench.tool("s_echo");
    for (answer, expected) in [
        // The library would not keep a result like this.
        (json!({"result": {"content": "the text"}}), "the text"),
        (
            json!({"error": {"code": 1, "message": "the reason"}}),
            "the reason",
        ),
        (json!({"error": "the reason"}), "the reason"),
    ] {
        let running = tokio::spawn({
            let tool = Arc::clone(&tool);
            async move { tool.call(json!({}), context("ses_1")).await }
        });
        let calls = server.with_method("tools/call").len();
        within(async {
            while server.with_method("tools/call").len() == calls {
                tokio::task::yield_now().await;
            }
        })
        .await;
        let second = call(&tool, json!({ "answer": answer })).await;
        let ended = format!("{:?}", within(running).await.unwrap());
        assert!(ended.contains(expected), "{answer}: {ended}");
        // The library reads no more of a stream after an answer.
        let second = second.unwrap_err().to_string();
        assert_eq!(second, "Connection closed", "{answer}");
    }
    bench.servers.close().await;
}

/// The time limit of these calls is longer than that of the test.
#[tokio::test]
async fn an_answer_that_cannot_be_read_ends_its_call() {
    let deep = "[".repeat(10_000) + &"]".repeat(10_000);
    for member in [
        format!("\"result\":{{\"content\":{deep}}}"),
        r#""result":{"content":1e999}"#.to_owned(),
        r#""error":{"code":1e999,"message":"no"}"#.to_owned(),
    ] {
        for way in ["body", "events", "session"] {
            let member = member.clone();
            let waiting = Mutex::new(String::new());
            let server = HttpServer::start(move |request| {
                let events = |text: &str| {
                    let body = format!("retry: 10\n\n{text}");
                    Answer::body(200, "text/event-stream", body)
                };
                if request.verb == "GET" && way == "session" {
                    return Some(events(&std::mem::take(&mut *waiting.lock())));
                }
                if request.method() != "tools/call" {
                    return None;
                }
                let id = &request.body["id"];
                let message = format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},{member}}}");
                let event = format!("data: {message}\n\n");
                Some(match way {
                    "body" => Answer::body(200, "application/json", message),
                    "events" => events(&event),
                    _ => {
                        *waiting.lock() = event;
                        Answer::status(202)
                    }
                })
            })
            .await;
            let bench = bench_of(&server).await;
            let failed = call(&bench.tool("s_echo"), json!({})).await;
            let failed = failed.unwrap_err().to_string();
            let expected = "The answer of the server cannot be read: ";
            assert!(failed.starts_with(expected), "{way}: {failed}");
            bench.servers.close().await;
        }
    }
}

#[tokio::test]
async fn an_answer_without_an_end_fails_its_call_at_the_limit() {
    let server = HttpServer::start(|request| {
        let case = request.body["params"]["arguments"]["case"].as_u64()?;
        let status = u16::try_from(case).unwrap();
        Some(Answer::body(status, "application/json", "{").open())
    })
    .await;
    let mut config = server.config(&[], true);
    config.timeouts.request = Duration::from_millis(300);
    let bench = started(config, Arc::new(NoTokens)).await;
    let tool = bench.tool("s_echo");
    for case in [200, 400, 404, 401, 503] {
        // There are more calls than the host sends at the same time.
        let calls = (0..70).map(|_| call(&tool, json!({ "case": case })));
        for failed in futures::future::join_all(calls).await {
            let failed = failed.unwrap_err().to_string();
            let expected = "The server did not answer within 0.3 seconds.";
            assert_eq!(failed, expected, "{case}");
        }
    }
    call(&tool, json!({})).await.unwrap();
    bench.servers.close().await;
}

#[tokio::test]
async fn a_stream_that_breaks_can_still_answer() {
    let (streams, waiting) = (AtomicUsize::new(0), Mutex::new(String::new()));
    let server = HttpServer::start(move |request| match request.verb.as_str() {
        "GET" => {
            let answers = std::mem::take(&mut *waiting.lock());
            let is_first = streams.fetch_add(1, Ordering::SeqCst) == 0;
            Some(match is_first || !answers.is_empty() {
                // The stream has no event id to resume from.
                true => Answer::body(200, "text/event-stream", format!("retry: 10\n\n{answers}")),
                false => Answer::status(503),
            })
        }
        _ if request.method() == "tools/call" => {
            let answer = result(request, json!({"content": []}));
            *waiting.lock() = format!("data: {answer}\n\n");
            Some(Answer::status(202))
        }
        _ => None,
    })
    .await;
    let bench = bench_of(&server).await;
    let refused = || {
        server
            .requests
            .lock()
            .iter()
            .filter(|it| it.verb == "GET")
            .count()
            > 1
    };
    within(async {
        while !refused() {
            tokio::task::yield_now().await;
        }
    })
    .await;
    call(&bench.tool("s_echo"), json!({})).await.unwrap();
    bench.servers.close().await;
}
