//! Bodies that are too large, too slow, too many, or broken off.

use opencode_server::{Bounds, ListenOptions};
use serde_json::{Value, json};

use crate::client::within;
use crate::server::{JSON, SOON, Served, patient, unlocked};

const MOST: u64 = 4096;

fn options() -> ListenOptions {
    ListenOptions {
        max_body_bytes: MOST,
        ..unlocked()
    }
}

/// A body that creates a session, padded to this length with an ignored field.
fn padded(length: usize) -> String {
    let bare = r#"{"x":""}"#.len();
    format!(r#"{{"x":"{}"}}"#, "x".repeat(length - bare))
}

fn unreadable(status: u16, reason: &str) -> (u16, Value) {
    let message = format!("The body cannot be read: {reason}");
    let body = json!({"_tag": "InvalidRequestError", "message": message, "kind": "Payload"});
    (status, body)
}

fn too_large() -> (u16, Value) {
    let reason = "it is larger than 4096 bytes, which is the most that is accepted here";
    unreadable(413, reason)
}

/// The same body as one chunk or as several.
fn chunked(body: &str, size: usize) -> String {
    let chunks = body.as_bytes().chunks(size);
    let chunk = |it: &[u8]| format!("{:x}\r\n{}\r\n", it.len(), std::str::from_utf8(it).unwrap());
    chunks.map(chunk).chain(["0\r\n\r\n".into()]).collect()
}

const CHUNKED: &str =
    "POST /api/session HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n\r\n";

#[tokio::test]
async fn a_body_up_to_the_limit_is_accepted() {
    let served = Served::open(options()).await;
    let most = MOST as usize;
    let mut client = served.server.client().await;
    for (length, fits) in [
        (most, true),
        (most + 1, false),
        (1 << 20, false),
        (most, true),
    ] {
        let body = padded(length);
        let reply = client.ask("POST", "/api/session", JSON, &body).await;
        match fits {
            true => assert_eq!(reply.status, 200, "{length}: {reply:?}"),
            false => assert_eq!(reply.status_and_json(), too_large(), "{length}"),
        }
        client.write(CHUNKED).await.unwrap();
        client.write(chunked(&body, 1000)).await.unwrap();
        let reply = client.reply().await;
        match fits {
            true => assert_eq!(reply.status, 200, "{length}: {reply:?}"),
            false => assert_eq!(reply.status_and_json(), too_large(), "{length}"),
        }
    }
}

#[tokio::test]
async fn the_size_is_checked_in_its_turn() {
    let (served, session) = Served::with_session(options()).await;
    let body = padded(MOST as usize + 1);
    for (path, headers, status) in [
        ("/api/session/ses_nope/prompt".to_owned(), JSON, 404),
        ("/api/session/foo/prompt".into(), JSON, 400),
        ("/api/nothing".into(), JSON, 404),
        (
            format!("/api/session/{session}/prompt"),
            "content-type: text/plain\r\n",
            415,
        ),
        (format!("/api/session/{session}/prompt"), JSON, 413),
        // These bodies are not read.
        (format!("/api/session/{session}/interrupt"), JSON, 204),
    ] {
        let reply = served.server.ask("POST", &path, headers, &body).await;
        assert_eq!(reply.status, status, "{path}: {reply:?}");
    }
    let lines = "content-type: application/x-ndjson\r\n";
    let reply = served
        .server
        .ask("POST", "/api/session/import", lines, &body)
        .await;
    assert_eq!(reply.status, 413, "{reply:?}");
    let kind = reply.json()["kind"].clone();
    assert_eq!(kind, json!("Payload"));
}

#[tokio::test]
async fn a_client_that_continues_to_send_still_receives_its_answer() {
    let served = Served::open(options()).await;
    let mut client = served.server.client().await;
    let body = padded(8 << 20);
    let reply = client.ask("POST", "/api/session", JSON, &body).await;
    assert_eq!(reply.status_and_json(), too_large());
    // The listener drops the rest of the body and keeps the connection.
    let reply = client.ask("GET", "/api/health", "", "").await;
    assert_eq!(reply.status, 200);
}

#[tokio::test]
async fn a_client_that_expects_continue_sends_no_refused_body() {
    let served = Served::open(options()).await;
    let mut client = served.server.client().await;
    let head = |length: u64| {
        format!(
            "POST /api/session HTTP/1.1\r\nhost: localhost\r\nexpect: 100-continue\r\ncontent-length: {length}\r\n\r\n"
        )
    };
    client.write(head(2)).await.unwrap();
    assert_eq!(client.head().await.status, 100);
    client.write("{}").await.unwrap();
    assert_eq!(client.reply().await.status, 200);
    client.write(head(MOST + 1)).await.unwrap();
    assert_eq!(client.reply().await.status_and_json(), too_large());
    assert_eq!(client.everything().await, b"");
}

#[tokio::test]
async fn a_body_that_stops_is_cancelled() {
    let bounds = Bounds {
        body_timeout: SOON,
        ..patient()
    };
    let served = Served::with(options(), bounds).await;
    let mut client = served.server.client().await;
    let head = "POST /api/session HTTP/1.1\r\nhost: localhost\r\ncontent-length: 10\r\n\r\n{";
    client.write(head).await.unwrap();
    let expected = unreadable(408, "nothing more of it came for 50ms");
    assert_eq!(client.reply().await.status_and_json(), expected);
}

#[tokio::test]
async fn an_incomplete_body_is_discarded() {
    let served = Served::open(options()).await;
    let mut client = served.server.client().await;
    let head = "POST /api/session HTTP/1.1\r\nhost: localhost\r\ncontent-length: 10\r\n\r\n{";
    client.write(head).await.unwrap();
    client.half_close().await;
    let left = client.everything().await;
    assert!(
        left.is_empty() || left.starts_with(b"HTTP/1.1 400"),
        "{left:?}"
    );
    let listed = served.server.ask("GET", "/api/session", "", "").await;
    assert_eq!(listed.json()["data"], json!([]));
}

#[tokio::test]
async fn the_number_of_large_bodies_in_memory_is_bounded() {
    let served = Served::open(options()).await;
    let body = padded(MOST as usize);
    let begun = &body[..body.len() - 1];
    let head = format!(
        "POST /api/session HTTP/1.1\r\nhost: localhost\r\ncontent-length: {MOST}\r\n\r\n{begun}"
    );
    // Four bodies, each one byte short, almost reach the total limit.
    let mut waiting = Vec::new();
    for _ in 0..4 {
        let mut client = served.server.client().await;
        client.write(&head).await.unwrap();
        waiting.push(client);
    }
    let crowded = json!({
        "_tag": "ServiceUnavailableError",
        "message": "The body cannot be read: too many large bodies arrive at once; try again later",
    });
    // The bodies may not have been read yet; the refusal follows the reading.
    let refused = async {
        loop {
            let reply = served
                .server
                .ask("POST", "/api/session", JSON, &padded(64))
                .await;
            if reply.status != 200 {
                return reply.status_and_json();
            }
        }
    };
    assert_eq!(within("a refusal", refused).await, (503, crowded));
    // A small body still fits. A larger one fits when one of the four has ended.
    let mut last = waiting.pop().unwrap();
    last.write(&body[body.len() - 1..]).await.unwrap();
    assert_eq!(last.reply().await.status, 200);
    let reply = served
        .server
        .ask("POST", "/api/session", JSON, &padded(64))
        .await;
    assert_eq!(reply.status, 200);
}
