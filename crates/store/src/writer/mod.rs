//! The way to the one writer: a queue of commands for the thread that owns the writing connection.

pub(crate) mod append;
pub(crate) mod checkpoint;
pub(crate) mod worker;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, OnceLock};

use opencode_schema::id::IdSource;
use rusqlite::Connection;
use tokio::sync::{mpsc, oneshot};

use crate::error::StoreError;
use crate::format::entry::Committed;
use crate::open::hold::DatabaseHold;
use crate::tail::Tails;
use crate::view::reader::Reader;
use crate::view::seam::{Moment, Watched};
use crate::view::transaction::Transaction;
use crate::writer::checkpoint::Log;
use crate::writer::worker::{Worker, refuse};

/// Commands that may wait for the writer; senders beyond it wait in order.
const QUEUE: usize = 1024;

/// Hears of committed entries, in order, on the writer's thread. It must not block.
///
/// What it panics with is logged and goes no further: the entries are committed all the same.
pub type CommitListener = Box<dyn Fn(&[Committed]) + Send>;

/// A unit of work for the writer.
pub(crate) trait Command: Send {
    /// Runs inside the transaction. An error takes back what it did.
    fn run(&mut self, transaction: &mut Transaction<'_>) -> Result<(), Undo>;
    /// Tells the caller, after the commit or instead of it.
    fn settle(self: Box<Self>, committed: Result<(), StoreError>);
}

/// Why a command is taken back.
pub(crate) enum Undo {
    /// It decided so itself.
    Decided,
    /// Storage failed.
    Failed(StoreError),
}

/// What the writer is asked to do.
pub(crate) enum Task {
    Command(Box<dyn Command>),
    /// A read of a database that has no other connection; it sees what is committed.
    Read(Box<dyn FnOnce(&Connection) + Send>),
    /// What is queued before it is carried out, then the file is closed.
    Close,
}

/// What the writer works with besides its connection.
pub(crate) struct WriterOptions {
    pub(crate) ids: Arc<IdSource>,
    pub(crate) tails: Arc<Tails>,
    pub(crate) listener: CommitListener,
    pub(crate) watched: Watched,
}

/// Sends commands to the writer.
#[derive(Clone)]
pub(crate) struct Writer {
    queue: mpsc::Sender<Task>,
    watched: Watched,
    /// Set once, when storage has failed: later commands are refused without touching the file.
    poison: Arc<OnceLock<String>>,
}

impl Writer {
    pub(crate) fn start(
        mut connection: Connection,
        held: Option<DatabaseHold>,
        surroundings: WriterOptions,
    ) -> Result<Self, String> {
        let log = Log::follow(&mut connection).map_err(|error| error.to_string())?;
        let (queue, tasks) = mpsc::channel(QUEUE);
        let poison = Arc::new(OnceLock::new());
        let watched = surroundings.watched.clone();
        let worker = Worker::new(connection, held, log, surroundings, Arc::clone(&poison));
        let builder = std::thread::Builder::new().name("opencode-store".into());
        opencode_log::spawn_thread(builder, move || worker.run(tasks))
            .map_err(|error| error.to_string())?;
        Ok(Self {
            queue,
            watched,
            poison,
        })
    }

    /// Runs `work` in a transaction and returns once it is committed. An inner error takes the
    /// work back and is returned as it is; an outer one says that storage failed.
    pub(crate) async fn write<T, E, F>(&self, work: F) -> Result<Result<T, E>, StoreError>
    where
        T: Send + 'static,
        E: Send + 'static,
        F: FnOnce(&mut Transaction<'_>) -> Result<Result<T, E>, StoreError> + Send + 'static,
    {
        if let Some(reason) = self.poison.get() {
            return Err(StoreError::Poisoned(reason.clone()));
        }
        let (reply, answer) = oneshot::channel();
        let command = Work {
            work: Some(work),
            outcome: None,
            reply,
        };
        let task = Task::Command(Box::new(command));
        self.queue
            .send(task)
            .await
            .map_err(|_| StoreError::Closed)?;
        answer.await.unwrap_or(Err(StoreError::Closed))
    }

    /// Runs `work` on the writing connection, between transactions.
    pub(crate) async fn read<T, F>(&self, work: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: FnOnce(&Reader<'_>) -> Result<T, StoreError> + Send + 'static,
    {
        let (reply, answer) = oneshot::channel();
        let watched = self.watched.clone();
        let read = move |connection: &Connection| {
            let value = catch_unwind(AssertUnwindSafe(|| {
                watched.at(Moment::Read)?;
                work(&Reader { connection })
            }));
            let panicked = |_| Err(StoreError::Database("the read panicked".into()));
            let _ = reply.send(value.unwrap_or_else(panicked));
        };
        let sent = self.queue.send(Task::Read(Box::new(read))).await;
        sent.map_err(|_| StoreError::Closed)?;
        answer.await.unwrap_or(Err(StoreError::Closed))
    }

    /// Refuses later commands for the reason that is given to it.
    pub(crate) fn stopper(&self) -> impl FnOnce(String) + Send + 'static {
        let poison = Arc::clone(&self.poison);
        move |reason| refuse(&poison, reason)
    }

    /// Refuses later commands although storage is sound.
    pub(crate) fn abandon(&self) {
        let _ = self.poison.set("it was abandoned by its host".into());
    }

    /// Carries out what is queued, closes the connection and drops the lock.
    pub(crate) async fn close(&self) {
        // An error means that the writer is gone already, which is what was asked for.
        let _ = self.queue.send(Task::Close).await;
        self.queue.closed().await;
    }
}

struct Work<T, E, F> {
    work: Option<F>,
    outcome: Option<Result<T, E>>,
    reply: oneshot::Sender<Result<Result<T, E>, StoreError>>,
}

impl<T, E, F> Command for Work<T, E, F>
where
    T: Send,
    E: Send,
    F: FnOnce(&mut Transaction<'_>) -> Result<Result<T, E>, StoreError> + Send,
{
    fn run(&mut self, transaction: &mut Transaction<'_>) -> Result<(), Undo> {
        let work = self.work.take().expect("a command runs once");
        // A bug in one command must not end the writer for everybody.
        let outcome = catch_unwind(AssertUnwindSafe(|| work(transaction)))
            .unwrap_or_else(|_| Err(StoreError::Database("the command panicked".into())))
            .map_err(Undo::Failed)?;
        let decided = outcome.is_err();
        self.outcome = Some(outcome);
        if decided { Err(Undo::Decided) } else { Ok(()) }
    }

    fn settle(self: Box<Self>, committed: Result<(), StoreError>) {
        let Self { outcome, reply, .. } = *self;
        let answer = committed.and_then(|()| outcome.ok_or(StoreError::Closed));
        // A caller that has gone away does not want the answer; the work stands.
        let _ = reply.send(answer);
    }
}
