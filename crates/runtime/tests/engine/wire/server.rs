//! A server that answers by script, with one request per connection.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use opencode_testkit::Gate;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// The handling of one request.
#[derive(Clone)]
pub(super) enum Script {
    /// Sends these bytes and ends the connection.
    Answer(String),
    /// Breaks the connection before any answer.
    HangUp,
    /// Sends these bytes and resets the connection.
    Reset(String),
    /// Sends nothing until the client disconnects, which opens the gate.
    Silence(Gate),
    /// Sends text without end until the client disconnects, which opens the gate.
    Endless(Gate),
}

pub(super) struct Server {
    pub(super) base_url: String,
    requests: Arc<AtomicUsize>,
}

impl Server {
    pub(super) async fn start(scripts: Vec<Script>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base_url = format!("http://{}/v1", listener.local_addr().unwrap());
        let requests = Arc::new(AtomicUsize::new(0));
        let seen = Arc::clone(&requests);
        tokio::spawn(async move {
            for script in scripts {
                let (mut stream, _) = listener.accept().await.unwrap();
                read_request(&mut stream).await;
                seen.fetch_add(1, Ordering::Relaxed);
                answer(stream, script).await;
            }
        });
        Self { base_url, requests }
    }

    pub(super) fn requests(&self) -> usize {
        self.requests.load(Ordering::Relaxed)
    }
}

async fn answer(mut stream: TcpStream, script: Script) {
    match script {
        Script::Answer(bytes) => stream.write_all(bytes.as_bytes()).await.unwrap(),
        Script::HangUp => {}
        Script::Reset(bytes) => {
            stream.write_all(bytes.as_bytes()).await.unwrap();
            stream.set_zero_linger().unwrap();
        }
        Script::Silence(gone) => {
            gone.come();
            // The client has sent its whole request, so this read returns only at the end of the
            // connection.
            let _end = stream.read(&mut [0]).await;
            gone.release();
        }
        Script::Endless(gone) => {
            let piece = format!("{OK}{}", says(&"word ".repeat(1000)));
            let mut written = stream.write_all(piece.as_bytes()).await;
            gone.come();
            while written.is_ok() {
                let piece = says(&"word ".repeat(1000));
                written = stream.write_all(piece.as_bytes()).await;
            }
            gone.release();
        }
    }
}

async fn read_request(stream: &mut TcpStream) {
    let mut bytes = Vec::new();
    loop {
        let mut piece = [0; 4096];
        let count = stream.read(&mut piece).await.unwrap();
        bytes.extend_from_slice(&piece[..count]);
        let text = String::from_utf8_lossy(&bytes);
        let Some((head, body)) = text.split_once("\r\n\r\n") else {
            continue;
        };
        let named = |line: &str| {
            line.to_lowercase()
                .strip_prefix("content-length: ")
                .map(str::to_owned)
        };
        let length = head.lines().find_map(named).unwrap();
        if body.len() >= length.parse::<usize>().unwrap() {
            return;
        }
    }
}

/// The head of an answer that ends with its connection.
pub(super) const OK: &str =
    "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";

/// A frame with a part of the text.
pub(super) fn says(text: &str) -> String {
    let chunk = serde_json::json!({"choices": [{"delta": {"content": text}}]});
    format!("data: {chunk}\n\n")
}

/// A refusal with this status, headers and body.
pub(super) fn refuse(status: u16, headers: &str, body: &str) -> Script {
    Script::Answer(format!(
        "HTTP/1.1 {status} No\r\n{headers}content-length: {}\r\nconnection: close\r\n\r\n{body}",
        body.len()
    ))
}
