//! The interface of the single writer: a queue of commands for the thread that owns the writing
//! connection.

pub(crate) mod append;
pub(crate) mod checkpoint;
mod erase;
pub(crate) mod worker;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, OnceLock};

use opencode_schema::id::IdSource;
use rusqlite::Connection;
use tokio::sync::{mpsc, oneshot};

use crate::error::{Abort, StoreError};
use crate::format::entry::Committed;
use crate::open::hold::DatabaseHold;
use crate::session_rules::KnownRules;
use crate::tail::Tails;
use crate::view::cleaner::Cleaner;
use crate::view::demand::Demands;
use crate::view::reader::Reader;
use crate::view::test_hook::{Hook, Moment};
use crate::view::transaction::Transaction;
use crate::writer::checkpoint::Log;
use crate::writer::worker::{Worker, refuse};

/// Maximum number of queued commands. Further senders wait in order.
const QUEUE: usize = 1024;

/// Receives committed entries, in order, on the writer thread. It must not block.
///
/// A panic of the listener is logged and has no other effect: the entries stay committed.
pub type CommitListener = Box<dyn Fn(&[Committed]) + Send>;

/// Returns true when long work must end early.
pub(crate) type IsStopped = Box<dyn Fn() -> bool + Send>;

/// A unit of work for the writer.
pub(crate) trait Command: Send {
    /// Runs inside the transaction. An error rolls back the changes of the command.
    fn run(&mut self, transaction: &mut Transaction<'_>) -> Result<(), Undo>;
    /// Answers the caller, after the commit or instead of it.
    fn settle(self: Box<Self>, committed: Result<(), StoreError>);
}

/// The reason that a command is rolled back.
pub(crate) enum Undo {
    /// The command itself decided so.
    Decided,
    /// Storage failed.
    Failed(StoreError),
}

/// A task for the writer.
pub(crate) enum Task {
    Command(Box<dyn Command>),
    /// A read of a database without other connections. It sees the committed data.
    Read(Box<dyn FnOnce(&Connection) + Send>),
    /// Erases what deleted rows left, and answers.
    Erase(IsStopped, oneshot::Sender<Result<(), StoreError>>),
    /// Runs the tasks that were queued earlier, then closes the file.
    Close,
}

/// The collaborators of the writer.
pub(crate) struct WriterOptions {
    pub(crate) ids: Arc<IdSource>,
    pub(crate) tails: Arc<Tails>,
    pub(crate) listener: CommitListener,
    pub(crate) hook: Hook,
    pub(crate) demands: Demands,
    pub(crate) cleaner: Cleaner,
    pub(crate) rules: KnownRules,
}

/// Sends commands to the writer.
#[derive(Clone)]
pub(crate) struct Writer {
    queue: mpsc::Sender<Task>,
    hook: Hook,
    /// Set once, when storage fails. Later commands are refused without access to the file.
    poison: Arc<OnceLock<String>>,
}

impl Writer {
    /// `inherits` is true if the last host left its write-ahead log.
    pub(crate) fn start(
        mut connection: Connection,
        held: Option<DatabaseHold>,
        inherits: bool,
        options: WriterOptions,
    ) -> Result<Self, String> {
        let log = Log::follow(&mut connection, inherits).map_err(|error| error.to_string())?;
        let followed = options.rules.follow(&connection);
        followed.map_err(|error| error.to_string())?;
        let (queue, tasks) = mpsc::channel(QUEUE);
        let poison = Arc::new(OnceLock::new());
        let hook = options.hook.clone();
        let worker = Worker::new(connection, held, log, options, Arc::clone(&poison));
        let builder = std::thread::Builder::new().name("opencode-store".into());
        opencode_log::spawn_thread(builder, move || worker.run(tasks))
            .map_err(|error| error.to_string())?;
        Ok(Self {
            queue,
            hook,
            poison,
        })
    }

    /// Runs `work` in a transaction, and returns its result once the transaction ended as `end` says. Any error rolls
    /// the work back.
    pub(crate) async fn run<T, E, F>(&self, end: End, work: F) -> Result<T, Abort<E>>
    where
        T: Send + 'static,
        E: Send + 'static,
        F: FnOnce(&mut Transaction<'_>) -> Result<T, Abort<E>> + Send + 'static,
    {
        if let Some(reason) = self.poison.get() {
            return Err(StoreError::Poisoned(reason.clone()).into());
        }
        let (reply, answer) = oneshot::channel();
        let command = Work {
            work: Some(work),
            end,
            outcome: None,
            reply,
        };
        let task = Task::Command(Box::new(command));
        self.queue
            .send(task)
            .await
            .map_err(|_| StoreError::Closed)?;
        let closed = || Err(StoreError::Closed.into());
        answer.await.unwrap_or_else(|_| closed())
    }

    /// Runs `work` on the writing connection, between transactions.
    pub(crate) async fn read<T, F>(&self, work: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: FnOnce(&Reader<'_>) -> Result<T, StoreError> + Send + 'static,
    {
        let (reply, answer) = oneshot::channel();
        let hook = self.hook.clone();
        let read = move |connection: &Connection| {
            let value = catch_unwind(AssertUnwindSafe(|| {
                hook.at(Moment::Read)?;
                work(&Reader { connection })
            }));
            let panicked = |_| Err(StoreError::Database("the read panicked".into()));
            let _ = reply.send(value.unwrap_or_else(panicked));
        };
        let sent = self.queue.send(Task::Read(Box::new(read))).await;
        sent.map_err(|_| StoreError::Closed)?;
        answer.await.unwrap_or(Err(StoreError::Closed))
    }

    /// Erases what deleted rows left in the file and its log.
    pub(crate) async fn erase(&self, is_stopped: IsStopped) -> Result<(), StoreError> {
        let (reply, answer) = oneshot::channel();
        let sent = self.queue.send(Task::Erase(is_stopped, reply)).await;
        sent.map_err(|_| StoreError::Closed)?;
        answer.await.unwrap_or(Err(StoreError::Closed))
    }

    /// Returns a function that makes the writer refuse later commands with the given reason.
    pub(crate) fn stopper(&self) -> impl FnOnce(String) + Send + 'static {
        let poison = Arc::clone(&self.poison);
        move |reason| refuse(&poison, reason)
    }

    /// Refuses later commands although storage is sound.
    pub(crate) fn abandon(&self) {
        let _ = self.poison.set("it was abandoned by its host".into());
    }

    /// Runs the queued tasks, closes the connection and releases the lock.
    pub(crate) async fn close(&self) {
        // An error means that the writer has already ended, which is the intended result.
        let _ = self.queue.send(Task::Close).await;
        self.queue.closed().await;
    }
}

/// The end of a transaction whose work succeeds.
#[derive(Clone, Copy)]
pub(crate) enum End {
    Commit,
    RollBack,
}

struct Work<T, E, F> {
    work: Option<F>,
    end: End,
    outcome: Option<Result<T, E>>,
    reply: oneshot::Sender<Result<T, Abort<E>>>,
}

impl<T, E, F> Command for Work<T, E, F>
where
    T: Send,
    E: Send,
    F: FnOnce(&mut Transaction<'_>) -> Result<T, Abort<E>> + Send,
{
    fn run(&mut self, transaction: &mut Transaction<'_>) -> Result<(), Undo> {
        let work = self.work.take().expect("a command runs once");
        // A panic of one command must not end the writer.
        let outcome = catch_unwind(AssertUnwindSafe(|| work(transaction)));
        let panicked = || StoreError::Database("the command panicked".into());
        match outcome {
            Ok(Ok(value)) => {
                self.outcome = Some(Ok(value));
                match self.end {
                    End::Commit => Ok(()),
                    End::RollBack => Err(Undo::Decided),
                }
            }
            Ok(Err(Abort::Refused(reason))) => {
                self.outcome = Some(Err(reason));
                Err(Undo::Decided)
            }
            Ok(Err(Abort::Failed(error))) => Err(Undo::Failed(error)),
            Err(_) => Err(Undo::Failed(panicked())),
        }
    }

    fn settle(self: Box<Self>, committed: Result<(), StoreError>) {
        let Self { outcome, reply, .. } = *self;
        let outcome = committed.and_then(|()| outcome.ok_or(StoreError::Closed));
        let answer = match outcome {
            Ok(outcome) => outcome.map_err(Abort::Refused),
            Err(error) => Err(Abort::Failed(error)),
        };
        // If the caller has dropped the future, the answer is discarded and the work stays
        // committed.
        let _ = reply.send(answer);
    }
}
