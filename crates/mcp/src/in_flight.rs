//! A request to a server that waits for its answer.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use crate::call::{Ask, CallContext, Progress};

/// A request to a server that waits for its answer.
pub(crate) struct InFlight {
    /// The surroundings, if it is a tool call.
    call: Option<CallContext>,
    /// Notified when the time limit of the request starts again.
    pub(crate) active: Notify,
    /// Number of questions to a user. The time limit does not run meanwhile.
    questions: AtomicUsize,
    over: CancellationToken,
}

impl InFlight {
    pub(crate) fn new(call: Option<CallContext>) -> Arc<Self> {
        Arc::new(Self {
            call,
            active: Notify::new(),
            questions: AtomicUsize::new(0),
            over: CancellationToken::new(),
        })
    }

    /// Returns the session of a tool call.
    pub(crate) fn session(&self) -> Option<&str> {
        self.call.as_ref().map(|call| call.session.as_str())
    }

    /// Returns the port to the user of a tool call.
    pub(crate) fn ask(&self) -> Option<Arc<dyn Ask>> {
        self.call.as_ref().map(|call| Arc::clone(&call.ask))
    }

    /// Called with each progress report.
    pub(crate) fn progress(&self, progress: Progress) {
        self.active.notify_one();
        if let Some(call) = &self.call
            && !self.over.is_cancelled()
        {
            (call.progress)(progress);
        }
    }

    /// Stops the time limit until the return value is dropped.
    pub(crate) fn pause(self: &Arc<Self>) -> Pause {
        self.questions.fetch_add(1, Ordering::Relaxed);
        Pause(Arc::clone(self))
    }

    /// True while a user is asked.
    pub(crate) fn is_paused(&self) -> bool {
        self.questions.load(Ordering::Relaxed) > 0
    }

    /// Marks the request as over.
    pub(crate) fn finish(&self) {
        self.over.cancel();
    }

    /// Returns when the request is over.
    pub(crate) async fn over(&self) {
        self.over.cancelled().await;
    }
}

/// Stops the time limit of a request while it exists.
pub(crate) struct Pause(Arc<InFlight>);

impl Drop for Pause {
    fn drop(&mut self) {
        self.0.questions.fetch_sub(1, Ordering::Relaxed);
        self.0.active.notify_one();
    }
}
