//! The durable event store: one SQLite file with the log of every session and its projections.
//!
//! The store uses only SQLite and the types of `opencode-schema`. It does not run sessions: it has
//! no models, tools or HTTP. Callers make decisions inside [`Store::write`], so that a decision,
//! its events and their projections commit together or not at all.
//!
//! - `open`: opening, locking and migrating the file.
//! - `integer`: session keys and sequences.
//! - `format`: the stored form of entries.
//! - `view`: the views of the database for reads and commands.
//! - `log`: reading the log.
//! - `projections`: the changes that an entry makes, one file per table.
//! - [`tail`]: signals for readers that follow a log.
//! - `writer`: the writer thread, and appending to the log.
//! - `readers`: the read-only connections.
//! - `replay`: logs from another database.
//! - `copies`: copies of sessions.
//! - `session_rules`: what decides about the tool calls of sessions, in memory.

#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

mod copies;
mod error;
mod format;
mod holder;
mod integer;
mod log;
mod open;
mod projections;
mod readers;
mod replay;
mod session_rules;
mod sync;
pub mod tail;
mod view;
mod writer;

#[cfg(test)]
mod tests;

use std::convert::Infallible;
use std::path::PathBuf;
use std::sync::Arc;

use opencode_schema::id::{IdSource, SessionID};
use parking_lot::Mutex;

use open::inspection::{Inspection, Suspicion};
use open::{Locked, Opened};
use readers::pool::Readers;
use session_rules::KnownRules;
use view::cleaner::Cleaner;
use view::demand::Demands;
use view::test_hook::Hook;
use writer::{End, Writer, WriterOptions};

pub use copies::{CopiedState, MessagesBefore, copied};
pub use error::{Abort, OpenError, StoreError};
pub use format::entry::{Committed, Draft, StoredEvent};
pub use holder::Holder;
pub use integer::{Sequence, SessionKey};
pub use open::{DatabasePath, Durability};
pub use projections::activity::Activity;
pub use projections::changes::{Changes, CountedFile};
pub use projections::credentials::Credential;
pub use projections::epoch::Epoch;
pub use projections::erasure::Remains;
pub use projections::imported::Range;
pub use projections::inbox::StoredInput;
pub use projections::messages::{Anchored, Order};
pub use projections::revert::StepFiles;
pub use projections::sessions::{SessionFilter, SessionRow};
pub use projections::{LifecycleConflict, USAGE};
pub use readers::budgets::{AppliedBudget, Spent};
pub use readers::calls::OpenCall;
pub use readers::continuity::{HistoryChanges, RecordedStep};
pub use readers::history::{HistoryPoint, HistoryRead};
pub use readers::interrupted::{Interrupted, InterruptedState};
pub use readers::storage::{SessionAge, SessionSize, StorageSize};
pub use replay::element::{ReplayEvent, ReplayOrder};
pub use replay::{ReplayConflict, ReplayOptions, Replayed};
pub use session_rules::SessionRules;
pub use view::cleaner::Clean;
pub use view::demand::Demand;
pub use view::reader::Reader;
pub use view::test_hook::{Fault, Moment, TestHook};
pub use view::transaction::Transaction;
pub use writer::CommitListener;

/// Options of [`Store::open`].
pub struct StoreOptions {
    /// Path of the database. Missing folders are created.
    pub path: DatabasePath,
    /// Guarantee for acknowledged commits after a failure.
    pub durability: Durability,
    /// Source of event ids.
    pub ids: Arc<IdSource>,
    /// Receives committed entries before their callers receive the result.
    pub listener: CommitListener,
    /// Observes access to the file. Only for tests.
    pub test_hook: Option<Arc<dyn TestHook>>,
}

/// An open database.
pub struct Store {
    writer: Writer,
    readers: Readers,
    tails: Arc<tail::Tails>,
    demands: Demands,
    cleaner: Cleaner,
    rules: KnownRules,
    /// The write-ahead log. `None` for a database in memory.
    log_file: Option<PathBuf>,
    /// Locked while taking the inspection.
    inspection: Mutex<Option<Inspection>>,
}

impl Store {
    /// Opens a database, creates or migrates it, and excludes all other hosts until it is closed.
    ///
    /// # Errors
    ///
    /// Fails with the reason, and with advice for the user.
    pub async fn open(options: StoreOptions) -> Result<Self, OpenError> {
        let (path, durability) = (options.path.clone(), options.durability);
        let name = match &path {
            DatabasePath::Memory => PathBuf::from(":memory:"),
            DatabasePath::File(path) => path.clone(),
        };
        let unavailable = |reason: String| OpenError::Unavailable { path: name, reason };
        let opened = opencode_log::spawn_blocking(move || open::open(&path, durability)).await;
        match opened {
            Ok(opened) => Self::start(opened?, options).map_err(unavailable),
            Err(error) => Err(unavailable(error.to_string())),
        }
    }

    /// Starts the threads of an open database.
    fn start(opened: Opened, options: StoreOptions) -> Result<Self, String> {
        let tails = Arc::new(tail::Tails::default());
        let hook = Hook::new(options.test_hook);
        let (demands, cleaner) = (Demands::default(), Cleaner::default());
        let rules = KnownRules::default();
        let writer_options = WriterOptions {
            ids: options.ids,
            tails: Arc::clone(&tails),
            listener: options.listener,
            hook: hook.clone(),
            demands: demands.clone(),
            cleaner: cleaner.clone(),
            rules: rules.clone(),
        };
        let Some(Locked {
            path,
            held,
            suspicion,
        }) = opened.file
        else {
            let writer = Writer::start(opened.writer, None, false, writer_options)?;
            return Ok(Self {
                readers: Readers::OnWriter(writer.clone()),
                writer,
                tails,
                demands,
                cleaner,
                rules,
                log_file: None,
                inspection: Mutex::new(None),
            });
        };
        let inherits = suspicion != Suspicion::None;
        let writer = Writer::start(opened.writer, Some(held), inherits, writer_options)?;
        let inspection = (suspicion == Suspicion::Large)
            .then(|| Inspection::start(path.clone(), writer.stopper()));
        let mut log_file = path.clone().into_os_string();
        log_file.push("-wal");
        let readers = Readers::pool(path, hook).map_err(|error| error.to_string())?;
        Ok(Self {
            writer,
            readers,
            tails,
            demands,
            cleaner,
            rules,
            log_file: Some(log_file.into()),
            inspection: Mutex::new(inspection),
        })
    }

    /// Sets the function that changes each new entry before it is projected and stored. Entries that are replayed or
    /// copied come from a log, and stay.
    pub fn clean_with(&self, clean: Clean) {
        self.cleaner.set(clean);
    }

    /// Runs `work` in a transaction and returns after the commit. Commands run in the order of the
    /// calls.
    ///
    /// # Errors
    ///
    /// `Refused` with the decision of `work`, `Failed` if storage failed. Nothing of the work is stored then.
    pub async fn write<T, E, F>(&self, work: F) -> Result<T, Abort<E>>
    where
        T: Send + 'static,
        E: Send + 'static,
        F: FnOnce(&mut Transaction<'_>) -> Result<T, Abort<E>> + Send + 'static,
    {
        self.writer.run(End::Commit, work).await
    }

    /// Runs `work` in a transaction that is always rolled back, and returns its result. Other commands wait for it.
    ///
    /// # Errors
    ///
    /// `Refused` with the decision of `work`, `Failed` if storage failed.
    pub async fn preview<T, E, F>(&self, work: F) -> Result<T, Abort<E>>
    where
        T: Send + 'static,
        E: Send + 'static,
        F: FnOnce(&mut Transaction<'_>) -> Result<T, Abort<E>> + Send + 'static,
    {
        self.writer.run(End::RollBack, work).await
    }

    /// Runs `work` on one consistent view of the committed data.
    pub async fn read<T, F>(&self, work: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: FnOnce(&Reader<'_>) -> Result<T, StoreError> + Send + 'static,
    {
        self.readers.read(work).await
    }

    /// Returns what decides about the tool calls of a session, as committed before the call or during it. `None` if there
    /// is no such session. Reads the file only for a session that was not asked for recently, or that changed.
    ///
    /// # Errors
    ///
    /// Storage failed.
    pub async fn session_rules(
        &self,
        id: &SessionID,
    ) -> Result<Option<Arc<SessionRules>>, StoreError> {
        let begin = match self.rules.get(id) {
            Ok(known) => return Ok(Some(known)),
            Err(begin) => begin,
        };
        let wanted = id.clone();
        let read = self
            .read(move |reader| reader.session_rules(&wanted))
            .await?;
        let Some(read) = read.map(Arc::new) else {
            return Ok(None);
        };
        self.rules.keep(id.clone(), &read, begin);
        Ok(Some(read))
    }

    /// Begins to derive announcements of changed messages and parts from entries, until the result is dropped. All
    /// entries that commit after the return have them.
    ///
    /// # Errors
    ///
    /// Storage failed.
    pub async fn derive(&self) -> Result<Demand, StoreError> {
        let demand = self.demands.add();
        // Commands that are ahead of this one may have run without the demand.
        let passed = self.write(|_| Ok::<_, Abort<Infallible>>(()));
        passed.await.map_err(Abort::unexpected)?;
        Ok(demand)
    }

    /// Erases what deleted rows left in the file and in its write-ahead log: builds the file again from its rows, and
    /// empties the log. Other commands wait for it; reads do not. Call it after the last step of
    /// [`Transaction::purge`]. Ends early when `is_stopped` returns true.
    ///
    /// # Errors
    ///
    /// `NoSpace`, `Busy` if a read prevented it, `Closed` if it was stopped, or storage failed. The data is unchanged
    /// then, and the next call tries again.
    pub async fn erase(
        &self,
        is_stopped: impl Fn() -> bool + Send + 'static,
    ) -> Result<(), StoreError> {
        self.writer.erase(Box::new(is_stopped)).await
    }

    /// Returns the size of the write-ahead log in bytes. 0 for a database in memory.
    pub async fn log_bytes(&self) -> u64 {
        let Some(file) = self.log_file.clone() else {
            return 0;
        };
        let size = opencode_log::spawn_blocking(move || std::fs::metadata(file));
        size.await
            .ok()
            .and_then(Result::ok)
            .map_or(0, |it| it.len())
    }

    /// Signals commits to the log of one session. Register before the first read, so that no commit
    /// is missed between the two.
    pub fn tail(&self, session: &SessionRow) -> tail::Tail {
        self.tails.register(session.key)
    }

    /// Returns when every reader has received all commits to the log that it follows.
    pub async fn tails_caught_up(&self) {
        self.tails.caught_up().await;
    }

    /// Refuses every later write. Used when an owner is dropped without closing: work that is still
    /// running must not record decisions that a crash at this point would have left open.
    pub fn abandon(&self) {
        self.writer.abandon();
    }

    /// Runs the queued commands, then closes the file so that other hosts can open it. Refuses
    /// later calls. A second call waits for the first one.
    pub async fn close(&self) {
        let inspection = self.inspection.lock().take();
        if let Some(inspection) = inspection {
            // An error means that the runtime is shutting down and has already ended its threads.
            let _ = opencode_log::spawn_blocking(|| inspection.stop()).await;
        }
        self.readers.close().await;
        self.writer.close().await;
    }
}
