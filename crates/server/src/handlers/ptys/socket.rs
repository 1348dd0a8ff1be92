//! A connection to a terminal.
//!
//! The server sends the earlier output as text frames, then one binary frame of a zero byte and
//! `{"cursor":N}`, then new output as text frames. The client sends input: text, or bytes
//! that are UTF-8.

use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::body::Body;
use axum::extract::WebSocketUpgrade;
use axum::extract::ws::{CloseFrame, Message, WebSocket};
use axum::http::Response;
use bytes::Bytes;
use futures::stream::{SplitSink, SplitStream};
use futures::{SinkExt, StreamExt};
use opencode_runtime::pty::{Attached, OutputItem, TerminalError};
use tokio::sync::mpsc;
use tokio::time::{Instant, MissedTickBehavior, interval_at};

use crate::listen::{OpenSocket, Sockets};

/// Maximum number of typed bytes in one message.
const LARGEST: usize = 1024 * 1024;
/// Maximum number of bytes of a received message.
const UNREADABLE: usize = 2 * LARGEST;
/// Size in bytes of the buffers for reading and writing.
const BUFFER: usize = 16 * 1024;
/// Maximum time for a program to read typed input.
const TYPING: Duration = Duration::from_secs(10);
/// Maximum time for a client to answer the closing frame.
const GOODBYE: Duration = Duration::from_secs(1);

/// The reason why a connection ends: the code and the text of a close frame. `None` if the client has left.
type End = Option<(u16, &'static str)>;

const ENDED: End = Some((1000, ""));
const LISTENER_CLOSED: End = Some((1001, "the listener is closed"));
const UNREAD: End = Some((1002, "what came is no message, or far too large"));
const TOO_LARGE: End = Some((1009, "at most 1 MiB can be typed at once"));
const TOO_SLOW: End = Some((1013, "too much output waits for this client"));
const NOT_TAKEN: End = Some((1013, "the program does not read what is typed"));
const SILENT: End = Some((1013, "the client does not answer"));
const NOT_FOUND: End = Some((4404, "session not found"));
const EXITED: End = Some((4404, "session exited"));

/// Answers with a WebSocket, and attaches it to the terminal when it is open.
pub(super) fn accept(
    sockets: Sockets,
    upgrade: WebSocketUpgrade,
    attach: impl FnOnce() -> Result<Attached, TerminalError> + Send + 'static,
) -> Response<Body> {
    let upgrade = upgrade
        .max_message_size(UNREADABLE)
        .max_frame_size(UNREADABLE)
        .read_buffer_size(BUFFER)
        .write_buffer_size(BUFFER);
    sockets.accept(upgrade, |open| async move {
        let OpenSocket { socket, part, ping } = open;
        let (mut sink, mut stream) = socket.split();
        let end = match attach() {
            Ok(attached) => {
                let exchange_frames = exchange_frames(&mut sink, &mut stream, attached, ping);
                part.run_until_cancelled(exchange_frames)
                    .await
                    .unwrap_or(LISTENER_CLOSED)
            }
            Err(TerminalError::Exited(_)) => EXITED,
            Err(_) => NOT_FOUND,
        };
        if end == TOO_SLOW {
            tracing::warn!("a client of a terminal was too slow and is cut off");
        }
        // A client that does not answer the closing frame is cut.
        let _ = tokio::time::timeout(GOODBYE, part_with(sink, stream, end)).await;
    })
}

async fn exchange_frames(
    sink: &mut SplitSink<WebSocket, Message>,
    stream: &mut SplitStream<WebSocket>,
    attached: Attached,
    ping: Duration,
) -> End {
    let heard = AtomicBool::new(true);
    let input = attached.input();
    tokio::select! {
        end = send_output(sink, attached, ping, &heard) => end,
        end = listen(stream, input, &heard) => end,
    }
}

/// Sends output, and pings the client at intervals.
async fn send_output(
    sink: &mut SplitSink<WebSocket, Message>,
    mut attached: Attached,
    ping: Duration,
    heard: &AtomicBool,
) -> End {
    let mut pings = interval_at(Instant::now() + ping, ping);
    pings.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        let message = tokio::select! {
            next = attached.next() => match next {
                OutputItem::Text(text) => Message::Text(text.into()),
                OutputItem::CaughtUp(cursor) => Message::Binary(format!("\0{{\"cursor\":{cursor}}}").into()),
                OutputItem::Ended => return ENDED,
                OutputItem::Cut => return TOO_SLOW,
            },
            _ = pings.tick() => {
                if !heard.swap(false, Ordering::Relaxed) {
                    return SILENT;
                }
                Message::Ping(Bytes::new())
            }
        };
        tokio::select! {
            sent = sink.send(message) => if sent.is_err() {
                return None;
            },
            () = attached.cut() => return TOO_SLOW,
        }
    }
}

/// Writes received messages to the terminal.
async fn listen(
    stream: &mut SplitStream<WebSocket>,
    input: mpsc::Sender<Bytes>,
    heard: &AtomicBool,
) -> End {
    loop {
        let message = match stream.next().await {
            Some(Ok(message)) => message,
            Some(Err(_)) => return UNREAD,
            None => return None,
        };
        heard.store(true, Ordering::Relaxed);
        let typed: Bytes = match message {
            Message::Text(text) => text.into(),
            Message::Binary(bytes) if std::str::from_utf8(&bytes).is_ok() => bytes,
            Message::Close(_) => return None,
            Message::Binary(_) | Message::Ping(_) | Message::Pong(_) => continue,
        };
        if typed.len() > LARGEST {
            return TOO_LARGE;
        }
        // A program that has ended reads nothing. The sending side closes the connection.
        if tokio::time::timeout(TYPING, input.send(typed))
            .await
            .is_err()
        {
            return NOT_TAKEN;
        }
    }
}

/// Sends the close frame, and waits for the close frame of the client.
async fn part_with(
    mut sink: SplitSink<WebSocket, Message>,
    stream: SplitStream<WebSocket>,
    end: End,
) {
    if let Some((code, reason)) = end {
        let frame = CloseFrame {
            code,
            reason: reason.into(),
        };
        if sink.send(Message::Close(Some(frame))).await.is_err() {
            return;
        }
    } else {
        // Flushes the answer to the close frame of the client.
        let _ = sink.flush().await;
    }
    let mut rest = pin!(stream);
    while let Some(Ok(_)) = rest.next().await {}
}
