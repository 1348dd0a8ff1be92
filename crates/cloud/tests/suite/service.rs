//! A service of credentials on loopback.

use std::sync::{Arc, Mutex};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// Answers each request with a text that depends on its first line. Records the heads of the requests.
pub(super) struct Service {
    /// Host and port.
    pub(super) address: String,
    seen: Arc<Mutex<Vec<String>>>,
}

impl Service {
    pub(super) async fn start(answer: fn(&str) -> (u16, String)) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let seen = Arc::new(Mutex::new(Vec::new()));
        let record = Arc::clone(&seen);
        tokio::spawn(async move {
            loop {
                let (mut stream, _) = listener.accept().await.unwrap();
                let head = read_head(&mut stream).await;
                let (status, body) = answer(head.lines().next().unwrap_or_default());
                record.lock().unwrap().push(head);
                let length = body.len();
                let head = format!(
                    "HTTP/1.1 {status} Status\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n"
                );
                // A client that has gone needs no answer.
                let _ = stream.write_all((head + &body).as_bytes()).await;
            }
        });
        Self { address, seen }
    }

    pub(super) fn seen(&self) -> Vec<String> {
        self.seen.lock().unwrap().clone()
    }
}

async fn read_head(stream: &mut TcpStream) -> String {
    let mut bytes = Vec::new();
    while !bytes.windows(4).any(|end| end == b"\r\n\r\n") {
        let mut piece = [0; 4096];
        match stream.read(&mut piece).await {
            Ok(count) if count > 0 => bytes.extend_from_slice(&piece[..count]),
            _ => break,
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
