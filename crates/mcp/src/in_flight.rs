//! A request to a server that waits for its answer.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use crate::call::{Ask, CallContext, Progress};

/// Maximum number of forms in one tool call.
const MAX_FORMS: usize = 20;

/// A request to a server that waits for its answer.
pub(crate) struct InFlight {
    /// The context, if it is a tool call.
    call: Option<CallContext>,
    /// Notified when the time limit of the request starts again.
    pub(crate) active: Notify,
    /// Number of forms that wait for a user. The time limit does not run meanwhile.
    waiting: AtomicUsize,
    /// Number of all forms.
    forms: AtomicUsize,
    over: CancellationToken,
}

impl InFlight {
    pub(crate) fn new(call: Option<CallContext>) -> Arc<Self> {
        Arc::new(Self {
            call,
            active: Notify::new(),
            waiting: AtomicUsize::new(0),
            forms: AtomicUsize::new(0),
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

    /// Stops the time limit until the return value is dropped, for one more form. `None` if there were too
    /// many.
    pub(crate) fn pause(self: &Arc<Self>) -> Option<Pause> {
        if self.forms.fetch_add(1, Ordering::Relaxed) >= MAX_FORMS {
            return None;
        }
        self.waiting.fetch_add(1, Ordering::Relaxed);
        Some(Pause(Arc::clone(self)))
    }

    /// True while a user is asked.
    pub(crate) fn is_paused(&self) -> bool {
        self.waiting.load(Ordering::Relaxed) > 0
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
        self.0.waiting.fetch_sub(1, Ordering::Relaxed);
        self.0.active.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_pauses_for_each_form_but_not_for_too_many() {
        let call = InFlight::new(None);
        let (first, second) = (call.pause(), call.pause());
        assert!(call.is_paused());
        drop(first);
        assert!(call.is_paused());
        drop(second);
        assert!(!call.is_paused());
        let more = (0..100).filter(|_| call.pause().is_some()).count();
        assert_eq!(more, MAX_FORMS - 2);
        assert!(!call.is_paused());
    }
}
