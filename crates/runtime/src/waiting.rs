//! Requests that wait for somebody's answer, in memory alone: what waits when a host ends is gone.
//!
//! Everybody is told of each request when it comes and when it goes, in that order, and never of its
//! end before it is one.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures::{Stream, stream};
use opencode_schema::event::Notice;
use opencode_schema::id::{IdSource, SessionID};
use opencode_schema::location::LocationRef;
use tokio::sync::{oneshot, watch};

use crate::attended::Attended;
use crate::core::notify;
use crate::live::LiveEvents;

/// Requests of one session that may wait. More than anybody answers; a client that only asks must
/// not fill the memory.
const MAX_WAITING: usize = 1000;

/// One kind of request.
pub(crate) trait Request: Send + Sync + 'static {
    type Id: PartialEq + Send + Sync + 'static;
    type Answer: Send + 'static;

    fn id(&self) -> &Self::Id;
    fn session_id(&self) -> &SessionID;
    /// Where the session was when it asked.
    fn location(&self) -> &LocationRef;
    /// What everybody is told when it comes.
    fn asked(&self) -> Notice;
    /// What everybody is told when it goes without an answer.
    fn given_up(&self) -> Notice;
}

/// The requests of one kind that wait in a host.
pub(crate) struct Waiting<R: Request> {
    live: Arc<LiveEvents>,
    ids: Arc<IdSource>,
    /// Locked to look, to add, to take, and to tell of it; never across an await.
    state: Mutex<State<R>>,
    /// Changes when one comes or goes, and when nothing comes any more.
    changed: watch::Sender<()>,
}

struct State<R: Request> {
    /// In the order of their coming.
    open: Vec<Open<R>>,
    /// The host closes; nothing waits any more.
    ended: bool,
}

struct Open<R: Request> {
    request: Arc<R>,
    answer: oneshot::Sender<R::Answer>,
    /// Somebody answers it at this moment.
    claimed: bool,
}

/// Why a request does not wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NotAsked {
    /// Another one of its id does.
    Taken,
    /// As many as may wait in a session do.
    Full,
    /// The host is closed.
    Ended,
}

impl<R: Request> Waiting<R> {
    pub(crate) fn new(live: Arc<LiveEvents>, ids: Arc<IdSource>) -> Self {
        let state = State {
            open: Vec::new(),
            ended: false,
        };
        Self {
            live,
            ids,
            state: Mutex::new(state),
            changed: watch::Sender::new(()),
        }
    }

    /// Lets a request wait, and tells everybody.
    pub(crate) fn ask(self: &Arc<Self>, request: R) -> Result<Asked<R>, NotAsked> {
        let mut state = self.lock();
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
        let request = Arc::new(request);
        self.tell(&request, &request.asked());
        state.open.push(Open {
            request: Arc::clone(&request),
            answer,
            claimed: false,
        });
        drop(state);
        self.changed.send_replace(());
        Ok(Asked {
            answered,
            guard: GivesUp {
                waiting: Arc::clone(self),
                request,
                armed: true,
            },
        })
    }

    /// What waits and fits, in the order of its coming.
    pub(crate) fn list(&self, fits: impl Fn(&R) -> bool) -> Vec<Arc<R>> {
        let state = self.lock();
        let open = state.open.iter().map(|it| &it.request);
        open.filter(|request| fits(request)).cloned().collect()
    }

    /// Takes it on to answer a request of a session. Nobody else can until the claim is dropped.
    pub(crate) fn claim(self: &Arc<Self>, session: &SessionID, id: &R::Id) -> Option<Claim<R>> {
        let mut state = self.lock();
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

    /// Gives up everything that waits, and whatever is asked from now on.
    pub(crate) fn end(&self) {
        let mut state = self.lock();
        state.ended = true;
        for open in state.open.drain(..) {
            self.tell(&open.request, &open.request.given_up());
        }
        drop(state);
        self.changed.send_replace(());
    }

    /// The requests that wait, then those that come, each once, and the end of each of them. A request
    /// that ends before the caller reads it is left out. Ends when the host closes.
    pub(crate) fn attend(
        self: &Arc<Self>,
    ) -> impl Stream<Item = Attended<Arc<R>, Arc<R>>> + Send + use<R> {
        let attending = Attending {
            waiting: Arc::clone(self),
            changed: self.changed.subscribe(),
            seen: Vec::new(),
        };
        stream::unfold(attending, |mut attending| async {
            let notice = attending.next().await?;
            Some((notice, attending))
        })
    }

    /// Takes a request away and tells everybody why, unless it is gone already.
    fn take(&self, request: &Arc<R>, notice: impl FnOnce() -> Notice) -> Option<Open<R>> {
        let mut state = self.lock();
        let same = |open: &Open<R>| Arc::ptr_eq(&open.request, request);
        let place = state.open.iter().position(same)?;
        let open = state.open.remove(place);
        self.tell(request, &notice());
        drop(state);
        self.changed.send_replace(());
        Some(open)
    }

    fn tell(&self, request: &R, notice: &Notice) {
        notify(&self.live, &self.ids, Some(request.location()), notice);
    }

    fn lock(&self) -> MutexGuard<'_, State<R>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Somebody who looks at each request.
struct Attending<R: Request> {
    waiting: Arc<Waiting<R>>,
    changed: watch::Receiver<()>,
    /// Those that were seen and whose end was not.
    seen: Vec<Arc<R>>,
}

impl<R: Request> Attending<R> {
    async fn next(&mut self) -> Option<Attended<Arc<R>, Arc<R>>> {
        loop {
            self.changed.borrow_and_update();
            if let Some(request) = self.ended() {
                return Some(Attended::Ended(request));
            }
            if let Some(request) = self.unseen()? {
                self.seen.push(Arc::clone(&request));
                return Some(Attended::Asked(request));
            }
            self.changed.changed().await.ok()?;
        }
    }

    /// The first that was seen and waits no more.
    fn ended(&mut self) -> Option<Arc<R>> {
        let state = self.waiting.lock();
        let waits = |seen: &Arc<R>| state.open.iter().any(|it| Arc::ptr_eq(&it.request, seen));
        let place = self.seen.iter().position(|seen| !waits(seen))?;
        Some(self.seen.remove(place))
    }

    /// The first that waits and was not seen; nothing at all when nothing waits any more.
    fn unseen(&self) -> Option<Option<Arc<R>>> {
        let state = self.waiting.lock();
        if state.ended {
            return None;
        }
        let is_new = |it: &&Open<R>| !self.seen.iter().any(|seen| Arc::ptr_eq(seen, &it.request));
        let found = state.open.iter().find(is_new);
        Some(found.map(|it| Arc::clone(&it.request)))
    }
}

/// A request that waits. It is given up when this is dropped, unless it was answered.
pub(crate) struct Asked<R: Request> {
    answered: oneshot::Receiver<R::Answer>,
    guard: GivesUp<R>,
}

impl<R: Request> Asked<R> {
    /// The answer; none if the host closed, or when nobody has answered before `patience` ends.
    pub(crate) async fn answer(self, patience: impl Future<Output = ()>) -> Option<R::Answer> {
        let Self {
            answered,
            guard: _guard,
        } = self;
        tokio::select! {
            biased;
            answer = answered => answer.ok(),
            () = patience => None,
        }
    }

    /// Lets the request wait although nobody waits for its answer.
    pub(crate) fn leave(mut self) {
        self.guard.armed = false;
    }
}

struct GivesUp<R: Request> {
    waiting: Arc<Waiting<R>>,
    request: Arc<R>,
    armed: bool,
}

impl<R: Request> Drop for GivesUp<R> {
    fn drop(&mut self) {
        if self.armed {
            let notice = || self.request.given_up();
            self.waiting.take(&self.request, notice);
        }
    }
}

/// The right to answer a request. Dropping it leaves the request as it was.
pub(crate) struct Claim<R: Request> {
    waiting: Arc<Waiting<R>>,
    request: Arc<R>,
}

impl<R: Request> Claim<R> {
    pub(crate) fn request(&self) -> &R {
        &self.request
    }

    /// Tells everybody, then whoever waits. One that was given up meanwhile has had its end.
    pub(crate) fn answer(self, notice: Notice, answer: R::Answer) {
        if let Some(open) = self.waiting.take(&self.request, || notice) {
            // Whoever does not wait any more is about to go away.
            let _ = open.answer.send(answer);
        }
    }
}

impl<R: Request> Drop for Claim<R> {
    fn drop(&mut self) {
        let mut state = self.waiting.lock();
        let same = |open: &&mut Open<R>| Arc::ptr_eq(&open.request, &self.request);
        if let Some(open) = state.open.iter_mut().find(same) {
            open.claimed = false;
        }
    }
}
