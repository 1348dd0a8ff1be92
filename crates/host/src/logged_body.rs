//! Answers that go on and on, and keep their log while they do.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
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

/// The answer, whose body is read with this log on every thread. A finished body needs no log.
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
        with_default(log, || {
            let polling = AssertUnwindSafe(|| Pin::new(body).poll_frame(context));
            catch_unwind(polling).unwrap_or_else(|panic| {
                opencode_server::log_panic("a stream");
                resume_unwind(panic)
            })
        })
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::convert::Infallible;
    use std::future::poll_fn;

    use futures::{FutureExt, stream};
    use opencode_log::{Filter, Level, Log};

    use super::*;

    #[tokio::test]
    async fn a_panic_in_a_stream_is_logged() {
        let (log, entries) = Log::new(Filter::new(Some(Level::Warn), BTreeMap::new()));
        let pieces = stream::poll_fn(|_| -> Poll<Option<Result<Bytes, Infallible>>> {
            panic!("a bug in the stream")
        });
        let response = Response::new(Body::from_stream(pieces));
        let mut body = carried(response, log.dispatch()).into_body();
        let read = poll_fn(|context| Pin::new(&mut body).poll_frame(context));
        assert!(AssertUnwindSafe(read).catch_unwind().await.is_err());
        let entries = entries.next().await.unwrap();
        assert_eq!(entries.len(), 1);
        assert_eq!(entries[0].level, Level::Error);
        assert_eq!(entries[0].target, "opencode::server");
        assert_eq!(entries[0].message, "a panic ended a stream");
    }
}
