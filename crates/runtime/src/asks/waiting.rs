//! Requests that wait for an answer. They exist only in memory and are lost when the host ends.
//!
//! Clients receive a notice when a request starts to wait, and then a notice when it ends. A request has always ended
//! before its end is announced.

use std::sync::Arc;

use futures::{Stream, stream};
use opencode_schema::event::Notice;
use opencode_schema::id::SessionID;
use opencode_schema::location::LocationRef;
use parking_lot::Mutex;
use tokio::sync::{oneshot, watch};

use crate::asks::notice::RequestNotice;
use crate::live::Announcer;

/// Maximum number of waiting requests of one session. It is more than users answer, and it bounds the memory that a
/// client can fill with requests.
const MAX_WAITING: usize = 1000;

/// One kind of request.
pub(crate) trait Request: Send + Sync + 'static {
    type Id: PartialEq + Send + Sync + 'static;
    type Answer: Send + 'static;

    fn id(&self) -> &Self::Id;
    fn session_id(&self) -> &SessionID;
    /// The Location of the session when it asked.
    fn location(&self) -> &LocationRef;
    /// The notice to clients when the request starts to wait.
    fn asked_notice(&self) -> Notice;
    /// The notice to clients when the request ends without an answer.
    fn ended_notice(&self) -> Notice;
}

/// The waiting requests of one kind in a host.
pub(crate) struct Waiting<R: Request> {
    announcer: Arc<Announcer>,
    /// Locked to read, add and remove requests, and to announce that; never across an await.
    state: Mutex<State<R>>,
    /// Changes when a request starts or ends, and when the host closes.
    changed: watch::Sender<()>,
}

struct State<R: Request> {
    /// In the order of arrival.
    open: Vec<Open<R>>,
    /// True when the host closes: no request waits any more.
    ended: bool,
}

struct Open<R: Request> {
    request: Arc<R>,
    answer: oneshot::Sender<R::Answer>,
    /// True while a caller is answering it.
    claimed: bool,
}

/// Reason why a request does not wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NotAsked {
    /// Another request with its id already waits.
    Taken,
    /// The session has the maximum number of waiting requests.
    Full,
    /// The host is closed.
    Ended,
}

impl<R: Request> Waiting<R> {
    pub(crate) fn new(announcer: Arc<Announcer>) -> Self {
        let state = State {
            open: Vec::new(),
            ended: false,
        };
        Self {
            announcer,
            state: Mutex::new(state),
            changed: watch::Sender::new(()),
        }
    }

    /// Lets a request wait, and notifies clients.
    pub(crate) fn ask(
        self: &Arc<Self>,
        request: impl Into<Arc<R>>,
    ) -> Result<WaitingRequest<R>, NotAsked> {
        let request = request.into();
        let mut state = self.state.lock();
        if state.ended {
            return Err(NotAsked::Ended);
        }
        if state.open.iter().any(|it| it.request.id() == request.id()) {
            return Err(NotAsked::Taken);
        }
        let of_session = |it: &&Open<R>| it.request.session_id() == request.session_id();
        if state.open.iter().filter(of_session).count() >= MAX_WAITING {
            return Err(NotAsked::Full);
        }
        let (answer, answered) = oneshot::channel();
        self.notify(&request, &request.asked_notice());
        state.open.push(Open {
            request: Arc::clone(&request),
            answer,
            claimed: false,
        });
        drop(state);
        self.changed.send_replace(());
        Ok(WaitingRequest {
            answered,
            guard: CancelOnDrop {
                waiting: Arc::clone(self),
                request,
                armed: true,
            },
        })
    }

    /// Announces a request and its end, for clients that show what was refused. It never waits, and no client or function
    /// can answer it.
    pub(crate) fn refuse(&self, request: &R) {
        let state = self.state.lock();
        if !state.ended {
            self.notify(request, &request.asked_notice());
            self.notify(request, &request.ended_notice());
        }
    }

    /// Returns the waiting requests that match, in the order of arrival.
    pub(crate) fn list(&self, fits: impl Fn(&R) -> bool) -> Vec<Arc<R>> {
        let state = self.state.lock();
        let open = state.open.iter().map(|it| &it.request);
        open.filter(|request| fits(request)).cloned().collect()
    }

    /// Claims the right to answer a request of a session. No other caller can answer it until the claim is dropped.
    pub(crate) fn claim(self: &Arc<Self>, session: &SessionID, id: &R::Id) -> Option<Claim<R>> {
        let mut state = self.state.lock();
        let found = state.open.iter_mut().find(|it| it.request.id() == id)?;
        if found.claimed || found.request.session_id() != session {
            return None;
        }
        found.claimed = true;
        Some(Claim {
            waiting: Arc::clone(self),
            request: Arc::clone(&found.request),
        })
    }

    /// Gives up all waiting requests and refuses all later ones.
    pub(crate) fn end(&self) {
        let mut state = self.state.lock();
        state.ended = true;
        for open in state.open.drain(..) {
            self.notify(&open.request, &open.request.ended_notice());
        }
        drop(state);
        self.changed.send_replace(());
    }

    /// Gives up the waiting requests of a session.
    pub(crate) fn withdraw(&self, session: &SessionID) {
        let of_session = |request: &R| request.session_id() == session;
        for request in self.list(of_session) {
            self.take(&request, || request.ended_notice());
        }
    }

    /// Returns the waiting requests, then new ones, each once, and the end of each of them. Omits a request that ends
    /// before the caller reads it. The stream ends when the host closes.
    pub(crate) fn attend(
        self: &Arc<Self>,
    ) -> impl Stream<Item = RequestNotice<Arc<R>, Arc<R>>> + Send + use<R> {
        let attending = RequestNotices {
            waiting: Arc::clone(self),
            changed: self.changed.subscribe(),
            seen: Vec::new(),
        };
        stream::unfold(attending, |mut attending| async {
            let notice = attending.next().await?;
            Some((notice, attending))
        })
    }

    /// Removes a request and announces the notice. Does nothing if the request has already ended.
    fn take(&self, request: &Arc<R>, notice: impl FnOnce() -> Notice) -> Option<Open<R>> {
        let mut state = self.state.lock();
        let same = |open: &Open<R>| Arc::ptr_eq(&open.request, request);
        let place = state.open.iter().position(same)?;
        let open = state.open.remove(place);
        self.notify(request, &notice());
        drop(state);
        self.changed.send_replace(());
        Some(open)
    }

    fn notify(&self, request: &R, notice: &Notice) {
        self.announcer.notify(Some(request.location()), notice);
    }
}

/// A reader that receives each request once.
struct RequestNotices<R: Request> {
    waiting: Arc<Waiting<R>>,
    changed: watch::Receiver<()>,
    /// Requests whose start was reported and whose end was not.
    seen: Vec<Arc<R>>,
}

impl<R: Request> RequestNotices<R> {
    async fn next(&mut self) -> Option<RequestNotice<Arc<R>, Arc<R>>> {
        loop {
            self.changed.borrow_and_update();
            if let Some(request) = self.ended() {
                return Some(RequestNotice::Ended(request));
            }
            if let Some(request) = self.next_unreported()? {
                self.seen.push(Arc::clone(&request));
                return Some(RequestNotice::Asked(request));
            }
            self.changed.changed().await.ok()?;
        }
    }

    /// Returns the first reported request that does not wait any more.
    fn ended(&mut self) -> Option<Arc<R>> {
        let state = self.waiting.state.lock();
        let waits = |seen: &Arc<R>| state.open.iter().any(|it| Arc::ptr_eq(&it.request, seen));
        let place = self.seen.iter().position(|seen| !waits(seen))?;
        Some(self.seen.remove(place))
    }

    /// Returns the first waiting request that was not reported yet. The outer `None` means that the host has closed.
    fn next_unreported(&self) -> Option<Option<Arc<R>>> {
        let state = self.waiting.state.lock();
        if state.ended {
            return None;
        }
        let is_new = |it: &&Open<R>| !self.seen.iter().any(|seen| Arc::ptr_eq(seen, &it.request));
        let found = state.open.iter().find(is_new);
        Some(found.map(|it| Arc::clone(&it.request)))
    }
}

/// A waiting request. Dropping it gives the request up, unless it was answered.
pub(crate) struct WaitingRequest<R: Request> {
    answered: oneshot::Receiver<R::Answer>,
    guard: CancelOnDrop<R>,
}

impl<R: Request> WaitingRequest<R> {
    /// Returns the answer; `None` if the host closes, or if no answer comes before `timeout` ends.
    pub(crate) async fn answer(self, timeout: impl Future<Output = ()>) -> Option<R::Answer> {
        let Self {
            answered,
            guard: _guard,
        } = self;
        tokio::select! {
            biased;
            answer = answered => answer.ok(),
            () = timeout => None,
        }
    }

    /// Keeps the request waiting although no caller waits for its answer.
    pub(crate) fn keep_waiting(mut self) {
        self.guard.armed = false;
    }
}

struct CancelOnDrop<R: Request> {
    waiting: Arc<Waiting<R>>,
    request: Arc<R>,
    armed: bool,
}

impl<R: Request> Drop for CancelOnDrop<R> {
    fn drop(&mut self) {
        if self.armed {
            let notice = || self.request.ended_notice();
            self.waiting.take(&self.request, notice);
        }
    }
}

/// The right to answer a request. Dropping it leaves the request unchanged.
pub(crate) struct Claim<R: Request> {
    waiting: Arc<Waiting<R>>,
    request: Arc<R>,
}

impl<R: Request> Claim<R> {
    pub(crate) fn request(&self) -> &R {
        &self.request
    }

    /// Notifies clients, then sends the answer to the caller that waits. Does nothing if the request was given up in
    /// the meantime.
    pub(crate) fn answer(self, notice: Notice, answer: R::Answer) {
        if let Some(open) = self.waiting.take(&self.request, || notice) {
            // The send fails if the caller dropped its future; then it needs no answer.
            let _ = open.answer.send(answer);
        }
    }
}

impl<R: Request> Drop for Claim<R> {
    fn drop(&mut self) {
        let mut state = self.waiting.state.lock();
        let same = |open: &&mut Open<R>| Arc::ptr_eq(&open.request, &self.request);
        if let Some(open) = state.open.iter_mut().find(same) {
            open.claimed = false;
        }
    }
}
