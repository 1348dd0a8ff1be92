//! Downloads from a server that violates its announcements.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use opencode_net::{DownloadError, HttpDownloads, Proxies};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;
use url::Url;

const LIMIT: usize = 64 * 1024;

/// Downloads from a server that answers one request with these bytes and closes the connection.
async fn get(answer: impl Into<Vec<u8>>) -> Result<String, String> {
    let (address, listener) = listen().await;
    let answer = answer.into();
    tokio::spawn(async move {
        let mut stream = asked(&listener).await;
        // The client may close the connection before the end of the answer.
        let _ = stream.write_all(&answer).await;
    });
    text(download(&address).await)
}

async fn listen() -> (SocketAddr, TcpListener) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    (listener.local_addr().unwrap(), listener)
}

/// Accepts a connection and reads the head of its request.
async fn asked(listener: &TcpListener) -> TcpStream {
    let (mut stream, _) = listener.accept().await.unwrap();
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.unwrap());
    }
    assert!(head.starts_with(b"GET /rules.md?token=secret HTTP/1.1\r\n"));
    stream
}

async fn download(address: &SocketAddr) -> Result<Vec<u8>, DownloadError> {
    let address = format!("http://{address}/rules.md?token=secret");
    let address = Url::parse(&address).unwrap();
    let downloads = HttpDownloads::new(Proxies::default());
    let getting = downloads.get(&address, LIMIT);
    let deadline = std::time::Duration::from_secs(30);
    tokio::time::timeout(deadline, getting).await.unwrap()
}

fn text(body: Result<Vec<u8>, DownloadError>) -> Result<String, String> {
    let body = body.map_err(|error| error.to_string())?;
    Ok(String::from_utf8(body).unwrap())
}

fn answer(head: &str, body: &[u8]) -> Vec<u8> {
    [format!("HTTP/1.1 {head}\r\n\r\n").as_bytes(), body].concat()
}

#[tokio::test]
async fn a_body_is_read_for_every_kind_of_end() {
    let compressed =
        b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\x2b\x2d\x4e\x55\x28\x49\x4c\x2a\x06\x00\
      \xb9\x84\x65\xf6\x08\x00\x00\x00";
    let gzip = format!(
        "200 OK\r\ncontent-encoding: gzip\r\ncontent-length: {}",
        compressed.len()
    );
    for bytes in [
        answer("200 OK\r\ncontent-length: 8", b"use tabs"),
        answer(
            "200 OK\r\ntransfer-encoding: chunked",
            b"4\r\nuse \r\n4\r\ntabs\r\n0\r\n\r\n",
        ),
        answer("200 OK\r\nconnection: close", b"use tabs"),
        answer(&gzip, compressed),
        // The announced length determines the body. Further bytes belong to no answer.
        answer("200 OK\r\ncontent-length: 8", b"use tabs and spaces"),
    ] {
        assert_eq!(get(bytes).await, Ok("use tabs".to_owned()));
    }
}

#[tokio::test]
async fn incomplete_binary_and_large_bodies_are_refused() {
    let large = vec![b'a'; LIMIT + 1];
    let fits = get(answer("200 OK\r\nconnection: close", &large[1..])).await;
    assert_eq!(fits.map(|body| body.len()), Ok(LIMIT));
    // A compressed body of two hundred thousand letters.
    let bomb = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\xed\xc1\x31\x01\x00\x00\x00\xc2\xa0\xac\
      \xeb\x5f\xc2\x0c\xfe\x40\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\
      \x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\
      \x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\
      \x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\
      \x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\
      \x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\
      \x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\
      \x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\
      \x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\
      \x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\
      \xaf\x01\x9b\x53\x69\xe0\x40\x0d\x03\x00";
    let too_large = "the answer is larger than 65536 bytes";
    for (bytes, expected) in [
        (answer("200 OK\r\ncontent-length: 65537", &large), too_large),
        (answer("200 OK\r\nconnection: close", &large), too_large),
        (
            answer(
                "200 OK\r\ncontent-encoding: gzip\r\nconnection: close",
                bomb,
            ),
            too_large,
        ),
        (
            answer("200 OK\r\ncontent-length: 9", b"use tabs"),
            "the request failed: end of file before message length reached",
        ),
        (
            answer("404 Not Found\r\ncontent-length: 0", b""),
            "the server answers 404 Not Found",
        ),
        (
            answer("500 Internal Server Error\r\ncontent-length: 1000000", b""),
            "the server answers 500 Internal Server Error",
        ),
        (
            answer("304 Not Modified", b""),
            "the server answers 304 Not Modified",
        ),
        (
            b"nonsense".to_vec(),
            "the request failed: invalid HTTP version parsed",
        ),
        (
            Vec::new(),
            "the request failed: connection closed before message completed",
        ),
    ] {
        assert_eq!(get(bytes).await, Err(expected.to_owned()));
    }
}

#[tokio::test]
async fn an_endless_body_is_cancelled() {
    let (address, listener) = listen().await;
    let (left, noticed) = oneshot::channel();
    tokio::spawn(async move {
        let mut stream = asked(&listener).await;
        let head = answer("200 OK\r\nconnection: close", b"");
        stream.write_all(&head).await.unwrap();
        while stream.write_all(&[b'a'; 4096]).await.is_ok() {}
        left.send(()).unwrap();
    });
    let body = text(download(&address).await);
    assert_eq!(
        body,
        Err("the answer is larger than 65536 bytes".to_owned())
    );
    noticed.await.unwrap();
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let (elsewhere, other) = listen().await;
    let connections = Arc::new(Mutex::new(0));
    let counted = Arc::clone(&connections);
    tokio::spawn(async move {
        while other.accept().await.is_ok() {
            *counted.lock().unwrap() += 1;
        }
    });
    for status in [
        "301 Moved Permanently",
        "302 Found",
        "307 Temporary Redirect",
    ] {
        let head = format!("{status}\r\nlocation: http://{elsewhere}/\r\ncontent-length: 0");
        assert_eq!(
            get(answer(&head, b"")).await,
            Err(
                "the server redirects to another address, which is not followed; name the final \
                 address instead"
                    .to_owned()
            )
        );
    }
    assert_eq!(*connections.lock().unwrap(), 0);
}

#[tokio::test]
async fn an_unreachable_server_is_reported() {
    let (address, listener) = listen().await;
    drop(listener);
    let failure = text(download(&address).await).unwrap_err();
    let expected = "the request failed: connection refused";
    if cfg!(target_os = "linux") {
        assert_eq!(failure, expected);
    }
}
