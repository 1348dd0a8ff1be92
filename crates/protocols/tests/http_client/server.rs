//! The scripted server.

use std::sync::{Arc, Mutex};

use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// One request as the server received it.
pub(super) struct Seen {
    pub(super) connection: usize,
    pub(super) head: String,
    pub(super) body: Value,
}

pub(super) struct Server {
    pub(super) base_url: String,
    pub(super) seen: Arc<Mutex<Vec<Seen>>>,
}

impl Server {
    /// Answers each request with the next script. Closes the connection if a script does not announce its length.
    pub(super) async fn start(scripts: Vec<String>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base_url = format!("http://{}/v1/", listener.local_addr().unwrap());
        let seen = Arc::new(Mutex::new(Vec::new()));
        let record = Arc::clone(&seen);
        tokio::spawn(async move {
            let mut scripts = scripts.into_iter();
            for connection in 0.. {
                let (mut stream, _) = listener.accept().await.unwrap();
                while let Some((head, body)) = read_request(&mut stream).await {
                    record.lock().unwrap().push(Seen {
                        connection,
                        head,
                        body,
                    });
                    let script = scripts.next().expect("no more requests were expected");
                    stream.write_all(script.as_bytes()).await.unwrap();
                    if !script.contains("chunked") {
                        break;
                    }
                }
            }
        });
        Self { base_url, seen }
    }

    pub(super) fn requests(&self) -> usize {
        self.seen.lock().unwrap().len()
    }
}

pub(super) async fn read_request(stream: &mut TcpStream) -> Option<(String, Value)> {
    let mut bytes = Vec::new();
    loop {
        let mut piece = [0; 4096];
        let count = stream
            .read(&mut piece)
            .await
            .ok()
            .filter(|count| *count > 0)?;
        bytes.extend_from_slice(&piece[..count]);
        let text = String::from_utf8_lossy(&bytes);
        let Some((head, body)) = text.split_once("\r\n\r\n") else {
            continue;
        };
        let length: usize = head
            .lines()
            .find_map(|line| {
                line.to_lowercase()
                    .strip_prefix("content-length: ")
                    .map(str::to_owned)
            })?
            .parse()
            .ok()?;
        if body.len() >= length {
            return Some((head.to_owned(), serde_json::from_str(body).unwrap()));
        }
    }
}

pub(super) fn ok(body: &str) -> String {
    format!("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n{body}")
}

pub(super) fn chunked(pieces: &[&str]) -> String {
    let body: String = pieces
        .iter()
        .map(|piece| format!("{:x}\r\n{piece}\r\n", piece.len()))
        .collect();
    format!("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n{body}0\r\n\r\n")
}

pub(super) fn refuse(status: u16, headers: &str, body: &str) -> String {
    format!(
        "HTTP/1.1 {status} No\r\n{headers}content-length: {}\r\nconnection: close\r\n\r\n{body}",
        body.len()
    )
}
