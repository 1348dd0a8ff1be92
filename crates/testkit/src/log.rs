//! What a host would tell its log, in the hands of a test.

use std::collections::BTreeMap;
use std::time::Duration;

use opencode_log::{Entries, Entry, Filter, Level, Log};
use tracing::dispatcher::DefaultGuard;

/// How long an entry may take. Far more than anything needs, because machines are busy.
const DEADLINE: Duration = Duration::from_secs(30);

/// The entries of everything that a test does on its thread, and of all tasks and threads that this
/// starts. A test begins it before it opens a runtime.
pub struct RecordedLog {
    log: Log,
    entries: Entries,
    seen: Vec<Entry>,
    _default: DefaultGuard,
}

impl RecordedLog {
    /// Records from now on, as long as it lives.
    #[must_use]
    pub fn begin() -> Self {
        let (log, entries) = Log::new(Filter::new(Some(Level::Debug), BTreeMap::new()));
        let default = tracing::dispatcher::set_default(&log.dispatch());
        Self {
            log,
            entries,
            seen: Vec::new(),
            _default: default,
        }
    }

    /// Waits for an entry with this message.
    pub async fn find(&mut self, message: &str) -> Entry {
        loop {
            if let Some(found) = self.seen.iter().find(|entry| entry.message == message) {
                return found.clone();
            }
            match tokio::time::timeout(DEADLINE, self.entries.next()).await {
                Ok(Some(more)) => self.seen.extend(more),
                _ => panic!("no entry {message:?} among {:#?}", self.seen),
            }
        }
    }

    /// Forgets what was found, so that a later entry with the same message is found next.
    pub fn forget(&mut self) {
        self.seen.clear();
    }

    /// All entries so far. No further ones are recorded.
    pub async fn all(mut self) -> Vec<Entry> {
        self.log.end();
        while let Some(more) = self.entries.next().await {
            self.seen.extend(more);
        }
        std::mem::take(&mut self.seen)
    }
}
