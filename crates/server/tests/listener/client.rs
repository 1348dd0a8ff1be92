//! An HTTP client that writes exactly the bytes of the test.

use std::io;
use std::time::Duration;

use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// Maximum time of any wait. Much longer than necessary, because machines are busy.
const DEADLINE: Duration = Duration::from_secs(30);

pub(crate) async fn within<T>(what: &str, wait: impl Future<Output = T>) -> T {
    let waited = tokio::time::timeout(DEADLINE, wait).await;
    waited.unwrap_or_else(|_| panic!("not within {DEADLINE:?}: {what}"))
}

/// One connection.
pub(crate) struct Client {
    stream: TcpStream,
    /// Received bytes that are not read yet.
    arrived: Vec<u8>,
}

/// An answer whose body is read.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Reply {
    /// The values of a header, as a browser joins them.
    pub(crate) fn header(&self, name: &str) -> Option<String> {
        let named = self.headers.iter().filter(|(other, _)| other == name);
        let values: Vec<_> = named.map(|(_, value)| value.as_str()).collect();
        (!values.is_empty()).then(|| values.join(", "))
    }

    pub(crate) fn text(&self) -> &str {
        std::str::from_utf8(&self.body).unwrap()
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(self.text()).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// Status and body in one value.
    pub(crate) fn status_and_json(&self) -> (u16, Value) {
        (self.status, self.json())
    }
}

impl Client {
    /// Connects to a URL of a listener.
    pub(crate) async fn connect(url: &str) -> Self {
        let address = url.strip_prefix("http://").unwrap();
        let stream = within("a connection", TcpStream::connect(address)).await;
        Self {
            stream: stream.unwrap(),
            arrived: Vec::new(),
        }
    }

    pub(crate) async fn write(&mut self, bytes: impl AsRef<[u8]>) -> io::Result<()> {
        within("writing", self.stream.write_all(bytes.as_ref())).await
    }

    /// Sends the head of a request and, with its length, a body.
    pub(crate) async fn request(&mut self, method: &str, path: &str, headers: &str, body: &str) {
        let length = body.len();
        let request = format!(
            "{method} {path} HTTP/1.1\r\nhost: localhost\r\ncontent-length: {length}\r\n{headers}\r\n{body}"
        );
        self.write(request).await.unwrap();
    }

    /// Sends a request and reads its answer.
    pub(crate) async fn ask(
        &mut self,
        method: &str,
        path: &str,
        headers: &str,
        body: &str,
    ) -> Reply {
        self.request(method, path, headers, body).await;
        self.reply().await
    }

    /// Ends the writing half of the connection.
    pub(crate) async fn half_close(&mut self) {
        self.stream.shutdown().await.unwrap();
    }

    /// The next answer.
    pub(crate) async fn reply(&mut self) -> Reply {
        let mut reply = self.head().await;
        let length = reply.header("content-length");
        if let Some(length) = length.map(|it| it.parse().unwrap()) {
            reply.body = self.take(length).await;
        } else if reply.header("transfer-encoding").as_deref() == Some("chunked") {
            while let Some(chunk) = self.chunk().await.expect("the body is whole") {
                reply.body.extend(chunk);
            }
        }
        reply
    }

    /// Status and headers of the next answer.
    pub(crate) async fn head(&mut self) -> Reply {
        let text = self.line_block().await;
        let mut lines = text.split("\r\n");
        let status = lines.next().unwrap().split(' ').nth(1).unwrap();
        let header = |line: &str| {
            let (name, value) = line.split_once(": ").unwrap();
            (name.to_owned(), value.to_owned())
        };
        Reply {
            status: status.parse().unwrap(),
            headers: lines.map(header).collect(),
            body: Vec::new(),
        }
    }

    async fn line_block(&mut self) -> String {
        let end = self.find(b"\r\n\r\n").await.expect("a head arrives");
        let mut head = self.take(end + 4).await;
        head.truncate(end);
        String::from_utf8(head).unwrap()
    }

    /// Returns the next piece of a chunked body, or `None` at its end. Fails if the body breaks.
    pub(crate) async fn chunk(&mut self) -> Result<Option<Vec<u8>>, &'static str> {
        let end = self.find(b"\r\n").await.ok_or("it broke")?;
        let size = self.take(end + 2).await;
        let size = std::str::from_utf8(&size).unwrap().trim();
        let size = usize::from_str_radix(size, 16).unwrap();
        let mut chunk = self.try_take(size + 2).await.ok_or("it broke")?;
        chunk.truncate(size);
        Ok((size > 0).then_some(chunk))
    }

    /// Returns the rest of a chunked body as text, and its kind of end.
    pub(crate) async fn rest(&mut self) -> (String, Result<(), &'static str>) {
        let mut text = Vec::new();
        let end = loop {
            match self.chunk().await {
                Ok(Some(chunk)) => text.extend(chunk),
                Ok(None) => break Ok(()),
                Err(broken) => break Err(broken),
            }
        };
        (String::from_utf8(text).unwrap(), end)
    }

    /// Reads until the server closes or resets the connection.
    pub(crate) async fn everything(&mut self) -> Vec<u8> {
        while self.more().await {}
        std::mem::take(&mut self.arrived)
    }

    async fn find(&mut self, wanted: &[u8]) -> Option<usize> {
        loop {
            let found = self.arrived.windows(wanted.len());
            if let Some(at) = found.into_iter().position(|window| window == wanted) {
                return Some(at);
            }
            if !self.more().await {
                return None;
            }
        }
    }

    async fn take(&mut self, length: usize) -> Vec<u8> {
        self.try_take(length).await.expect("the answer is whole")
    }

    /// Returns this number of bytes, or `None` if the connection ends before.
    pub(crate) async fn try_take(&mut self, length: usize) -> Option<Vec<u8>> {
        while self.arrived.len() < length {
            if !self.more().await {
                return None;
            }
        }
        let rest = self.arrived.split_off(length);
        Some(std::mem::replace(&mut self.arrived, rest))
    }

    async fn more(&mut self) -> bool {
        let read = within(
            "more of the answer",
            self.stream.read_buf(&mut self.arrived),
        )
        .await;
        read.is_ok_and(|read| read > 0)
    }
}
