//! The one writer: a thread that owns the writing connection and takes commands from a queue.
//!
//! Commands that wait together share one commit, each in a savepoint of its own, so that one that
//! fails takes back only itself. Nothing is signalled or acknowledged before the outer commit.

use std::fs::File;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, OnceLock};

use opencode_schema::id::IdSource;
use rusqlite::Connection;
use tokio::sync::{mpsc, oneshot};

use crate::error::StoreError;
use crate::log::Committed;
use crate::reader::Reader;
use crate::tail::Tails;
use crate::transaction::Transaction;

/// Commands that may wait for the writer; senders beyond it wait in order.
const QUEUE: usize = 1024;
/// Commands that share one commit at most, so that the first of them is not kept waiting for long.
const BATCH: usize = 256;

/// Hears of committed entries, in order, on the writer's thread. It must not block.
///
/// What it panics with is logged and goes no further: the entries are committed all the same.
pub type CommitListener = Box<dyn Fn(&[Committed]) + Send>;

/// A unit of work for the writer.
trait Command: Send {
    /// Runs inside the transaction. An error takes back what it did.
    fn run(&mut self, transaction: &mut Transaction<'_>) -> Result<(), Undo>;
    /// Tells the caller, after the commit or instead of it.
    fn settle(self: Box<Self>, committed: Result<(), StoreError>);
}

/// Why a command is taken back.
enum Undo {
    /// It decided so itself.
    Decided,
    /// Storage failed.
    Failed(StoreError),
}

enum Task {
    Command(Box<dyn Command>),
    /// A read of a database that has no other connection; it sees what is committed.
    Read(Box<dyn FnOnce(&Connection) + Send>),
    Close,
}

/// Sends commands to the writer.
#[derive(Clone)]
pub(crate) struct Writer {
    queue: mpsc::Sender<Task>,
    /// Set once, when storage has failed: later commands are refused without touching the file.
    poison: Arc<OnceLock<String>>,
}

impl Writer {
    pub(crate) fn start(
        connection: Connection,
        lock: Option<File>,
        ids: Arc<IdSource>,
        tails: Arc<Tails>,
        listener: CommitListener,
    ) -> std::io::Result<Self> {
        let (queue, tasks) = mpsc::channel(QUEUE);
        let poison = Arc::new(OnceLock::new());
        let worker = Worker {
            connection,
            ids,
            tails,
            listener,
            poison: Arc::clone(&poison),
        };
        std::thread::Builder::new()
            .name("opencode-store".into())
            .spawn(move || worker.run(tasks, lock))?;
        Ok(Self { queue, poison })
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
        let read = move |connection: &Connection| {
            let value = catch_unwind(AssertUnwindSafe(|| work(&Reader { connection })));
            let panicked = |_| Err(StoreError::Database("the read panicked".into()));
            let _ = reply.send(value.unwrap_or_else(panicked));
        };
        let sent = self.queue.send(Task::Read(Box::new(read))).await;
        sent.map_err(|_| StoreError::Closed)?;
        answer.await.unwrap_or(Err(StoreError::Closed))
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

struct Worker {
    connection: Connection,
    ids: Arc<IdSource>,
    tails: Arc<Tails>,
    listener: CommitListener,
    poison: Arc<OnceLock<String>>,
}

impl Worker {
    fn run(self, mut tasks: mpsc::Receiver<Task>, lock: Option<File>) {
        let mut next = None;
        while let Some(task) = next.take().or_else(|| tasks.blocking_recv()) {
            match task {
                Task::Command(first) => next = self.batch(first, &mut tasks),
                Task::Read(read) => read(&self.connection),
                Task::Close => break,
            }
        }
        // Folding the log into the file here spares the next opening the work.
        let _ = self
            .connection
            .pragma_update(None, "wal_checkpoint", "TRUNCATE");
        drop(self.connection);
        // A process that is being spawned may hold a copy of the handle for a moment, so dropping
        // ours alone would not free the lock. Failing to free it is what the drop is for.
        if let Some(Err(error)) = lock.as_ref().map(File::unlock) {
            tracing::debug!(%error, "the database lock goes with its handle");
        }
        drop(lock);
        // Last, because it tells everybody that the file can be opened again: those who closed it,
        // and those whose commands came too late and go with the queue.
        drop(tasks);
    }

    /// Runs the first command and the commands that wait behind it, commits once, then tells
    /// everybody. Returns the other task that ended the batch.
    fn batch(&self, first: Box<dyn Command>, tasks: &mut mpsc::Receiver<Task>) -> Option<Task> {
        let mut committed = Vec::new();
        let mut kept: Vec<Box<dyn Command>> = Vec::new();
        let mut next = Some(Task::Command(first));
        for _ in 0..BATCH {
            let Some(Task::Command(command)) = next else {
                break;
            };
            kept.extend(self.execute(command, !kept.is_empty(), &mut committed));
            if !kept.is_empty() && self.connection.is_autocommit() {
                // Some failures make SQLite take the whole transaction back by itself.
                let lost = StoreError::Database("the transaction was taken back".into());
                for command in kept.drain(..) {
                    command.settle(Err(lost.clone()));
                }
                committed.clear();
            }
            next = tasks.try_recv().ok();
        }
        if !kept.is_empty() {
            self.commit(kept, &committed);
        }
        next
    }

    /// Runs one command. The transaction is begun by the first one that is kept; later ones get a
    /// savepoint. Returns the command when its answer has to wait for the commit: because its work
    /// stays, or because it may have decided by what others of the transaction have done.
    fn execute(
        &self,
        mut command: Box<dyn Command>,
        joined: bool,
        committed: &mut Vec<Committed>,
    ) -> Option<Box<dyn Command>> {
        if let Some(reason) = self.poison.get() {
            command.settle(Err(StoreError::Poisoned(reason.clone())));
            return None;
        }
        let begin = if joined {
            "SAVEPOINT command"
        } else {
            "BEGIN IMMEDIATE"
        };
        if let Err(error) = self.statement(begin) {
            command.settle(Err(self.note(error)));
            return None;
        }
        let before = committed.len();
        let mut transaction = Transaction::new(&self.connection, &self.ids, committed);
        let result = command.run(&mut transaction);
        let ended = match result {
            Ok(()) if joined => self.statement("RELEASE command").map_err(Undo::Failed),
            other => other,
        };
        let Err(undo) = ended else {
            return Some(command);
        };
        committed.truncate(before);
        self.take_back(joined);
        match undo {
            Undo::Decided if joined => return Some(command),
            Undo::Decided => command.settle(Ok(())),
            Undo::Failed(error) => command.settle(Err(self.note(error))),
        }
        None
    }

    /// Takes back the command that ran last, alone or with the transaction it began.
    fn take_back(&self, joined: bool) {
        let undo = if joined {
            "ROLLBACK TO command; RELEASE command"
        } else {
            "ROLLBACK"
        };
        if let Err(error) = self.connection.execute_batch(undo) {
            // SQLite takes the transaction back by itself after some failures.
            tracing::debug!(%error, "rollback was not needed");
        }
    }

    fn commit(&self, kept: Vec<Box<dyn Command>>, committed: &[Committed]) {
        let result = self.statement("COMMIT").map_err(|error| {
            let error = self.note(error);
            let _ = self.connection.execute_batch("ROLLBACK");
            error
        });
        if result.is_ok() && !committed.is_empty() {
            self.tails.signal(committed);
            // A bug in the listener must not end the writer, nor keep the callers from their answers.
            if catch_unwind(AssertUnwindSafe(|| (self.listener)(committed))).is_err() {
                tracing::error!("the commit listener panicked");
            }
        }
        for command in kept {
            command.settle(result.clone());
        }
    }

    fn statement(&self, sql: &str) -> Result<(), StoreError> {
        let mut statement = self.connection.prepare_cached(sql)?;
        statement.execute([])?;
        Ok(())
    }

    /// Remembers a failure of storage: what it left on disk is for the next opening to find out.
    fn note(&self, error: StoreError) -> StoreError {
        if let StoreError::Poisoned(reason) = &error {
            tracing::error!(%reason, "the database failed");
            let _ = self.poison.set(reason.clone());
        }
        error
    }
}
