//! Requests in the order of their calls.
//!
//! Tasks of a multi-threaded runtime start in any order. But a caller expects that the first of two prompts is
//! admitted first, and before the effects of its later calls. So the call itself polls its request once. That takes
//! microseconds and never waits. The rest of the request runs in a separate task. A prompt reaches the queue of the
//! writer in the first poll.
//!
//! Reading a large body would block the caller for too long. One task starts such requests, and all requests behind
//! them, in order.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use axum::Router;
use axum::body::{Body, HttpBody};
use axum::http::{Request, Response};
use futures::FutureExt;
use tokio::runtime::Handle;
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tokio_util::task::task_tracker::TaskTrackerToken;
use tower::ServiceExt;

/// Bytes of a body up to which the caller's own thread reads it.
const SMALL: u64 = 16 * 1024;

/// Requests that may wait behind a large one. More than this means that the caller floods its own
/// process, and it is told so.
const QUEUE: usize = 65_536;

/// The host is closed, or has more requests waiting than it can hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Closed;

/// A caller that waits for an answer.
struct Caller {
    answer: oneshot::Sender<Response<Body>>,
    /// Counts the request as unanswered, from the call on.
    under_way: TaskTrackerToken,
}

impl Caller {
    fn answer(self, response: Response<Body>) {
        // First, so that the caller finds the request no longer counted when it receives the answer.
        drop(self.under_way);
        // The send fails if the caller dropped its future; then no answer is needed.
        drop(self.answer.send(response));
    }
}

/// Begins requests in order.
pub(crate) struct Dispatcher {
    router: Router,
    /// The runtime for requests that start outside of it.
    runtime: Handle,
    queue: mpsc::Sender<(Request<Body>, Caller)>,
    /// Requests in the queue that have not started yet.
    queued: Arc<AtomicUsize>,
    closing: CancellationToken,
    /// Requests that were sent and not answered. Closed from the beginning, so that one can wait
    /// for it to be empty.
    requests: TaskTracker,
}

impl Dispatcher {
    pub(crate) fn start(router: Router) -> Self {
        let (queue, mut requests) = mpsc::channel::<(Request<Body>, Caller)>(QUEUE);
        let closing = CancellationToken::new();
        let queued = Arc::new(AtomicUsize::new(0));
        let (routes, closed, waiting) = (router.clone(), closing.clone(), Arc::clone(&queued));
        opencode_log::spawn(async move {
            loop {
                tokio::select! {
                    biased;
                    () = closed.cancelled() => return,
                    request = requests.recv() => match request {
                        Some((request, caller)) => begin(&routes, request, caller, &closed),
                        None => return,
                    },
                }
                waiting.fetch_sub(1, Ordering::Release);
            }
        });
        let requests = TaskTracker::new();
        requests.close();
        Self {
            router,
            runtime: Handle::current(),
            queue,
            queued,
            closing,
            requests,
        }
    }

    pub(crate) fn send(
        &self,
        request: Request<Body>,
    ) -> impl Future<Output = Result<Response<Body>, Closed>> + Send + use<> {
        let (answer, response) = oneshot::channel();
        let under_way = self.requests.token();
        let taken = self.take(request, Caller { answer, under_way });
        async move {
            taken?;
            response.await.map_err(|_| Closed)
        }
    }

    fn take(&self, request: Request<Body>, caller: Caller) -> Result<(), Closed> {
        if self.closing.is_cancelled() {
            return Err(Closed);
        }
        let is_small = request
            .body()
            .size_hint()
            .upper()
            .is_some_and(|it| it <= SMALL);
        if is_small && self.queued.load(Ordering::Acquire) == 0 {
            let _context = self.runtime.enter();
            begin(&self.router, request, caller, &self.closing);
            return Ok(());
        }
        // Counted before the task can see it.
        self.queued.fetch_add(1, Ordering::Relaxed);
        let queued = self.queue.try_send((request, caller));
        queued.map_err(|_| {
            self.queued.fetch_sub(1, Ordering::Release);
            Closed
        })
    }

    /// Completes when every request so far is answered or dropped.
    pub(crate) fn until_answered(&self) -> impl Future<Output = ()> + Send + use<> {
        let requests = self.requests.clone();
        async move { requests.wait().await }
    }

    /// Refuses further requests. Requests without an answer fail with [`Closed`].
    pub(crate) fn close(&self) {
        self.closing.cancel();
    }
}

fn begin(router: &Router, request: Request<Body>, mut caller: Caller, closed: &CancellationToken) {
    let mut response = answer(router.clone(), request).boxed();
    // Unconstrained, because the poll could otherwise exhaust the budget of the task, stop before the queue of the
    // writer, and be overtaken by a later request.
    match tokio::task::unconstrained(&mut response).now_or_never() {
        Some(response) => caller.answer(response),
        None => {
            let closed = closed.clone();
            opencode_log::spawn(async move {
                let response = tokio::select! {
                    biased;
                    response = &mut response => response,
                    // The caller dropped its future. Work that must complete runs in a task of its own.
                    () = caller.answer.closed() => return,
                    // The request waits for an event that closing does not cause.
                    () = closed.cancelled() => return,
                };
                caller.answer(response);
            });
        }
    }
}

/// Returns the answer of the router. A panic ends this request alone.
async fn answer(router: Router, request: Request<Body>) -> Response<Body> {
    match AssertUnwindSafe(router.oneshot(request))
        .catch_unwind()
        .await
    {
        Ok(Ok(response)) => response,
        Ok(Err(never)) => match never {},
        Err(_) => opencode_server::panicked(),
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::sync::Mutex;

    use axum::body::Bytes;
    use axum::extract::State;
    use axum::http::StatusCode;
    use axum::routing::get;
    use futures::poll;
    use tokio::sync::Notify;
    use tokio::task::consume_budget;

    use super::*;

    #[tokio::test]
    async fn a_request_starts_at_once_without_cooperative_budget() {
        let (queue, mut queued) = mpsc::channel(1);
        let write = |State(queue): State<mpsc::Sender<()>>| async move {
            queue.send(()).await.expect("the test reads");
        };
        let router = Router::new().route("/", get(write)).with_state(queue);
        while poll!(pin!(consume_budget())).is_ready() {}
        let caller = Caller {
            answer: oneshot::channel().0,
            under_way: TaskTracker::new().token(),
        };
        let closed = CancellationToken::new();
        begin(&router, Request::new(Body::empty()), caller, &closed);
        assert_eq!(queued.try_recv(), Ok(()));
    }

    #[tokio::test]
    async fn a_panic_ends_its_own_request_alone() {
        let at_once = || async { panic!("at once") as StatusCode };
        let later = || async {
            tokio::task::yield_now().await;
            panic!("later") as StatusCode
        };
        let router = Router::new()
            .route("/at-once", get(at_once))
            .route("/later", get(later))
            .route("/", get(|| async { StatusCode::OK }));
        let dispatcher = Dispatcher::start(router);
        let large = Body::from(vec![b'a'; SMALL as usize + 1]);
        for (path, body) in [
            ("/at-once", Body::empty()),
            ("/later", Body::empty()),
            ("/at-once", large),
        ] {
            let request = Request::get(path).body(body).unwrap();
            let answer = dispatcher.send(request).await.unwrap();
            assert_eq!(answer.status(), StatusCode::INTERNAL_SERVER_ERROR);
            let body = axum::body::to_bytes(answer.into_body(), 4096)
                .await
                .unwrap();
            let body = String::from_utf8(body.to_vec()).unwrap();
            assert!(body.contains(r#""_tag":"UnknownError""#), "{body}");
            assert!(body.contains(r#""ref":"err_"#), "{body}");
        }
        let answer = dispatcher.send(request()).await;
        assert_eq!(answer.map(|it| it.status()), Ok(StatusCode::OK));
        dispatcher.until_answered().await;
    }

    /// A dispatcher that answers one request for each notification of `release`.
    fn held() -> (Dispatcher, Arc<Notify>) {
        let release = Arc::new(Notify::new());
        let wait = |State(release): State<Arc<Notify>>| async move { release.notified().await };
        let router = Router::new().route("/", get(wait));
        let dispatcher = Dispatcher::start(router.with_state(Arc::clone(&release)));
        (dispatcher, release)
    }

    fn request() -> Request<Body> {
        Request::new(Body::empty())
    }

    #[tokio::test]
    async fn a_request_is_in_progress_from_its_call_to_its_answer() {
        let (dispatcher, release) = held();
        dispatcher.until_answered().await;
        let (first, second) = (dispatcher.send(request()), dispatcher.send(request()));
        let mut answered = pin!(dispatcher.until_answered());
        assert!(poll!(&mut answered).is_pending());
        release.notify_one();
        assert_eq!(first.await.map(|it| it.status()), Ok(StatusCode::OK));
        assert!(poll!(&mut answered).is_pending());
        release.notify_one();
        assert_eq!(second.await.map(|it| it.status()), Ok(StatusCode::OK));
        assert!(poll!(&mut answered).is_ready());
    }

    #[tokio::test]
    async fn a_request_without_a_caller_is_not_in_progress() {
        let (dispatcher, _release) = held();
        drop(dispatcher.send(request()));
        dispatcher.until_answered().await;
    }

    /// A dispatcher that notes the bodies of its requests as it begins them.
    fn noting() -> (Dispatcher, Arc<Mutex<Vec<usize>>>) {
        let noted = Arc::new(Mutex::new(Vec::new()));
        let note = |State(noted): State<Arc<Mutex<Vec<usize>>>>, body: Bytes| async move {
            noted.lock().unwrap().push(body.len());
        };
        let router = Router::new().route("/", get(note));
        let dispatcher = Dispatcher::start(router.with_state(Arc::clone(&noted)));
        (dispatcher, noted)
    }

    #[tokio::test]
    async fn a_call_starts_a_small_request_itself() {
        let (dispatcher, noted) = noting();
        let answer = dispatcher.send(Request::new(Body::from("abc")));
        assert_eq!(*noted.lock().unwrap(), [3]);
        assert_eq!(answer.await.map(|it| it.status()), Ok(StatusCode::OK));
    }

    #[tokio::test]
    async fn a_task_starts_a_large_request_and_later_requests_wait_for_it() {
        let (dispatcher, noted) = noting();
        let large = SMALL as usize + 1;
        let bodies = [large, 1, 2, large, 3];
        let answers = bodies.map(|it| dispatcher.send(Request::new(Body::from(vec![b'a'; it]))));
        assert_eq!(*noted.lock().unwrap(), Vec::<usize>::new());
        for answer in answers {
            assert_eq!(answer.await.map(|it| it.status()), Ok(StatusCode::OK));
        }
        assert_eq!(*noted.lock().unwrap(), bodies);
        drop(dispatcher.send(request()));
        assert_eq!(
            noted.lock().unwrap().last(),
            Some(&0),
            "the queue is empty again"
        );
    }

    #[tokio::test]
    async fn closing_ends_waiting_requests() {
        let (dispatcher, _release) = held();
        let waiting = dispatcher.send(request());
        dispatcher.close();
        assert_eq!(waiting.await.err(), Some(Closed));
        assert_eq!(dispatcher.send(request()).await.err(), Some(Closed));
        dispatcher.until_answered().await;
    }
}
