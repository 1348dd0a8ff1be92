//! Messages as lines over the standard streams of a child process.

use std::io;
use std::sync::Arc;

use rmcp::RoleClient;
use rmcp::model::{
    ClientJsonRpcMessage, ErrorData, JsonRpcMessage, RequestId, ServerJsonRpcMessage,
};
use rmcp::transport::Transport;
use serde::Deserialize;
use serde::de::IgnoredAny;
use tokio::io::{AsyncBufRead, AsyncBufReadExt as _, AsyncRead, AsyncWrite, AsyncWriteExt as _};
use tokio::io::{AsyncReadExt as _, BufReader};
use tokio::sync::mpsc;
use tokio::time::timeout;

use super::answer::{self, Read};
use crate::limits::{MAX_MESSAGE, MAX_WRITE_TIME};
use crate::link::{End, Link, Waiting};

/// Number of messages that wait in each direction.
const WAITING: usize = 4;

/// Number of bytes per read, which is the capacity of a pipe.
const CHUNK: usize = 64 * 1024;

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
        let Some(message) = parse(&line, &link) else {
            continue;
        };
        if messages.send(message).await.is_err() {
            return;
        }
        if line.capacity() > CHUNK {
            line = Vec::new();
        }
    }
}

/// Reads a line. Servers sometimes print other text, which is logged. The request of an answer that cannot
/// be read fails. An error without an id belongs to the only request, and is logged if there are several.
fn parse(line: &[u8], link: &Link) -> Option<ServerJsonRpcMessage> {
    if line.iter().all(u8::is_ascii_whitespace) {
        return None;
    }
    // The result of the handshake has a type.
    let whole = std::str::from_utf8(line).ok();
    let whole = whole.and_then(answer::with_whole_result);
    let whole = whole.filter(|(id, _)| link.is_waiting(id));
    let parsed = match &whole {
        Some((_, message)) => serde_json::from_str(message),
        None => serde_json::from_slice(line),
    };
    let error = match parsed {
        Ok(message) if !is_uncorrelated(&message) => return Some(message),
        Ok(_) => None,
        Err(error) => Some(error),
    };
    match (serde_json::from_slice(line), error) {
        (
            Ok(Unread {
                id: Some(id),
                method: None,
                error: given,
            }),
            Some(error),
        ) => {
            // The library reads no error without a code or a message.
            if given.is_some()
                && let Read::Answer { message, .. } = answer::read(line, &id, false)
            {
                return Some(*message);
            }
            let message = format!("the answer of the server cannot be read: {error}");
            let error = ErrorData::parse_error(message, None);
            return Some(ServerJsonRpcMessage::error(error, Some(id)));
        }
        (
            Ok(Unread {
                id: None,
                method: None,
                error: Some(_),
            }),
            _,
        ) => match link.waiting() {
            Waiting::Nothing => {
                if let Some(error) = parsed_error(line) {
                    return Some(error);
                }
            }
            Waiting::One(id) => {
                if let Read::Answer { message, .. } = answer::read(line, &id, false) {
                    return Some(*message);
                }
            }
            Waiting::Several => {}
        },
        _ => {}
    }
    let shown = &line[..line.len().min(MAX_LINE)];
    link.log.line(String::from_utf8_lossy(shown).trim_end());
    None
}

fn is_uncorrelated(message: &ServerJsonRpcMessage) -> bool {
    matches!(message, JsonRpcMessage::Error(error) if error.id.is_none())
}

/// Returns an error without an id, which answers the handshake.
fn parsed_error(line: &[u8]) -> Option<ServerJsonRpcMessage> {
    serde_json::from_slice(line).ok()
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
