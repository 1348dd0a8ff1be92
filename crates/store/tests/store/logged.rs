//! Log entries of the host about its database.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use opencode_log::{Entries, Entry, Filter, Level, Log};
use opencode_store::{Fault, Moment, Order, SessionFilter, TestHook};
use serde_json::json;
use tracing::dispatcher::{DefaultGuard, set_default};

use crate::harness::{
    Bench, admitted, append, create, event, incompressible, open_watched, prompted,
};

/// Records warnings and errors until it is dropped.
struct Recorded {
    log: Log,
    entries: Entries,
    _default: DefaultGuard,
}

impl Recorded {
    fn begin() -> Self {
        let (log, entries) = Log::new(Filter::new(Some(Level::Warn), BTreeMap::new()));
        let default = set_default(&log.dispatch());
        Self {
            log,
            entries,
            _default: default,
        }
    }

    /// Returns level, message and session of every entry.
    async fn all(self) -> Vec<(Level, String, Option<String>)> {
        self.log.end();
        let mut all = Vec::new();
        while let Some(entries) = self.entries.next().await {
            all.extend(entries);
        }
        let is_ours = |entry: &Entry| entry.target == "opencode::store";
        assert!(all.iter().all(is_ours), "{all:?}");
        let shown = |entry: Entry| (entry.level, entry.message, entry.session_id);
        all.into_iter().map(shown).collect()
    }
}

/// Injects this fault into every checkpoint.
struct Folds(Mutex<Option<Fault>>);

impl TestHook for Folds {
    fn at(&self, moment: Moment<'_>) -> Result<(), Fault> {
        match moment {
            Moment::Checkpoint => self.0.lock().unwrap().map_or(Ok(()), Err),
            _ => Ok(()),
        }
    }
}

#[tokio::test]
async fn a_failed_checkpoint_is_logged() {
    let in_use = (Level::Warn, "the write-ahead log is in use and grows");
    let cannot = (
        Level::Error,
        "the write-ahead log cannot be folded into the file",
    );
    let left = (
        Level::Warn,
        "the write-ahead log is left to the next opening",
    );
    for (fault, expected) in [(Fault::Locked, in_use), (Fault::Io, cannot)] {
        let recorded = Recorded::begin();
        let folder = tempfile::tempdir().unwrap();
        let folds: Arc<dyn TestHook> = Arc::new(Folds(Mutex::new(Some(fault))));
        let path = folder.path().join("opencode.db");
        let store = open_watched(&path, folds).await.unwrap();
        let session = create(&store, "ses_a").await;
        // More pages than the limit for a checkpoint.
        let text = incompressible(1_200 * 4096);
        let long = event("synthetic", json!({"messageID": "msg_a", "text": text}));
        let written = append(&store, &session.info.id, 5, long).await;
        written.unwrap();
        store.close().await;
        let entries = recorded.all().await;
        let entries: Vec<_> = entries.iter().map(|it| (it.0, it.1.as_str())).collect();
        assert_eq!(entries, [expected, left]);
    }
}

#[tokio::test]
async fn a_session_that_lists_omit_is_logged_by_name() {
    let recorded = Recorded::begin();
    let (bench, _) = Bench::with_session("ses_a").await;
    let cut = bench.session("ses_b").await;
    for event in [
        admitted("msg_u", "one", "steer"),
        prompted("msg_u", "one", "steer"),
    ] {
        bench.append(&cut, 5, event).await;
    }
    let raw = bench.raw();
    raw.execute("UPDATE session SET cost = 'x' WHERE aggregate = 1", [])
        .unwrap();
    let filter = SessionFilter::default();
    let listed = bench
        .store
        .read(move |db| db.sessions(&filter, Order::Ascending, None, 9));
    assert_eq!(listed.await.unwrap().len(), 1);
    raw.execute("UPDATE event SET data = '' WHERE aggregate = 2", [])
        .unwrap();
    let interrupted = bench.store.read(|db| db.interrupted()).await.unwrap();
    assert_eq!(interrupted, []);
    bench.store.close().await;
    let mut entries = recorded.all().await;
    // A list reads again to replace the sessions that it omits.
    entries.dedup();
    let unreadable = |session: &str| {
        let message = "a session is unreadable".to_owned();
        (Level::Error, message, Some(session.to_owned()))
    };
    assert_eq!(entries, [unreadable("ses_a"), unreadable("ses_b")]);
}
