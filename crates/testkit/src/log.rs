//! The log entries of the runtime, for a test that reads them.

use std::collections::BTreeMap;
use std::time::Duration;

use opencode_log::{Entries, Entry, Filter, Level, Log};
use tracing::dispatcher::DefaultGuard;

/// Maximum wait for an entry. It is far longer than any entry needs, because machines can be busy.
const DEADLINE: Duration = Duration::from_secs(30);

/// The log entries of the test thread and of all tasks and threads that it starts. A test begins
/// the log before it opens a runtime.
pub struct RecordedLog {
    log: Log,
    entries: Entries,
    seen: Vec<Entry>,
    _default: DefaultGuard,
}

impl RecordedLog {
    /// Records entries until the value is dropped.
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

    /// Discards the entries found so far, so that [`RecordedLog::find`] returns a later entry with
    /// the same message.
    pub fn forget(&mut self) {
        self.seen.clear();
    }

    /// Ends the recording and returns all entries.
    pub async fn all(mut self) -> Vec<Entry> {
        self.log.end();
        while let Some(more) = self.entries.next().await {
            self.seen.extend(more);
        }
        std::mem::take(&mut self.seen)
    }
}
