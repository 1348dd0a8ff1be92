//! The durable event store: one SQLite file with the log of every session and its projections.
//!
//! It knows SQLite and the vocabulary, and nothing of running a session: no model, no tool, no
//! HTTP. Decisions are made by its callers, inside [`Store::write`], so that a decision, its events
//! and their projections commit together or not at all.
//!
//! Read [`log`] for how entries are written and read, `projection` for what they change,
//! `writer` for who may write, [`tail`] for how readers learn of more.

mod assemble;
mod calls;
mod codec;
mod error;
mod inbox;
pub mod log;
mod messages;
mod open;
mod packed;
mod parts;
mod projection;
mod reader;
mod sessions;
pub mod tail;
mod transaction;
mod writer;

#[cfg(test)]
mod tests;

use std::path::PathBuf;
use std::sync::Arc;

use opencode_schema::id::IdSource;

pub use calls::OpenCall;
pub use error::{OpenError, StoreError};
pub use inbox::StoredInput;
pub use log::{Committed, Draft, StoredEvent};
pub use messages::{Anchored, Order};
pub use open::{DatabasePath, Durability};
pub use projection::LifecycleConflict;
pub use reader::Reader;
pub use sessions::{Epoch, SessionFilter, SessionRow};
pub use transaction::Transaction;
pub use writer::CommitListener;

/// How to open a database.
pub struct StoreOptions {
    /// Where it lies. Missing folders are created.
    pub path: DatabasePath,
    /// What survives which failure.
    pub durability: Durability,
    /// Where event ids come from.
    pub ids: Arc<IdSource>,
    /// Hears of committed entries before their callers do.
    pub listener: CommitListener,
}

/// An open database.
pub struct Store {
    writer: writer::Writer,
    readers: reader::Readers,
    tails: Arc<tail::Tails>,
}

impl Store {
    /// Opens a database, creates or migrates it, and keeps every other host out until it is closed.
    pub async fn open(options: StoreOptions) -> Result<Self, OpenError> {
        let StoreOptions {
            path,
            durability,
            ids,
            listener,
        } = options;
        let name = match &path {
            DatabasePath::Memory => PathBuf::from(":memory:"),
            DatabasePath::File(path) => path.clone(),
        };
        let unavailable = |reason: String| OpenError::Unavailable {
            path: name.clone(),
            reason,
        };
        let opened = tokio::task::spawn_blocking(move || open::open(&path, durability))
            .await
            .map_err(|error| unavailable(error.to_string()))??;
        let tails = Arc::new(tail::Tails::default());
        let (path, lock) = opened.file.map(|file| (file.path, file.lock)).unzip();
        let writer = writer::Writer::start(opened.writer, lock, ids, Arc::clone(&tails), listener)
            .map_err(|error| unavailable(error.to_string()))?;
        let readers = match path {
            Some(path) => reader::Readers::pool(path),
            None => reader::Readers::OnWriter(writer.clone()),
        };
        Ok(Self {
            writer,
            readers,
            tails,
        })
    }

    /// Runs `work` in a transaction and returns once it is committed, in the order of the calls.
    ///
    /// An inner error is a decision of the caller: what it did is taken back and the error is
    /// returned as it is. An outer error says that storage failed; nothing was stored.
    pub async fn write<T, E, F>(&self, work: F) -> Result<Result<T, E>, StoreError>
    where
        T: Send + 'static,
        E: Send + 'static,
        F: FnOnce(&mut Transaction<'_>) -> Result<Result<T, E>, StoreError> + Send + 'static,
    {
        self.writer.write(work).await
    }

    /// Runs `work` on one consistent view of what is committed.
    pub async fn read<T, F>(&self, work: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: FnOnce(&Reader<'_>) -> Result<T, StoreError> + Send + 'static,
    {
        self.readers.read(work).await
    }

    /// Signals commits to the log of one session. Register before the first read, so that nothing
    /// falls between the two.
    pub fn tail(&self, session: &SessionRow) -> tail::Tail {
        self.tails.register(session.key)
    }

    /// Carries out what is queued, then closes the file and lets other hosts open it. Later calls
    /// are refused; closing again waits for the first to be done.
    pub async fn close(&self) {
        self.readers.close().await;
        self.writer.close().await;
    }
}
