//! Limits of request bodies: their size, and the time that a listener waits for them.
//!
//! A problem of the body is reported after problems of the session, the path and the query. The body breaks, its
//! reader refuses the request as unreadable, and only then the refusal gets its status.

use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, Response, StatusCode, header};
use axum::middleware::Next;
use futures::stream::{self, Stream, StreamExt};
use http_body_util::BodyExt;
use hyper::body::{Frame, Incoming, SizeHint};
use opencode_protocol::failure::Failure;
use tokio::runtime::Handle;

use crate::wire::failure::refuse;

/// Maximum size of all bodies in memory at the same time, as a multiple of the largest body.
const HELD_AT_ONCE: u64 = 4;
/// Maximum number of bytes that are received and dropped if a request was answered before its whole body arrived. Many
/// clients read no answer before they have sent everything.
const MAX_DISCARDED_BYTES: u64 = 64 * 1024 * 1024;
/// Maximum time for receiving these bytes.
const DISCARD_TIMEOUT: Duration = Duration::from_secs(5);

/// Bounds for the bodies of a listener.
pub(crate) struct Bodies {
    /// Maximum number of bytes of one body.
    most: u64,
    /// Maximum time for the next piece of a body.
    timeout: Duration,
    /// Maximum number of bytes of all bodies whose requests are not answered yet.
    held: AtomicU64,
}

impl Bodies {
    pub(crate) fn new(most: u64, timeout: Duration) -> Self {
        Self {
            most,
            timeout,
            held: AtomicU64::new(0),
        }
    }
}

/// The reason why a body breaks.
#[derive(Debug, Clone, Copy, thiserror::Error)]
enum BodyError {
    #[error("it is larger than {0} bytes, which is the most that is accepted here")]
    TooLarge(u64),
    #[error("nothing more of it came for {0:?}")]
    Stalled(Duration),
    #[error("too many large bodies arrive at once; try again later")]
    Crowded,
    #[error("it broke off")]
    BrokeOff,
}

/// One request with its body.
struct CountedBody {
    bodies: Arc<Bodies>,
    bytes: AtomicU64,
    trouble: OnceLock<BodyError>,
}

impl Drop for CountedBody {
    fn drop(&mut self) {
        let bytes = *self.bytes.get_mut();
        self.bodies.held.fetch_sub(bytes, Ordering::Relaxed);
    }
}

impl CountedBody {
    fn take(&self, bytes: u64) -> Result<(), BodyError> {
        let read = self.bytes.fetch_add(bytes, Ordering::Relaxed) + bytes;
        let held = self.bodies.held.fetch_add(bytes, Ordering::Relaxed) + bytes;
        let most = self.bodies.most;
        if read > most {
            Err(BodyError::TooLarge(most))
        } else if held > most.saturating_mul(HELD_AT_ONCE) {
            Err(BodyError::Crowded)
        } else {
            Ok(())
        }
    }

    async fn next(&self, body: &mut Body) -> Result<Option<Bytes>, BodyError> {
        let most = self.bodies.most;
        // A declared length that is too large is refused before a byte is read.
        if body.size_hint().lower() > most {
            return Err(BodyError::TooLarge(most));
        }
        let timeout = self.bodies.timeout;
        let frame = tokio::time::timeout(timeout, body.frame()).await;
        let Some(frame) = frame.map_err(|_| BodyError::Stalled(timeout))? else {
            return Ok(None);
        };
        let data = frame.map_err(|_| BodyError::BrokeOff)?.into_data();
        let data = data.unwrap_or_default();
        self.take(data.len() as u64)?;
        Ok(Some(data))
    }

    /// Returns the pieces of a body. The last one may be a failure.
    fn pieces(self: Arc<Self>, body: Body) -> impl Stream<Item = Result<Bytes, BodyError>> + Send {
        stream::unfold(Some((self, body)), |state| async {
            let (held, mut body) = state?;
            match held.next(&mut body).await {
                Ok(data) => data.map(|data| (Ok(data), Some((held, body)))),
                Err(trouble) => {
                    held.trouble.get_or_init(|| trouble);
                    Some((Err(trouble), None))
                }
            }
        })
    }
}

/// Bounds the body of a request. Answers with the exceeded limit if the limit is the reason of a refusal.
pub(crate) async fn bound(
    State(bodies): State<Arc<Bodies>>,
    request: Request,
    next: Next,
) -> Response<Body> {
    let held = Arc::new(CountedBody {
        bodies,
        bytes: AtomicU64::new(0),
        trouble: OnceLock::new(),
    });
    let reading = Arc::clone(&held);
    let request = request.map(|body| Body::from_stream(reading.pieces(body).fuse()));
    let mut response = next.run(request).await;
    if response.status() == StatusCode::BAD_REQUEST {
        match held.trouble.get() {
            Some(BodyError::TooLarge(_)) => *response.status_mut() = StatusCode::PAYLOAD_TOO_LARGE,
            Some(BodyError::Stalled(_)) => *response.status_mut() = StatusCode::REQUEST_TIMEOUT,
            Some(trouble @ BodyError::Crowded) => {
                response = refuse(&Failure::ServiceUnavailable {
                    message: format!("The body cannot be read: {trouble}"),
                    service: None,
                });
            }
            Some(BodyError::BrokeOff) | None => {}
        }
    }
    response
}

/// A body from the network. Its unread rest is received and dropped, because closing a connection while the client
/// still sends would also drop the answer.
pub(crate) struct Received(Option<Incoming>);

impl Received {
    pub(crate) fn body(headers: &HeaderMap, body: Incoming) -> Body {
        // A client that waits for `100 Continue` has not sent the body.
        if headers.contains_key(header::EXPECT) {
            return Body::new(body);
        }
        Body::new(Self(Some(body)))
    }
}

impl HttpBody for Received {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let Some(body) = &mut self.0 else {
            return Poll::Ready(None);
        };
        let polled = Pin::new(body).poll_frame(context);
        if !matches!(polled, Poll::Pending | Poll::Ready(Some(Ok(_)))) {
            self.0 = None;
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.0.as_ref().is_none_or(HttpBody::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        let hint = self.0.as_ref().map(HttpBody::size_hint);
        hint.unwrap_or_else(|| SizeHint::with_exact(0))
    }
}

impl Drop for Received {
    fn drop(&mut self) {
        let rest = self.0.take().filter(|body| !body.is_end_stream());
        // The connection ends with the runtime.
        if let (Some(rest), Ok(runtime)) = (rest, Handle::try_current()) {
            opencode_log::spawn_on(
                &runtime,
                tokio::time::timeout(DISCARD_TIMEOUT, discard(rest)),
            );
        }
    }
}

/// Stops at the end of the connection at the latest.
async fn discard(mut body: Incoming) {
    let mut left = MAX_DISCARDED_BYTES;
    while let Some(Ok(frame)) = body.frame().await {
        let bytes = frame.data_ref().map_or(0, |data| data.len() as u64);
        match left.checked_sub(bytes) {
            Some(rest) => left = rest,
            None => return,
        }
    }
}
