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

use crate::checkpoint::{Log, fold_at_end};
use crate::error::StoreError;
use crate::log::Committed;
use crate::reader::Reader;
use crate::seam::{Moment, Watched};
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

/// What the writer works with besides its connection.
pub(crate) struct Surroundings {
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
        lock: Option<File>,
        surroundings: Surroundings,
    ) -> Result<Self, String> {
        let log = Log::follow(&mut connection).map_err(|error| error.to_string())?;
        let (queue, tasks) = mpsc::channel(QUEUE);
        let poison = Arc::new(OnceLock::new());
        let watched = surroundings.watched.clone();
        let worker = Worker {
            connection,
            log,
            surroundings,
            poison: Arc::clone(&poison),
        };
        std::thread::Builder::new()
            .name("opencode-store".into())
            .spawn(move || worker.run(tasks, lock))
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

struct Worker {
    connection: Connection,
    log: Log,
    surroundings: Surroundings,
    poison: Arc<OnceLock<String>>,
}

/// What became of a command that was run.
enum Executed {
    /// Its answer has to wait for the commit: because its work stays, or because it may have
    /// decided by what others of the transaction have done.
    Kept(Box<dyn Command>),
    /// It has its answer.
    Settled,
    /// Another process holds the file.
    Locked(Box<dyn Command>, StoreError),
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
        if lock.is_some() {
            let failed = self.poison.get().is_some();
            fold_at_end(&self.connection, &self.surroundings.watched, failed);
        }
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
            match self.execute(command, !kept.is_empty(), &mut committed) {
                Executed::Kept(command) => kept.push(command),
                Executed::Settled => {}
                Executed::Locked(command, busy) => return refuse_waiting(command, &busy, tasks),
            }
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
            self.fold();
        }
        next
    }

    /// Runs one command. The transaction is begun by the first one that is kept; later ones get a
    /// savepoint.
    fn execute(
        &self,
        mut command: Box<dyn Command>,
        joined: bool,
        committed: &mut Vec<Committed>,
    ) -> Executed {
        if let Some(reason) = self.poison.get() {
            command.settle(Err(StoreError::Poisoned(reason.clone())));
            return Executed::Settled;
        }
        match self.begin(joined) {
            Ok(()) => {}
            Err(busy @ StoreError::Busy(_)) if !joined => return Executed::Locked(command, busy),
            Err(error) => {
                command.settle(Err(self.note(error)));
                return Executed::Settled;
            }
        }
        let before = committed.len();
        let Surroundings { ids, watched, .. } = &self.surroundings;
        let mut transaction = Transaction::new(&self.connection, ids, watched, committed);
        let result = command.run(&mut transaction);
        let ended = match result {
            Ok(()) if joined => self.statement("RELEASE command").map_err(Undo::Failed),
            other => other,
        };
        let Err(undo) = ended else {
            return Executed::Kept(command);
        };
        committed.truncate(before);
        self.take_back(joined);
        match undo {
            Undo::Decided if joined => return Executed::Kept(command),
            Undo::Decided => command.settle(Ok(())),
            Undo::Failed(error) => command.settle(Err(self.note(error))),
        }
        Executed::Settled
    }

    fn begin(&self, joined: bool) -> Result<(), StoreError> {
        if joined {
            return self.statement("SAVEPOINT command");
        }
        self.surroundings.watched.at(Moment::Begin)?;
        self.statement("BEGIN IMMEDIATE")
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
        let watched = &self.surroundings.watched;
        let result = watched
            .at(Moment::Commit(committed))
            .map_err(StoreError::from)
            .and_then(|()| self.statement("COMMIT"))
            .map_err(|error| {
                let error = self.note(error);
                let _ = self.connection.execute_batch("ROLLBACK");
                error
            });
        if result.is_ok() {
            watched.tell(Moment::Committed(committed));
            self.announce(committed);
        }
        for command in kept {
            command.settle(result.clone());
        }
        if result.is_ok() {
            watched.tell(Moment::Told(committed));
        }
    }

    /// Tells tails and listener.
    fn announce(&self, committed: &[Committed]) {
        let Surroundings {
            tails, listener, ..
        } = &self.surroundings;
        tails.signal(committed.iter().map(|entry| entry.aggregate));
        // A bug in the listener must not end the writer, nor keep the callers from their answers.
        let hear = |entries: &[Committed]| {
            if !entries.is_empty() && catch_unwind(AssertUnwindSafe(|| listener(entries))).is_err()
            {
                tracing::error!("the commit listener panicked");
            }
        };
        for entries in committed.chunk_by(|a, b| a.announced == b.announced) {
            if entries.iter().all(|entry| entry.announced) {
                hear(entries);
            }
        }
    }

    fn fold(&self) {
        let watched = &self.surroundings.watched;
        if self.poison.get().is_none()
            && let Err(reason) = self.log.fold_if_due(&self.connection, watched)
        {
            self.note(StoreError::Poisoned(reason));
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
            refuse(&self.poison, reason.clone());
        }
        error
    }
}

/// Tells a command and those that have waited with it that the file is locked: each of them would
/// wait as long once more. Returns the other task that ended the wait.
fn refuse_waiting(
    first: Box<dyn Command>,
    busy: &StoreError,
    tasks: &mut mpsc::Receiver<Task>,
) -> Option<Task> {
    let mut refused = vec![first];
    let mut next = None;
    for _ in 0..tasks.len() {
        match tasks.try_recv() {
            Ok(Task::Command(command)) => refused.push(command),
            other => {
                next = other.ok();
                break;
            }
        }
    }
    for command in refused {
        command.settle(Err(busy.clone()));
    }
    next
}

fn refuse(poison: &OnceLock<String>, reason: String) {
    tracing::error!(%reason, "the database failed");
    // The first failure is the one to tell.
    let _ = poison.set(reason);
}
