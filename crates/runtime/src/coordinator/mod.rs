//! The asynchronous edge of the run coordinator: it carries out what the reducer decides.

#[cfg(test)]
mod properties;
pub(crate) mod state;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures::future::BoxFuture;
use opencode_schema::id::SessionID;
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use self::state::{Effect, Exit, Input, State, Ticket};
use crate::error::DrainError;

/// Runs one Session Drain until it has nothing left to do.
pub(crate) type Drain =
    Arc<dyn Fn(SessionID, bool, CancellationToken) -> BoxFuture<'static, DrainExit> + Send + Sync>;

/// How a drain of this runtime ends.
pub(crate) type DrainExit = Exit<DrainError>;

/// Owns the drains of all sessions of a host.
#[derive(Clone)]
pub(crate) struct Coordinator {
    inner: Arc<Inner>,
}

struct Inner {
    drain: Drain,
    tasks: TaskTracker,
    /// Ends every drain when the host closes.
    closing: CancellationToken,
    /// Held for one transition; never across an await.
    table: Mutex<Table>,
}

#[derive(Default)]
struct Table {
    state: State,
    next_ticket: Ticket,
    answers: HashMap<Ticket, oneshot::Sender<DrainExit>>,
    cancels: HashMap<SessionID, CancellationToken>,
}

impl Coordinator {
    pub(crate) fn new(drain: Drain, tasks: TaskTracker, closing: CancellationToken) -> Self {
        let table = Mutex::default();
        Self {
            inner: Arc::new(Inner {
                drain,
                tasks,
                closing,
                table,
            }),
        }
    }

    /// Lets the session run if there is something eligible. Returns at once.
    pub(crate) fn wake(&self, session: &SessionID) {
        if !self.inner.closing.is_cancelled() {
            self.step(session, Input::Wake);
        }
    }

    /// Joins the running drain, or starts one that makes at least one Provider Turn. The future
    /// gives that drain's exit.
    pub(crate) fn run(&self, session: &SessionID) -> impl Future<Output = DrainExit> + use<> {
        self.ask(session, Input::Run)
    }

    /// Stops the running drain. The future is done when everything of it is settled.
    pub(crate) fn interrupt(&self, session: &SessionID) -> impl Future<Output = DrainExit> + use<> {
        self.ask(session, Input::Interrupt)
    }

    /// The future is done when the session has no drain.
    pub(crate) fn wait(&self, session: &SessionID) -> impl Future<Output = DrainExit> + use<> {
        self.ask(session, Input::Wait)
    }

    /// Sessions with a drain.
    pub(crate) fn active(&self) -> Vec<SessionID> {
        self.table().state.active().cloned().collect()
    }

    fn ask(
        &self,
        session: &SessionID,
        input: fn(Ticket) -> Input<DrainError>,
    ) -> impl Future<Output = DrainExit> + use<> {
        let (answer, exit) = oneshot::channel();
        let input = {
            let mut table = self.table();
            table.next_ticket += 1;
            let ticket = table.next_ticket;
            table.answers.insert(ticket, answer);
            input(ticket)
        };
        self.step(session, input);
        // The answer is dropped only together with the coordinator.
        async move { exit.await.unwrap_or(Exit::Interrupted) }
    }

    fn step(&self, session: &SessionID, input: Input<DrainError>) {
        let mut table = self.table();
        for effect in table.state.step(session, input) {
            match effect {
                Effect::Start { force } => {
                    let cancel = self.inner.closing.child_token();
                    table.cancels.insert(session.clone(), cancel.clone());
                    self.start(session.clone(), force, cancel);
                }
                Effect::Cancel => {
                    if let Some(cancel) = table.cancels.get(session) {
                        cancel.cancel();
                    }
                }
                Effect::Resolve(ticket, exit) => {
                    if let Some(answer) = table.answers.remove(&ticket) {
                        // Who no longer waits needs no answer.
                        let _ = answer.send(exit);
                    }
                }
            }
        }
        if !table.state.is_active(session) {
            table.cancels.remove(session);
        }
    }

    fn start(&self, session: SessionID, force: bool, cancel: CancellationToken) {
        let here = self.clone();
        self.inner.tasks.spawn(async move {
            let drain = Arc::clone(&here.inner.drain);
            // A drain in a task of its own: if it panics, its session is told and stays usable.
            let running = tokio::spawn(drain(session.clone(), force, cancel));
            let exit = running.await.unwrap_or_else(|error| {
                tracing::error!(%error, session_id = %session, "a Session Drain panicked");
                Exit::Failed(DrainError::Internal(error.to_string()))
            });
            here.step(&session, Input::Exited(exit));
        });
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.inner
            .table
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}
