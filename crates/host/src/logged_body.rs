//! Answers that go on and on, and keep their log while they do.

use std::pin::Pin;
use std::task::{Context, Poll};

use axum::body::{Body, Bytes, HttpBody};
use axum::http::Response;
use hyper::body::{Frame, SizeHint};
use tracing::Dispatch;
use tracing::dispatcher::with_default;

/// A body that is read with the log of its host.
struct Logged {
    body: Body,
    log: Dispatch,
}

/// The answer, read with this log wherever that is. A finished body is there already.
pub(crate) fn carried(response: Response<Body>, log: Dispatch) -> Response<Body> {
    if log.is::<tracing::subscriber::NoSubscriber>()
        || response.body().size_hint().exact().is_some()
    {
        return response;
    }
    response.map(|body| Body::new(Logged { body, log }))
}

impl HttpBody for Logged {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let Self { body, log } = &mut *self;
        with_default(log, || Pin::new(body).poll_frame(context))
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }
}
