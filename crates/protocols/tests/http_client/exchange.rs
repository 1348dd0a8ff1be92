//! Successful exchanges.

use std::time::Duration;

use opencode_llm::Auth;
use opencode_secrets::Secret;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::sync::{mpsc, oneshot};

use super::server::{Server, chunked, ok, read_request};
use super::*;

#[tokio::test]
async fn a_reply_is_read_and_the_request_is_complete() {
    let server = Server::start(vec![ok(&format!("{HELLO}{STOP}{DONE}"))]).await;
    let mut request = request(&server.base_url, |model| {
        model.auth = Auth::Bearer(Secret::new("sk-1234"));
        model.endpoint.query = vec![("api-version".into(), "v 1".into())];
        model.headers = vec![
            ("x-title".into(), "model".into()),
            ("x-kept".into(), "yes".into()),
        ];
    });
    request.http.headers = vec![
        ("X-Title".into(), "request".into()),
        ("authorization".into(), "no".into()),
    ];
    request.http.query = vec![("extra".into(), "1".into())];
    let (events, error) = outcome(request).await;
    assert_eq!(error, None);
    assert!(says_hi(&events));

    let seen = server.seen.lock().unwrap();
    let head = seen[0].head.to_lowercase();
    assert!(head.starts_with("post /v1/chat/completions?api-version=v+1&extra=1 http/1.1\r\n"));
    for header in [
        "content-type: application/json",
        "x-title: request",
        "x-kept: yes",
        "authorization: bearer sk-1234",
    ] {
        assert_eq!(head.matches(header).count(), 1, "{header} in {head}");
    }
    assert_eq!(
        seen[0].body,
        json!({"model": "m1", "messages": [{"role": "user", "content": "hi"}],
            "stream": true, "stream_options": {"include_usage": true}})
    );
}

#[tokio::test]
async fn a_header_may_contain_the_credential() {
    let server = Server::start(vec![ok(&format!("{HELLO}{STOP}{DONE}"))]).await;
    let request = request(&server.base_url, |model| {
        model.auth = Auth::Header {
            name: "api-key".into(),
            secret: Secret::new("key-1234"),
        };
    });
    assert!(says_hi(&outcome(request).await.0));
    let head = server.seen.lock().unwrap()[0].head.to_lowercase();
    assert!(head.contains("api-key: key-1234") && !head.contains("authorization"));
}

#[tokio::test]
async fn a_connection_is_used_for_several_turns() {
    let reply = || chunked(&[HELLO, STOP, DONE]);
    let server = Server::start(vec![reply(), reply(), reply()]).await;
    let client = HttpModelClient::new(options());
    for _ in 0..3 {
        let items: Vec<Item> = client
            .stream(request(&server.base_url, |_| {}))
            .collect()
            .await;
        assert!(says_hi(
            &items
                .into_iter()
                .flat_map(Result::unwrap)
                .collect::<Vec<_>>()
        ));
    }
    let connections: Vec<usize> = server
        .seen
        .lock()
        .unwrap()
        .iter()
        .map(|seen| seen.connection)
        .collect();
    assert_eq!(connections, [0, 0, 0]);
}

#[tokio::test]
async fn dropping_the_stream_closes_the_connection() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base_url = format!("http://{}/v1", listener.local_addr().unwrap());
    let (closed, noticed) = oneshot::channel();
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        read_request(&mut stream).await;
        stream.write_all(ok(HELLO).as_bytes()).await.unwrap();
        let rest = stream.read(&mut [0; 16]).await;
        let _ = closed.send(matches!(rest, Ok(0) | Err(_)));
    });
    let mut stream = HttpModelClient::new(options()).stream(request(&base_url, |_| {}));
    assert_eq!(stream.next().await.unwrap().unwrap().len(), 3);
    drop(stream);
    assert!(noticed.await.unwrap());
}

#[tokio::test]
async fn each_piece_of_the_body_is_one_batch() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base_url = format!("http://{}/v1", listener.local_addr().unwrap());
    let (send, mut pieces) = mpsc::unbounded_channel::<String>();
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        read_request(&mut stream).await;
        while let Some(piece) = pieces.recv().await {
            stream.write_all(piece.as_bytes()).await.unwrap();
        }
    });
    let mut stream = HttpModelClient::new(options()).stream(request(&base_url, |_| {}));
    let write = |piece: &str| send.send(piece.to_owned()).unwrap();
    write(&ok(HELLO));
    assert_eq!(stream.next().await.unwrap().unwrap().len(), 3);
    write(HELLO);
    assert_eq!(stream.next().await.unwrap().unwrap().len(), 1);
    // A comment and an incomplete frame produce no events, so they result in no batch.
    write(": ping\n\n");
    let (half, rest) = STOP.split_at(20);
    write(half);
    write(rest);
    write(DONE);
    drop(send);
    assert_eq!(stream.next().await.unwrap().unwrap().len(), 3);
    assert!(stream.next().await.is_none());
}

#[tokio::test(start_paused = true)]
async fn a_server_that_stays_silent_behind_the_reason_has_answered() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base_url = format!("http://{}/v1", listener.local_addr().unwrap());
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        read_request(&mut stream).await;
        let answer = ok(&format!("{HELLO}{STOP}"));
        stream.write_all(answer.as_bytes()).await.unwrap();
        // Signs of life are no output.
        while stream.write_all(b": ping\n\n").await.is_ok() {
            tokio::time::sleep(Duration::from_secs(10)).await;
        }
    });
    let (events, error) = outcome(request(&base_url, |_| {})).await;
    assert_eq!(error, None);
    assert!(says_hi(&events));
}
