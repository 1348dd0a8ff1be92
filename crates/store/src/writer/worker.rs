//! The writer thread: it owns the writing connection and runs the queued tasks.
//!
//! Commands that wait together share one commit. Each uses its own savepoint, so that a failed
//! command rolls back only its own changes. Nothing is signalled or acknowledged before the outer
//! commit.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, OnceLock};

use rusqlite::Connection;
use tokio::sync::mpsc;

use crate::error::StoreError;
use crate::format::entry::Committed;
use crate::open::hold::DatabaseHold;
use crate::view::test_hook::Moment;
use crate::view::transaction::{Appended, Transaction};
use crate::writer::checkpoint::{Log, checkpoint_at_end};
use crate::writer::{Command, Task, Undo, WriterOptions};

/// Maximum number of commands that share one commit, so that the first of them does not wait long.
const BATCH: usize = 256;

/// The state of the writer thread.
pub(crate) struct Worker {
    pub(crate) connection: Connection,
    /// None for a database in memory.
    pub(crate) held: Option<DatabaseHold>,
    pub(crate) log: Log,
    pub(crate) options: WriterOptions,
    pub(crate) poison: Arc<OnceLock<String>>,
}

/// The state of a command after its run.
enum Executed {
    /// The answer waits for the commit, because the command's work is kept, or because its decision
    /// may depend on other commands of the transaction.
    Kept(Box<dyn Command>),
    /// The command is answered.
    Settled,
    /// Another process holds the file.
    Locked(Box<dyn Command>, StoreError),
}

impl Worker {
    pub(crate) fn new(
        connection: Connection,
        held: Option<DatabaseHold>,
        log: Log,
        options: WriterOptions,
        poison: Arc<OnceLock<String>>,
    ) -> Self {
        Self {
            connection,
            held,
            log,
            options,
            poison,
        }
    }

    /// Runs the queued tasks until it receives `Close` or all senders are dropped.
    pub(crate) fn run(mut self, mut tasks: mpsc::Receiver<Task>) {
        let mut next = None;
        while let Some(task) = next.take().or_else(|| tasks.blocking_recv()) {
            match task {
                Task::Command(first) => next = self.batch(first, &mut tasks),
                Task::Read(read) => read(&self.connection),
                Task::Erase(is_stopped, reply) => drop(reply.send(self.erase(is_stopped))),
                Task::Close => break,
            }
        }
        if self.held.is_some() {
            let failed = self.poison.get().is_some();
            checkpoint_at_end(&self.connection, &self.options.hook, failed);
        }
        drop(self.connection);
        drop(self.held);
        // Dropped last, because it signals that the file can be opened again. It notifies the
        // callers of `close` and the callers of commands that are still in the queue.
        drop(tasks);
    }

    /// Runs the first command and the commands queued after it, commits once, then notifies all
    /// recipients. Returns the task of another kind that ended the batch.
    fn batch(&self, first: Box<dyn Command>, tasks: &mut mpsc::Receiver<Task>) -> Option<Task> {
        let mut appended = Appended::default();
        let mut kept: Vec<Box<dyn Command>> = Vec::new();
        let mut next = Some(Task::Command(first));
        for _ in 0..BATCH {
            let Some(Task::Command(command)) = next else {
                break;
            };
            match self.execute(command, !kept.is_empty(), &mut appended) {
                Executed::Kept(command) => kept.push(command),
                Executed::Settled => {}
                Executed::Locked(command, busy) => return refuse_waiting(command, &busy, tasks),
            }
            if !kept.is_empty() && self.connection.is_autocommit() {
                // After some failures, SQLite rolls back the whole transaction itself.
                let lost = StoreError::Database("the transaction was taken back".into());
                for command in kept.drain(..) {
                    command.settle(Err(lost.clone()));
                }
                appended = Appended::default();
            }
            next = tasks.try_recv().ok();
        }
        if !kept.is_empty() {
            self.commit(kept, &appended);
            self.checkpoint();
        }
        next
    }

    /// Runs one command. The first kept command begins the transaction. Later commands use a
    /// savepoint.
    fn execute(
        &self,
        mut command: Box<dyn Command>,
        joined: bool,
        appended: &mut Appended,
    ) -> Executed {
        if let Some(reason) = self.poison.get() {
            command.settle(Err(StoreError::Poisoned(reason.clone())));
            return Executed::Settled;
        }
        match self.begin(joined) {
            Ok(()) => {}
            Err(busy @ StoreError::Busy(_)) if !joined => return Executed::Locked(command, busy),
            Err(error) => {
                command.settle(Err(self.record_failure(error)));
                return Executed::Settled;
            }
        }
        let before = appended.mark();
        let WriterOptions {
            ids,
            hook,
            demands,
            cleaner,
            ..
        } = &self.options;
        let mut transaction =
            Transaction::new(&self.connection, ids, hook, demands, cleaner, appended);
        let result = command.run(&mut transaction);
        let ended = match result {
            Ok(()) if joined => self.statement("RELEASE command").map_err(Undo::Failed),
            other => other,
        };
        let Err(undo) = ended else {
            return Executed::Kept(command);
        };
        appended.roll_back(before);
        self.roll_back(joined);
        match undo {
            Undo::Decided if joined => return Executed::Kept(command),
            Undo::Decided => command.settle(Ok(())),
            Undo::Failed(error) => command.settle(Err(self.record_failure(error))),
        }
        Executed::Settled
    }

    fn begin(&self, joined: bool) -> Result<(), StoreError> {
        if joined {
            return self.statement("SAVEPOINT command");
        }
        self.options.hook.at(Moment::Begin)?;
        self.statement("BEGIN IMMEDIATE")
    }

    /// Rolls back the last command, either alone or together with the transaction that it began.
    fn roll_back(&self, joined: bool) {
        let undo = if joined {
            "ROLLBACK TO command; RELEASE command"
        } else {
            "ROLLBACK"
        };
        if let Err(error) = self.connection.execute_batch(undo) {
            // After some failures, SQLite rolls back the transaction itself.
            tracing::debug!(%error, "rollback was not needed");
        }
    }

    fn commit(&self, kept: Vec<Box<dyn Command>>, appended: &Appended) {
        let hook = &self.options.hook;
        let committed = &appended.entries;
        let result = hook
            .at(Moment::Commit(committed))
            .map_err(StoreError::from)
            .and_then(|()| self.statement("COMMIT"))
            // Checked last: acknowledged data must be in files that were still in place after the
            // commit.
            .and_then(|()| self.held.as_ref().map_or(Ok(()), DatabaseHold::check))
            .map_err(|error| {
                let error = self.record_failure(error);
                let _ = self.connection.execute_batch("ROLLBACK");
                error
            });
        // A commit that failed may have reached the file.
        self.options.rules.forget_changed();
        if result.is_ok() {
            hook.report(Moment::Committed(committed));
            if appended.erases {
                self.empty_log();
            }
            self.notify(appended);
        }
        for command in kept {
            command.settle(result.clone());
        }
        if result.is_ok() {
            hook.report(Moment::Notified(committed));
        }
    }

    /// Notifies tails and listener.
    fn notify(&self, appended: &Appended) {
        let WriterOptions {
            tails, listener, ..
        } = &self.options;
        tails.signal(appended.logs());
        // A bug in the listener must not end the writer or prevent the answers to callers.
        let call_listener = |entries: &[Committed]| {
            if catch_unwind(AssertUnwindSafe(|| listener(entries))).is_err() {
                tracing::error!("the commit listener panicked");
            }
        };
        for entries in appended.entries.chunk_by(|a, b| a.announced == b.announced) {
            if entries.iter().all(|entry| entry.announced) {
                call_listener(entries);
            }
        }
    }

    /// Empties the log, which contains a removed secret. If a reader prevents it, a later checkpoint does it.
    fn empty_log(&self) {
        if self.held.is_some()
            && let Err(error) = self.log.empty(&self.connection, &self.options.hook)
        {
            tracing::warn!(%error, "the write-ahead log is emptied later");
        }
    }

    fn checkpoint(&self) {
        let hook = &self.options.hook;
        if self.poison.get().is_none()
            && let Err(reason) = self.log.checkpoint_if_due(&self.connection, hook)
        {
            self.record_failure(StoreError::Poisoned(reason));
        }
    }

    pub(crate) fn statement(&self, sql: &str) -> Result<(), StoreError> {
        let mut statement = self.connection.prepare_cached(sql)?;
        statement.execute([])?;
        Ok(())
    }

    /// Records a failure of storage. The next opening checks the state on disk.
    pub(crate) fn record_failure(&self, error: StoreError) -> StoreError {
        if let StoreError::Poisoned(reason) = &error {
            refuse(&self.poison, reason.clone());
        }
        error
    }
}

/// Answers a command and the commands queued after it that the file is locked, because each would
/// wait for the full timeout again. Returns the task of another kind that ended the loop.
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

/// Refuses later commands. Only the first reason is kept.
pub(crate) fn refuse(poison: &OnceLock<String>, reason: String) {
    tracing::error!(%reason, "the database failed");
    let _ = poison.set(reason);
}
