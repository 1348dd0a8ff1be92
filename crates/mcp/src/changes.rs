//! The changes that a server announces.

use parking_lot::Mutex;
use tokio::sync::Notify;

/// Changes since they were last taken. Many announcements of one list are one change.
#[derive(Default)]
pub(crate) struct Changes {
    seen: Mutex<Seen>,
    wake: Notify,
}

/// The lists that have changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Seen {
    pub(crate) tools: bool,
    pub(crate) prompts: bool,
    pub(crate) resources: bool,
}

impl Changes {
    pub(crate) fn tools(&self) {
        self.add(|seen| seen.tools = true);
    }

    pub(crate) fn prompts(&self) {
        self.add(|seen| seen.prompts = true);
    }

    pub(crate) fn resources(&self) {
        self.add(|seen| seen.resources = true);
    }

    /// Adds a change of every list.
    pub(crate) fn all(&self) {
        self.add(|seen| {
            *seen = Seen {
                tools: true,
                prompts: true,
                resources: true,
            };
        });
    }

    fn add(&self, change: impl FnOnce(&mut Seen)) {
        change(&mut self.seen.lock());
        self.wake.notify_one();
    }

    /// Returns the next changes.
    pub(crate) async fn next(&self) -> Seen {
        loop {
            self.wake.notified().await;
            let seen = std::mem::take(&mut *self.seen.lock());
            if seen != Seen::default() {
                return seen;
            }
        }
    }
}
