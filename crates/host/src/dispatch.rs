//! Requests in the order of their calls.
//!
//! Tasks of a multi-threaded runtime begin in any order. Callers expect that of two prompts the one
//! sent first is admitted first, so one task polls every request once, in order; what is not done
//! by then goes on in a task of its own. A prompt reaches the writer's queue in that first poll.

use axum::Router;
use axum::body::Body;
use axum::http::{Request, Response};
use futures::FutureExt;
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;
use tower::ServiceExt;

/// Requests that may wait to be begun. Beginning one takes microseconds; more than this means that
/// the caller floods its own process, and it is told so.
const QUEUE: usize = 65_536;

/// The host is closed, or has more requests waiting than it can hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Closed;

type Answer = oneshot::Sender<Response<Body>>;

/// Begins requests in order.
pub(crate) struct Dispatcher {
    queue: mpsc::Sender<(Request<Body>, Answer)>,
    closing: CancellationToken,
}

impl Dispatcher {
    pub(crate) fn start(router: Router) -> Self {
        let (queue, mut requests) = mpsc::channel::<(Request<Body>, Answer)>(QUEUE);
        let closing = CancellationToken::new();
        let closed = closing.clone();
        tokio::spawn(async move {
            loop {
                tokio::select! {
                    biased;
                    () = closed.cancelled() => return,
                    request = requests.recv() => match request {
                        Some((request, answer)) => begin(&router, request, answer),
                        None => return,
                    },
                }
            }
        });
        Self { queue, closing }
    }

    pub(crate) fn send(
        &self,
        request: Request<Body>,
    ) -> impl Future<Output = Result<Response<Body>, Closed>> + Send + use<> {
        let (answer, response) = oneshot::channel();
        let queued = self.queue.try_send((request, answer));
        async move {
            queued.map_err(|_| Closed)?;
            response.await.map_err(|_| Closed)
        }
    }

    /// Takes no further request. Those that wait are answered with [`Closed`].
    pub(crate) fn close(&self) {
        self.closing.cancel();
    }
}

fn begin(router: &Router, request: Request<Body>, mut answer: Answer) {
    let mut response = router.clone().oneshot(request).boxed();
    // Without the runtime's budget for one turn of a task: a request that happens to exhaust it would
    // stop short of the writer's queue and be overtaken.
    match tokio::task::unconstrained(&mut response).now_or_never() {
        Some(Ok(response)) => drop(answer.send(response)),
        Some(Err(never)) => match never {},
        None => {
            tokio::spawn(async move {
                tokio::select! {
                    Ok(response) = response => drop(answer.send(response)),
                    // Nobody waits any more. What must not be cut off guards itself.
                    () = answer.closed() => {}
                }
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;

    use axum::extract::State;
    use axum::routing::get;
    use futures::poll;
    use tokio::task::consume_budget;

    use super::*;

    #[tokio::test]
    async fn a_request_is_not_overtaken_because_the_task_has_used_up_its_turn() {
        let (queue, mut queued) = mpsc::channel(1);
        let write = |State(queue): State<mpsc::Sender<()>>| async move {
            queue.send(()).await.expect("the test reads");
        };
        let router = Router::new().route("/", get(write)).with_state(queue);
        while poll!(pin!(consume_budget())).is_ready() {}
        begin(&router, Request::new(Body::empty()), oneshot::channel().0);
        assert_eq!(queued.try_recv(), Ok(()));
    }
}
