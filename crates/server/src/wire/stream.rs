//! Bodies that are streams: server-sent events with one `data:` line per event, and the lines of an export. An idle
//! live stream sends `server.heartbeat` at intervals, and an idle durable stream a comment.
//!
//! A body ends only if everything was delivered. If data was lost or cannot be read, it breaks, so that no client
//! takes the rest for the whole.

use std::io;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::{HeaderValue, Response, header};
use futures::stream::{self, Stream, StreamExt};
use opencode_protocol::failure::Failure;
use opencode_protocol::operation::LINES_TYPE;
use opencode_runtime::{
    LiveBatch, LiveSubscription, Runtime, RuntimeError, SessionEvents, SessionExport, StoreError,
    StoredEvent,
};
use opencode_schema::envelope;
use opencode_schema::id::SessionID;
use tokio::time::{Instant, Interval, MissedTickBehavior};

use crate::wire::failure::{failure, of_session, unknown};

/// The content type of server-sent events.
pub(crate) const EVENTS_TYPE: &str = "text/event-stream";
/// Time between two heartbeats.
const HEARTBEAT: Duration = Duration::from_secs(15);
/// Maximum number of live events in one piece of a body.
const LIVE_BATCH: usize = 512;

type Piece = Result<Bytes, io::Error>;

/// Returns the durable stream of one session.
pub(crate) fn durable(events: SessionEvents) -> Response<Body> {
    let heartbeat = heartbeat();
    let pieces = stream::unfold(Some((events, heartbeat)), |state| async {
        let (mut events, mut heartbeat) = state?;
        let piece = tokio::select! {
            batch = events.next() => batch.map(|batch| frames(events.session_id(), &batch)),
            _ = heartbeat.tick() => Ok(comment()),
        };
        Some(match piece {
            Ok(piece) => (vec![Ok(piece)], Some((events, heartbeat))),
            Err(error) => (broken(error), None),
        })
    });
    response(EVENTS_TYPE, pieces.flat_map(stream::iter))
}

/// Returns a live stream of the host: `server.connected`, then the events of the subscription, and `server.heartbeat`
/// at intervals.
pub(crate) fn live(runtime: Runtime, subscription: LiveSubscription) -> Response<Body> {
    let first = stream::once(std::future::ready(Ok(frame(&runtime.connected_event()))));
    let heartbeat = heartbeat();
    let state = Some((runtime, subscription, heartbeat));
    let pieces = stream::unfold(state, |state| async {
        let (runtime, mut subscription, mut heartbeat) = state?;
        let piece = tokio::select! {
            biased;
            _ = heartbeat.tick() => frame(&runtime.heartbeat_event()),
            batch = subscription.next(LIVE_BATCH) => match batch {
                LiveBatch::Events(events) => {
                    let mut text = String::with_capacity(events.iter().map(|it| it.len() + 8).sum());
                    events.iter().for_each(|event| push(&mut text, event));
                    text.into()
                }
                LiveBatch::Cut => {
                    tracing::warn!("a reader of live events was too slow and is cut off");
                    let reason = "the subscriber was too slow and lost events";
                    return Some((Err(io::Error::other(reason)), None));
                }
                LiveBatch::Ended => return None,
            },
        };
        Some((Ok(piece), Some((runtime, subscription, heartbeat))))
    });
    response(EVENTS_TYPE, first.chain(pieces))
}

/// Returns a session as lines. The store reads them when the client takes them.
pub(crate) fn lines(export: SessionExport) -> Response<Body> {
    let pieces = stream::unfold(Some(export), |export| async {
        let mut export = export?;
        match export.next().await {
            Ok(Some(lines)) => Some((Ok(joined(&lines)), Some(export))),
            Ok(None) => None,
            Err(error) => Some((Err(broken_off(error)), None)),
        }
    });
    response(LINES_TYPE, pieces)
}

/// Returns lines with their line ends.
fn joined(lines: &[String]) -> Bytes {
    let mut text = String::with_capacity(lines.iter().map(|line| line.len() + 1).sum());
    for line in lines {
        text.push_str(line);
        text.push('\n');
    }
    text.into()
}

/// Returns the error that breaks a body without a form for failures. Logs an unexpected failure.
fn broken_off(error: RuntimeError) -> io::Error {
    io::Error::other(failure(error).message().to_owned())
}

/// Returns the JSON text of a stored event.
pub(crate) fn event_text(session_id: &SessionID, event: &StoredEvent) -> String {
    let metadata = event.metadata.as_deref();
    let StoredEvent {
        id,
        seq,
        timestamp,
        data,
        ..
    } = event;
    let spec = event.spec().expect("the log holds events of the catalogue");
    envelope::stored_text(
        spec,
        id,
        session_id,
        (*seq).into(),
        *timestamp,
        data,
        metadata,
    )
}

fn frames(session_id: &SessionID, events: &[StoredEvent]) -> Bytes {
    let mut text = String::new();
    for event in events {
        push(&mut text, &event_text(session_id, event));
    }
    text.into()
}

fn frame(event: &str) -> Bytes {
    let mut text = String::with_capacity(event.len() + 8);
    push(&mut text, event);
    text.into()
}

fn push(text: &mut String, event: &str) {
    text.push_str("data: ");
    text.push_str(event);
    text.push_str("\n\n");
}

fn comment() -> Bytes {
    Bytes::from_static(b": heartbeat\n\n")
}

/// Returns the end of a body that cannot continue: nothing after a removal, else the failure as a frame of its own, then the break.
fn broken(error: RuntimeError) -> Vec<Piece> {
    let closed = matches!(
        error,
        RuntimeError::Closed | RuntimeError::Store(StoreError::Closed)
    );
    if matches!(error, RuntimeError::SessionNotFound(_)) {
        // The session was removed: nothing of it can be delivered any more. A client that connects again learns it.
        return Vec::new();
    }
    let break_off = Err(io::Error::other(error.to_string()));
    if closed {
        return vec![break_off];
    }
    let text_of = match of_session(failure(error), None) {
        text_of @ Failure::Unknown { .. } => text_of,
        other => unknown(other.message()),
    };
    let Failure::Unknown { message, reference } = text_of else {
        return vec![break_off];
    };
    let mut defect = serde_json::json!({ "name": "UnknownError", "message": message });
    if let Some(reference) = reference {
        defect["ref"] = reference.into();
    }
    let defect = serde_json::json!([{ "_tag": "Die", "defect": defect }]);
    let frame = format!("event: effect/httpapi/stream/failure\ndata: {defect}\n\n");
    vec![Ok(frame.into()), break_off]
}

fn heartbeat() -> Interval {
    let mut interval = tokio::time::interval_at(Instant::now() + HEARTBEAT, HEARTBEAT);
    interval.set_missed_tick_behavior(MissedTickBehavior::Delay);
    interval
}

fn response(
    content_type: &'static str,
    pieces: impl Stream<Item = Piece> + Send + 'static,
) -> Response<Body> {
    // Compression polls once more after the end.
    let mut response = Response::new(Body::from_stream(pieces.fuse()));
    let headers = response.headers_mut();
    for (name, value) in [
        (header::CONTENT_TYPE, content_type),
        (header::CACHE_CONTROL, "no-cache, no-transform"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::HeaderName::from_static("x-accel-buffering"), "no"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The text before the break.
    fn text_of(error: RuntimeError) -> String {
        let mut pieces = broken(error);
        let last = pieces.pop().expect("there is a last piece");
        last.expect_err("a body that cannot go on breaks");
        let texts = pieces.into_iter().map(|piece| piece.unwrap().to_vec());
        String::from_utf8(texts.flatten().collect()).unwrap()
    }

    #[test]
    fn a_failed_stream_sends_the_reason_and_breaks() {
        let corrupt = StoreError::Corrupt {
            seq: 7.into(),
            reason: "it is no JSON".into(),
        };
        let text = text_of(corrupt.into());
        let data = text
            .strip_prefix("event: effect/httpapi/stream/failure\ndata: ")
            .and_then(|rest| rest.strip_suffix("\n\n"));
        let data: serde_json::Value = serde_json::from_str(data.unwrap()).unwrap();
        assert_eq!(
            data,
            serde_json::json!([{"_tag": "Die", "defect": {
                "name": "UnknownError",
                "message": "the stored entry 7 cannot be read: it is no JSON",
            }}])
        );
    }

    #[test]
    fn a_closing_host_breaks_streams_without_a_word() {
        assert_eq!(text_of(RuntimeError::Closed), "");
        assert_eq!(text_of(StoreError::Closed.into()), "");
    }
}
