//! Requests to servers on this machine.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::time::Duration;

use http::{HeaderMap, StatusCode, header};
use opencode_net::{DownloadError, Fetch, HttpDownloads, HttpRequest, HttpResponse, Proxies, Web};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;
use url::Url;

const LIMIT: usize = 64 * 1024;

async fn listen() -> (TcpListener, Url) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}/a?b=c", listener.local_addr().unwrap());
    (listener, Url::parse(&address).unwrap())
}

fn get(address: Url) -> HttpRequest {
    HttpRequest {
        address,
        headers: HeaderMap::new(),
        post: None,
        limit: LIMIT,
    }
}

async fn send(request: HttpRequest) -> Result<HttpResponse, String> {
    let web = HttpDownloads::new(Proxies::default());
    let sent = tokio::time::timeout(Duration::from_secs(30), web.send(request)).await;
    sent.unwrap().map_err(|error| error.to_string())
}

/// A connection and the head of the request on it.
async fn asked(listener: &TcpListener) -> (TcpStream, String) {
    let (mut stream, _) = listener.accept().await.unwrap();
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.unwrap());
    }
    (stream, String::from_utf8(head).unwrap())
}

/// Returns the result for this answer: its status, and its body or the failure.
async fn answered(head: &str, body: &[u8]) -> Result<(u16, Vec<u8>), String> {
    let (listener, address) = listen().await;
    let answer = [format!("HTTP/1.1 {head}\r\n\r\n").as_bytes(), body].concat();
    tokio::spawn(async move {
        let (mut stream, _) = asked(&listener).await;
        // The write fails if the client closed the connection early.
        let _ = stream.write_all(&answer).await;
    });
    let response = send(get(address)).await?;
    Ok((response.status.as_u16(), response.body))
}

#[tokio::test]
async fn every_status_is_returned_and_only_a_success_has_a_body() {
    let letters = vec![b'a'; LIMIT];
    let gzip: &[u8] = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\x2b\x2d\x4e\x55\x28\x49\
      \x4c\x2a\x06\x00\xb9\x84\x65\xf6\x08\x00\x00\x00";
    let empty = Vec::new;
    for (head, body, expected) in [
        (
            "200 OK\r\ncontent-length: 2",
            &b"ab"[..],
            (200, b"ab".to_vec()),
        ),
        (
            "206 Partial\r\nconnection: close",
            b"ab",
            (206, b"ab".to_vec()),
        ),
        (
            "200 OK\r\ntransfer-encoding: chunked",
            b"1\r\na\r\n1\r\nb\r\n0\r\n\r\n",
            (200, b"ab".to_vec()),
        ),
        (
            "200 OK\r\ncontent-encoding: gzip\r\nconnection: close",
            gzip,
            (200, b"use tabs".to_vec()),
        ),
        (
            "200 OK\r\nconnection: close",
            &letters,
            (200, letters.clone()),
        ),
        ("204 No Content", b"", (204, empty())),
        ("404 Not Found\r\ncontent-length: 2", b"ab", (404, empty())),
        // The answer announces more than it sends, which has no effect on the result.
        ("403 No\r\ncontent-length: 1000000", b"", (403, empty())),
        (
            "302 Found\r\nlocation: /loop\r\ncontent-length: 0",
            b"",
            (302, empty()),
        ),
    ] {
        assert_eq!(answered(head, body).await, Ok(expected), "{head}");
    }
}

#[tokio::test]
async fn a_large_or_incomplete_answer_is_a_failure() {
    let large = vec![b'a'; LIMIT + 1];
    let too_large = "the answer is larger than 65536 bytes";
    for (head, body, expected) in [
        // None of it is sent.
        ("200 OK\r\ncontent-length: 65537", &b""[..], too_large),
        ("200 OK\r\nconnection: close", &large, too_large),
        (
            "200 OK\r\ncontent-length: 3",
            b"ab",
            "the request failed: end of file before message length reached",
        ),
        (
            "200 OK\r\ntransfer-encoding: chunked",
            b"2\r\na",
            "the request failed: end of file before message length reached",
        ),
        (
            "200 OK\r\ncontent-encoding: gzip\r\nconnection: close",
            b"ab",
            "the request failed: invalid gzip header",
        ),
    ] {
        let expected = Err(expected.to_owned());
        assert_eq!(answered(head, body).await, expected, "{head}");
    }
    let (listener, address) = listen().await;
    drop(listener);
    let gone = send(get(address)).await.unwrap_err();
    assert!(gone.starts_with("the request failed: "), "{gone}");
    assert!(!gone.contains("b=c"), "{gone}");
}

#[tokio::test]
async fn a_request_has_the_documented_form() {
    let (listener, address) = listen().await;
    let request = HttpRequest {
        headers: HeaderMap::from_iter([
            (header::ACCEPT, "text/plain".parse().unwrap()),
            (header::AUTHORIZATION, "Bearer k".parse().unwrap()),
        ]),
        post: Some(b"body".to_vec()),
        ..get(address.clone())
    };
    let server = tokio::spawn(async move {
        let (mut stream, head) = asked(&listener).await;
        let mut body = [0; 4];
        stream.read_exact(&mut body).await.unwrap();
        let answer = b"HTTP/1.1 200 OK\r\nx-a: 1\r\ncontent-length: 0\r\n\r\n";
        stream.write_all(answer).await.unwrap();
        (head, body)
    });
    let response = send(request).await.unwrap();
    assert_eq!(
        (response.status, &response.headers["x-a"]),
        (StatusCode::OK, &"1".parse().unwrap())
    );
    let (head, body) = server.await.unwrap();
    let authority = address.authority();
    let mut lines: Vec<_> = head.trim().split("\r\n").collect();
    lines[1..].sort_unstable();
    assert_eq!(
        lines,
        [
            "POST /a?b=c HTTP/1.1",
            "accept-encoding: gzip",
            "accept: text/plain",
            "authorization: Bearer k",
            "content-length: 4",
            &format!("host: {authority}"),
        ]
    );
    assert_eq!(&body, b"body");
}

/// A caller that waits no longer leaves no connection behind.
#[tokio::test]
async fn dropping_a_request_closes_its_connection() {
    let (listener, address) = listen().await;
    let (slow, is_slow) = oneshot::channel();
    let server = tokio::spawn(async move {
        let (mut stream, _) = asked(&listener).await;
        let head = b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\nand then";
        stream.write_all(head).await.unwrap();
        slow.send(()).unwrap();
        // It ends when the client does.
        stream.read(&mut [0]).await.map_or(0, |count| count)
    });
    let web = HttpDownloads::new(Proxies::default());
    tokio::select! {
        _ = web.send(get(address)) => panic!("the answer does not end"),
        sent = is_slow => sent.unwrap(),
    }
    let ended = tokio::time::timeout(Duration::from_secs(30), server).await;
    assert_eq!(ended.unwrap().unwrap(), 0);
}

#[tokio::test]
async fn texts_are_fetched_over_http_and_failures_are_reported() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}/rules.md", listener.local_addr().unwrap());
    let address = Url::parse(&address).unwrap();
    tokio::spawn(async move {
        for answer in ["200 OK\r\ncontent-length: 5\r\n\r\nrules", "404 No\r\n\r\n"] {
            let (mut stream, _) = listener.accept().await.unwrap();
            stream.read_u8().await.unwrap();
            let answer = format!("HTTP/1.1 {answer}");
            stream.write_all(answer.as_bytes()).await.unwrap();
        }
    });
    let fetch = HttpDownloads::new(Proxies::default());
    let there = fetch.fetch(address.clone(), 5).await;
    let gone = fetch.fetch(address, 5).await;
    let missing = DownloadError("the server answers 404 Not Found".to_owned());
    assert_eq!([there, gone], [Ok(b"rules".to_vec()), Err(missing)]);
}
