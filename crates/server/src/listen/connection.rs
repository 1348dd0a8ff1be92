//! One connection.

use std::convert::Infallible;
use std::io;
use std::pin::{Pin, pin};
use std::task::{Context, Poll};

use axum::Router;
use axum::body::{Body, Bytes, HttpBody};
use axum::http::{Request, Response, header};
use futures::stream::{self, StreamExt};
use hyper::body::{Frame, Incoming, SizeHint};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::TcpStream;
use tokio_io_timeout::TimeoutStream;
use tokio_util::sync::CancellationToken;
use tower::ServiceExt;

use super::slots::Busy;
use super::{Bounds, Sockets};
use crate::listen::bodies::Received;
use crate::wire::stream::EVENTS_TYPE;

/// Maximum number of bytes that are read before a handler takes them, or written before the socket takes them.
const BUFFER: usize = 128 * 1024;

/// Answers the requests of a connection, one after the other, until either side closes it or it becomes a WebSocket.
pub(super) async fn serve(stream: TcpStream, routes: Router, bounds: Bounds, sockets: Sockets) {
    // Events are small, and the next one may not follow soon.
    let _ = stream.set_nodelay(true);
    let mut stream = TimeoutStream::new(stream);
    stream.set_write_timeout(Some(bounds.answer_timeout));
    let phases = sockets.phases.clone();
    let replaced = sockets.place.cut();
    let service = service_fn(|request| answer(routes.clone(), request, sockets.clone()));
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(bounds.head_timeout)
        .max_header_size(bounds.head)
        .max_buf_size(BUFFER)
        .serve_connection(TokioIo::new(Box::pin(stream)), service)
        .with_upgrades();
    let mut connection = pin!(connection);
    let served = async {
        tokio::select! {
            served = &mut connection => served,
            () = phases.stop.cancelled() => {
                connection.as_mut().graceful_shutdown();
                connection.await
            }
        }
    };
    // A client that broke the connection or the protocol has received every possible answer.
    let served = replaced.run_until_cancelled(served);
    if let Some(Some(Err(error))) = phases.cut.run_until_cancelled(served).await {
        tracing::debug!(%error, "a connection broke");
    }
}

async fn answer(
    routes: Router,
    request: Request<Incoming>,
    sockets: Sockets,
) -> Result<Response<Body>, Infallible> {
    let working = sockets.place.work();
    let (mut head, body) = request.into_parts();
    let part = sockets.phases.part.clone();
    head.extensions.insert(sockets);
    let body = Received::body(&head.headers, body);
    let response = routes.oneshot(Request::from_parts(head, body)).await?;
    let kind = response.headers().get(header::CONTENT_TYPE);
    if kind.is_some_and(|kind| kind == EVENTS_TYPE) {
        return Ok(response.map(|body| AnswerBody::body(until(part, body), working)));
    }
    Ok(response.map(|body| AnswerBody::body(body, working)))
}

/// The body of an answer. Its connection keeps its place until the body is sent.
struct AnswerBody {
    body: Body,
    _working: Busy,
}

impl AnswerBody {
    fn body(body: Body, working: Busy) -> Body {
        Body::new(Self {
            body,
            _working: working,
        })
    }
}

impl HttpBody for AnswerBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// A body that breaks when the listener disconnects its clients, because a stream of events has no end.
///
/// A break drops the pieces that are not sent yet. So the body pauses before it, and the connection sends them.
fn until(part: CancellationToken, body: Body) -> Body {
    let pieces = stream::unfold(Some((part, body.into_data_stream())), |state| async {
        let (part, mut pieces) = state?;
        let error = match part.run_until_cancelled(pieces.next()).await {
            Some(Some(Ok(piece))) => return Some((Ok(piece), Some((part, pieces)))),
            Some(Some(Err(error))) => io::Error::other(error),
            Some(None) => return None,
            None => io::Error::other("the listener is closed"),
        };
        tokio::task::yield_now().await;
        Some((Err(error), None))
    });
    Body::from_stream(pieces.fuse())
}
