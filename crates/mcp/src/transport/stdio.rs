//! Messages as lines over the standard streams of a child process.

use std::fmt;
use std::io;
use std::sync::Arc;

use rmcp::RoleClient;
use rmcp::model::{
    ClientJsonRpcMessage, ErrorData, JsonRpcMessage, RequestId, ServerJsonRpcMessage,
};
use rmcp::transport::Transport;
use serde::de::{Error as _, IgnoredAny, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use tokio::io::{AsyncBufRead, AsyncBufReadExt as _, AsyncRead, AsyncWrite, AsyncWriteExt as _};
use tokio::io::{AsyncReadExt as _, BufReader};
use tokio::sync::mpsc::{self, error::SendError};
use tokio::time::timeout;

use super::answer::{self, Read};
use crate::limits::{MAX_MESSAGE, MAX_WRITE_TIME};
use crate::link::{End, Link, Waiting};

/// Number of messages that wait in each direction.
const WAITING: usize = 4;

/// Number of bytes per read, which is the capacity of a pipe.
const CHUNK: usize = 64 * 1024;

/// Maximum number of messages of a line. A line with more is no message.
const MAX_BATCH: usize = 1000;

/// Maximum length of a logged line, in bytes. The rest of a longer one is read and discarded.
const MAX_LINE: usize = 4096;

/// Messages as lines. One task reads and one writes.
pub(crate) struct Stdio {
    /// `None` after the close, which ends the input of the server.
    outgoing: Option<mpsc::Sender<Vec<u8>>>,
    incoming: mpsc::Receiver<ServerJsonRpcMessage>,
}

impl Stdio {
    /// Starts the tasks.
    pub(crate) fn start(
        input: impl AsyncWrite + Unpin + Send + 'static,
        output: impl AsyncRead + Unpin + Send + 'static,
        link: &Arc<Link>,
    ) -> Self {
        let (outgoing, to_write) = mpsc::channel(WAITING);
        let (received, incoming) = mpsc::channel(WAITING);
        opencode_log::spawn(write(input, to_write, Arc::clone(link)));
        opencode_log::spawn(read(output, received, Arc::clone(link)));
        Self {
            outgoing: Some(outgoing),
            incoming,
        }
    }
}

impl Transport<RoleClient> for Stdio {
    type Error = io::Error;

    fn send(
        &mut self,
        message: ClientJsonRpcMessage,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let outgoing = self.outgoing.clone();
        async move {
            let mut line = serde_json::to_vec(&message)?;
            line.push(b'\n');
            let closed = || io::Error::from(io::ErrorKind::BrokenPipe);
            let outgoing = outgoing.ok_or_else(closed)?;
            outgoing.send(line).await.map_err(|_| closed())
        }
    }

    async fn receive(&mut self) -> Option<ServerJsonRpcMessage> {
        self.incoming.recv().await
    }

    async fn close(&mut self) -> io::Result<()> {
        self.outgoing = None;
        self.incoming.close();
        Ok(())
    }
}

/// Writes messages until there are no more, or the connection ends.
async fn write(
    mut input: impl AsyncWrite + Unpin,
    mut messages: mpsc::Receiver<Vec<u8>>,
    link: Arc<Link>,
) {
    loop {
        let message = tokio::select! {
            message = messages.recv() => message,
            _ = link.ended() => None,
        };
        let Some(message) = message else {
            return;
        };
        let writing = async {
            input.write_all(&message).await?;
            input.flush().await
        };
        let written = tokio::select! {
            written = timeout(MAX_WRITE_TIME, writing) => written,
            _ = link.ended() => return,
        };
        match written {
            Ok(Ok(())) => {}
            // The end of the output tells whether the server has closed.
            Ok(Err(_)) => return,
            Err(_) => {
                let reason = "The server does not read its input.";
                return link.finish(End::Broken(reason.to_owned()));
            }
        }
    }
}

/// Reads messages until the output or the connection ends.
async fn read(
    output: impl AsyncRead + Unpin,
    messages: mpsc::Sender<ServerJsonRpcMessage>,
    link: Arc<Link>,
) {
    let mut output = BufReader::with_capacity(CHUNK, output);
    let mut line = Vec::new();
    loop {
        line.clear();
        let mut rest = (&mut output).take(MAX_MESSAGE as u64 + 1);
        let read = tokio::select! {
            read = rest.read_until(b'\n', &mut line) => read,
            _ = link.ended() => return,
        };
        if line.len() > MAX_MESSAGE {
            let reason = format!("The server sent a message of more than {MAX_MESSAGE} bytes.");
            return link.finish(End::Broken(reason));
        }
        if !matches!(read, Ok(bytes) if bytes > 0) {
            return;
        }
        if forward(&line, &messages, &link).await.is_err() {
            return;
        }
        if line.capacity() > CHUNK {
            line = Vec::new();
        }
    }
}

/// Forwards the messages of a line.
///
/// # Errors
///
/// Fails if the connection takes no more messages.
async fn forward(
    line: &[u8],
    messages: &mpsc::Sender<ServerJsonRpcMessage>,
    link: &Link,
) -> Result<(), SendError<ServerJsonRpcMessage>> {
    let text = answer::text_of(line);
    let text = text.trim();
    let batch = serde_json::from_str::<Batch<'_>>(text);
    let parts = batch.map_or_else(|_| vec![text], |batch| batch.0);
    for part in parts {
        if let Some(message) = parse(part, link) {
            messages.send(message).await?;
        }
    }
    Ok(())
}

/// Messages that a server sent as one line.
struct Batch<'a>(Vec<&'a str>);

impl<'de: 'a, 'a> Deserialize<'de> for Batch<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(Parts).map(Self)
    }
}

struct Parts;

impl<'de> Visitor<'de> for Parts {
    type Value = Vec<&'de str>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "1 to {MAX_BATCH} messages")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut batch: A) -> Result<Self::Value, A::Error> {
        let mut parts = Vec::new();
        while let Some(part) = batch.next_element::<&RawValue>()? {
            if parts.len() == MAX_BATCH {
                return Err(A::Error::invalid_length(parts.len() + 1, &self));
            }
            parts.push(part.get());
        }
        match parts.is_empty() {
            true => Err(A::Error::invalid_length(0, &self)),
            false => Ok(parts),
        }
    }
}

/// Reads a message. Servers sometimes print other text, which is logged.
fn parse(text: &str, link: &Link) -> Option<ServerJsonRpcMessage> {
    if text.is_empty() {
        return None;
    }
    // An answer with a result needs no change, and can be large.
    let whole = answer::with_whole_result(text);
    let normal = match whole {
        Some(_) => None,
        None => answer::normal(text),
    };
    let message = match &normal {
        Some(normal) => message(normal, answer::with_whole_result(normal), link),
        None => message(text, whole, link),
    };
    if message.is_none() {
        link.log.line(&text[..text.floor_char_boundary(MAX_LINE)]);
    }
    message
}

/// Reads a message. The request of an answer that cannot be read fails. An error without an id belongs to the only
/// request, and is no message if there are several.
fn message(
    line: &str,
    whole: Option<(RequestId, String)>,
    link: &Link,
) -> Option<ServerJsonRpcMessage> {
    if let Some((id, _)) = &whole
        && let Some(id) = link.handshake(id)
    {
        return answer_to(&id, line, true);
    }
    let whole = whole.filter(|(id, _)| link.is_waiting(id));
    let parsed = match &whole {
        Some((_, message)) => serde_json::from_str(message),
        None => serde_json::from_str(line),
    };
    let error = match parsed {
        Ok(message) if !is_uncorrelated(&message) => return Some(message),
        Ok(_) => None,
        Err(error) => Some(error),
    };
    let unread = serde_json::from_str::<Unread>(line).ok()?;
    if unread.method.is_some() {
        return None;
    }
    match (unread.id, unread.error, error) {
        (Some(id), given, Some(error)) => {
            // The library reads no error without a code or a message.
            if given.is_some()
                && let Some(message) = answer_to(&id, line, false)
            {
                return Some(message);
            }
            let message = format!("the answer of the server cannot be read: {error}");
            let error = ErrorData::parse_error(message, None);
            Some(ServerJsonRpcMessage::error(error, Some(id)))
        }
        (None, Some(_), _) => match link.waiting() {
            // It answers the handshake.
            Waiting::Nothing => serde_json::from_str(line).ok(),
            Waiting::One(id) => answer_to(&id, line, false),
            Waiting::Several => None,
        },
        _ => None,
    }
}

fn answer_to(id: &RequestId, line: &str, is_typed: bool) -> Option<ServerJsonRpcMessage> {
    match answer::read(line.as_bytes(), id, is_typed) {
        Read::Answer { message, .. } => Some(*message),
        Read::Other | Read::Unknown => None,
    }
}

fn is_uncorrelated(message: &ServerJsonRpcMessage) -> bool {
    matches!(message, JsonRpcMessage::Error(error) if error.id.is_none())
}

/// The parts of a message that can be read at any depth of the other parts.
#[derive(Deserialize)]
struct Unread {
    id: Option<RequestId>,
    method: Option<IgnoredAny>,
    error: Option<IgnoredAny>,
}

/// Logs the lines of standard error until it ends. Never stops reading, so that the server is not blocked.
pub(crate) async fn log_lines(errors: impl AsyncRead + Unpin, link: Arc<Link>) {
    let mut errors = BufReader::with_capacity(CHUNK, errors);
    let mut line = Vec::new();
    while let Ok(true) = read_line(&mut errors, &mut line).await {
        let text = String::from_utf8_lossy(&line);
        let text = text.trim_end();
        if !text.is_empty() {
            link.log.line(text);
        }
    }
}

/// Reads the beginning of a line, and discards the rest. False at the end.
async fn read_line(
    input: &mut (impl AsyncBufRead + Unpin),
    line: &mut Vec<u8>,
) -> io::Result<bool> {
    line.clear();
    loop {
        let bytes = input.fill_buf().await?;
        if bytes.is_empty() {
            return Ok(!line.is_empty());
        }
        let end = bytes.iter().position(|byte| *byte == b'\n');
        let used = end.map_or(bytes.len(), |end| end + 1);
        let kept = used.min(MAX_LINE - line.len());
        line.extend_from_slice(&bytes[..kept]);
        input.consume(used);
        if end.is_some() {
            return Ok(true);
        }
    }
}
