//! Clients that are slow, greedy or hostile.

use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::Body;
use axum::routing::get;
use opencode_server::Bounds;

use crate::client::within;
use crate::server::{SOON, Served, Server, patient, unlocked};

const HEALTH: &str = "GET /api/health HTTP/1.1\r\nhost: localhost\r\n\r\n";

#[tokio::test]
async fn an_incomplete_head_times_out() {
    let bounds = Bounds {
        head_timeout: SOON,
        ..patient()
    };
    let served = Served::with(unlocked(), bounds).await;
    for begun in [
        "",
        "GET /api/health HTTP/1.1\r\n",
        "GET /api/health HTTP/1.1\r\nhost: te",
    ] {
        let mut client = served.server.client().await;
        client.write(begun).await.unwrap();
        assert_eq!(client.everything().await, b"", "{begun:?}");
    }
    // An idle connection is closed, too.
    let mut client = served.server.client().await;
    assert_eq!(client.ask("GET", "/api/health", "", "").await.status, 200);
    assert_eq!(client.everything().await, b"");
}

#[tokio::test]
async fn the_size_of_a_head_is_limited() {
    let bounds = Bounds {
        head: 16 * 1024,
        ..patient()
    };
    let served = Served::with(unlocked(), bounds).await;
    for (path, headers, status) in [
        (
            format!("/api/health?{}", "x".repeat(8_000)),
            String::new(),
            200,
        ),
        (
            format!("/api/health?{}", "x".repeat(20_000)),
            String::new(),
            431,
        ),
        (
            "/api/health".into(),
            format!("x: {}\r\n", "x".repeat(20_000)),
            431,
        ),
        ("/api/health".into(), "x: y\r\n".repeat(90), 200),
        ("/api/health".into(), "x: y\r\n".repeat(200), 431),
    ] {
        let reply = served.server.ask("GET", &path, &headers, "").await;
        assert_eq!(reply.status, status, "{} {}", path.len(), headers.len());
    }
    let mut client = served.server.client().await;
    // The connection may be cut before its end, even while the client writes.
    let _ = client
        .write("GET /".to_owned() + &"x".repeat(1 << 20))
        .await;
    let answer = client.everything().await;
    assert!(answer.is_empty() || answer.starts_with(b"HTTP/1.1 431"));
}

#[tokio::test]
async fn invalid_requests_are_refused_without_effect() {
    let served = Served::open(unlocked()).await;
    for nonsense in [
        "\r\n\r\n\r\n\0\0\0",
        "hello\r\n\r\n",
        "GET /api/health HTTP/9.9\r\n\r\n",
        "GET /api health HTTP/1.1\r\n\r\n",
        "GET /api/health HTTP/1.1\r\nbad header: x\r\n\r\n",
        "GET /api/health HTTP/1.1\r\nx: a\0b\r\n\r\n",
        "GET /api/health HTTP/1.1\r\nx\r\n\r\n",
        "POST /api/session HTTP/1.1\r\ncontent-length: -1\r\n\r\n{}",
        "POST /api/session HTTP/1.1\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\n{}",
        "POST /api/session HTTP/1.1\r\ncontent-length: 99999999999999999999\r\n\r\n{}",
        "POST /api/session HTTP/1.1\r\ntransfer-encoding: gzip\r\n\r\n{}",
        "POST /api/session HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n{}\r\n",
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        "\u{16}\u{3}\u{1}\u{2}\0\u{1}\0\u{1}\u{fc}\u{3}\u{3}",
    ] {
        let mut client = served.server.client().await;
        client.write(nonsense).await.unwrap();
        client.half_close().await;
        let answer = String::from_utf8(client.everything().await).unwrap();
        let refused = answer.is_empty() || answer.starts_with("HTTP/1.1 400");
        assert!(refused, "{nonsense:?}: {answer}");
    }
    let listed = served.server.ask("GET", "/api/session", "", "").await;
    assert_eq!(listed.json()["data"], serde_json::json!([]));
}

#[tokio::test]
async fn every_form_of_a_target_is_accepted() {
    let served = Served::open(unlocked()).await;
    for (method, target, status) in [
        ("GET", "http://elsewhere.example/api/health", 200),
        ("GET", "/api/health?x=%zz", 200),
        ("GET", "/%zz", 404),
        ("CONNECT", "elsewhere.example:443", 404),
        ("TRACE", "/api/health", 404),
        ("BREW", "/api/health", 404),
    ] {
        let reply = served.server.ask(method, target, "", "").await;
        assert_eq!(reply.status, status, "{method} {target}");
    }
}

#[tokio::test]
async fn headers_of_an_answer_cannot_be_injected() {
    let served = Served::open(unlocked()).await;
    let evil = "%0d%0aset-cookie:%20a=b%0d%0a%0d%0a<html>";
    for (method, path, headers) in [
        ("GET", format!("/api/session/{evil}"), String::new()),
        ("GET", format!("/{evil}"), String::new()),
        (
            "GET",
            format!("/api/location?location[directory]=/{evil}"),
            String::new(),
        ),
        (
            "GET",
            "/api/location".into(),
            format!("x-opencode-directory: /{evil}\r\n"),
        ),
        (
            "POST",
            "/api/session".into(),
            format!("content-type: a/b{evil}\r\n"),
        ),
        (
            "OPTIONS",
            "/".into(),
            format!("access-control-request-headers: {evil}\r\n"),
        ),
        (
            "GET",
            "/api/health".into(),
            format!("origin: http://localhost:1{evil}\r\n"),
        ),
    ] {
        let reply = served.server.ask(method, &path, &headers, "").await;
        let injected = reply.header("set-cookie");
        assert_eq!(injected, None, "{method} {path} {headers}");
    }
}

#[tokio::test]
async fn pipelined_requests_are_answered_in_order() {
    let (served, session) = Served::with_session(unlocked()).await;
    let mut client = served.server.client().await;
    let prompt = |number: usize| {
        let body = format!(r#"{{"prompt":{{"text":"{number}"}},"resume":false}}"#);
        let length = body.len();
        format!(
            "POST /api/session/{session}/prompt HTTP/1.1\r\nhost: localhost\r\ncontent-length: {length}\r\n\r\n{body}"
        )
    };
    let all: String = (0..50).map(prompt).collect();
    client.write(format!("{all}{HEALTH}")).await.unwrap();
    for number in 0..50 {
        let reply = client.reply().await.json();
        assert_eq!(reply["data"]["prompt"]["text"], number.to_string());
        assert_eq!(reply["data"]["admittedSeq"], number + 1);
    }
    assert_eq!(client.reply().await.text(), r#"{"healthy":true}"#);
}

#[tokio::test]
async fn a_client_that_closes_its_sending_side_is_answered_or_disconnected() {
    let served = Served::open(unlocked()).await;
    let mut client = served.server.client().await;
    client.write(HEALTH).await.unwrap();
    client.half_close().await;
    let answer = String::from_utf8(client.everything().await).unwrap();
    assert!(
        answer.is_empty() || answer.ends_with(r#"{"healthy":true}"#),
        "{answer}"
    );
}

#[tokio::test]
async fn clients_beyond_the_limit_wait_for_a_working_one() {
    let bounds = Bounds {
        connections: 1,
        ..patient()
    };
    let served = Served::with(unlocked(), bounds).await;
    let mut first = served.server.client().await;
    first.request("GET", "/api/event", "", "").await;
    assert_eq!(first.head().await.status, 200);
    let mut second = served.server.client().await;
    second.write(HEALTH).await.unwrap();
    // The first connection keeps its place.
    served.f.session().await;
    assert!(first.chunk().await.unwrap().is_some());
    drop(first);
    assert_eq!(second.reply().await.status, 200);
}

#[tokio::test]
async fn idle_clients_do_not_block_others() {
    let bounds = Bounds {
        connections: 2,
        ..patient()
    };
    let served = Served::with(unlocked(), bounds).await;
    let mut slow = Vec::new();
    for _ in 0..2 {
        let mut client = served.server.client().await;
        client
            .write("GET /api/health HTTP/1.1\r\nx: ")
            .await
            .unwrap();
        slow.push(client);
    }
    let mut third = served.server.client().await;
    assert_eq!(third.ask("GET", "/api/health", "", "").await.status, 200);
    // The oldest connection was closed for it.
    assert_eq!(slow[0].everything().await, b"");
    slow[1].write("y\r\nhost: localhost\r\n\r\n").await.unwrap();
    assert_eq!(slow[1].reply().await.status, 200);
}

#[tokio::test]
async fn a_client_that_does_not_read_its_answer_is_disconnected() {
    let (gone, dropped) = tokio::sync::oneshot::channel::<()>();
    let gone = Arc::new(Mutex::new(Some(gone)));
    let endless = move || {
        let held = gone.lock().unwrap().take();
        async move {
            let piece = vec![0_u8; 64 * 1024];
            Body::from_stream(futures::stream::repeat_with(move || {
                let _ = &held;
                Ok::<_, std::io::Error>(piece.clone())
            }))
        }
    };
    let routes = Router::new().route("/", get(endless));
    let bounds = Bounds {
        answer_timeout: SOON,
        ..patient()
    };
    let server = Server::on(routes, unlocked(), bounds).await;
    let mut client = server.client().await;
    client.request("GET", "/", "", "").await;
    let dropped = within("the answer is given up", dropped).await;
    assert!(dropped.is_err(), "what makes the answer was dropped");
}
