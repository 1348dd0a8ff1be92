//! The asynchronous edge: executes the decisions of the reducer.
//!
//! Each input is one transition. The transition and all its effects (answers, cancellation, the start of a drain)
//! happen under one lock, so no caller sees a session between two states.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError};

use futures::future::BoxFuture;
use opencode_schema::id::SessionID;
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::state::{Answer, CoordinatorInput, Effect, Exit, State, Ticket};
use super::sync::{Mutex, MutexGuard, spawn};
use crate::error::DrainError;

/// Runs one Session Drain until no work is left.
pub(crate) type Drain =
    Arc<dyn Fn(SessionID, bool, Stopper) -> BoxFuture<'static, DrainExit> + Send + Sync>;

/// Exit of a drain of this runtime.
pub(crate) type DrainExit = Exit<DrainError>;

/// Answer to a caller that requested a run, an interruption or idleness.
pub(crate) type RunAnswer = Answer<DrainError>;

/// Receives every change of a session to active (`true`) or inactive (`false`), in order. It is called inside the
/// transition, so it must return at once.
pub(crate) type ActivityListener = Box<dyn Fn(&SessionID, bool) + Send + Sync>;

/// Owns the drains of all sessions of a host.
#[derive(Clone)]
pub(crate) struct Coordinator {
    inner: Arc<Inner>,
}

struct Inner {
    drain: Drain,
    tasks: TaskTracker,
    /// Stops every drain when the host closes.
    closing: CancellationToken,
    listener: ActivityListener,
    /// Locked for one transition; never across an await.
    table: Mutex<Table>,
}

#[derive(Default)]
struct Table {
    state: State,
    next_ticket: Ticket,
    answers: HashMap<Ticket, oneshot::Sender<RunAnswer>>,
    cancels: HashMap<SessionID, CancellationToken>,
}

/// The stop signal of a drain, and its means to stop itself.
pub(crate) struct Stopper {
    coordinator: Coordinator,
    session: SessionID,
    cancel: CancellationToken,
}

/// Exclusive access to a session. No drain runs until this is dropped; requests that arrive until then start after it.
pub(crate) struct SessionHold {
    coordinator: Coordinator,
    session: SessionID,
    cancel: CancellationToken,
}

/// A caller that waits. Dropping it discards the answer and has no other effect.
struct Waiting {
    here: Coordinator,
    session: SessionID,
    ticket: Ticket,
}

impl Coordinator {
    pub(crate) fn new(
        drain: Drain,
        tasks: TaskTracker,
        closing: CancellationToken,
        listener: ActivityListener,
    ) -> Self {
        let table = Mutex::default();
        Self {
            inner: Arc::new(Inner {
                drain,
                tasks,
                closing,
                listener,
                table,
            }),
        }
    }

    /// Starts a drain if there may be eligible input. Returns at once.
    pub(crate) fn wake(&self, session: &SessionID) {
        if !self.inner.closing.is_cancelled() {
            self.step(&mut self.table(), session, CoordinatorInput::Wake);
        }
    }

    /// Joins the running drain, or starts one that makes at least one Provider Turn. The future returns the exit. The
    /// run is registered at once and is not cancelled if the future is dropped.
    pub(crate) fn run(&self, session: &SessionID) -> impl Future<Output = RunAnswer> + use<> {
        self.ask(session, CoordinatorInput::Run)
    }

    /// Stops the running drain. The future completes when all its work has settled.
    pub(crate) fn interrupt(&self, session: &SessionID) -> impl Future<Output = RunAnswer> + use<> {
        self.ask(session, CoordinatorInput::Interrupt)
    }

    /// Waits for the session to be idle. The future completes when the session has no drain.
    pub(crate) fn wait(&self, session: &SessionID) -> impl Future<Output = RunAnswer> + use<> {
        self.ask(session, CoordinatorInput::Wait)
    }

    /// Takes exclusive access to an idle session. Returns `None` if the session is not idle.
    pub(crate) fn hold(&self, session: &SessionID) -> Option<SessionHold> {
        let mut table = self.table();
        if table.state.is_active(session) {
            return None;
        }
        let cancel = self.inner.closing.child_token();
        table.cancels.insert(session.clone(), cancel.clone());
        self.step(&mut table, session, CoordinatorInput::Hold);
        Some(SessionHold {
            coordinator: self.clone(),
            session: session.clone(),
            cancel,
        })
    }

    /// Returns a stopper for a reader that inspects a session and runs nothing. It fires when the host closes.
    pub(crate) fn reader_stopper(&self, session: &SessionID) -> Stopper {
        Stopper {
            coordinator: self.clone(),
            session: session.clone(),
            cancel: self.inner.closing.child_token(),
        }
    }

    /// Returns the sessions with a drain or a hold.
    pub(crate) fn active(&self) -> Vec<SessionID> {
        self.table().state.active().cloned().collect()
    }

    fn ask(
        &self,
        session: &SessionID,
        input: fn(Ticket) -> CoordinatorInput<DrainError>,
    ) -> impl Future<Output = RunAnswer> + use<> {
        let (answer, answered) = oneshot::channel();
        let mut table = self.table();
        table.next_ticket += 1;
        let ticket = table.next_ticket;
        table.answers.insert(ticket, answer);
        self.step(&mut table, session, input(ticket));
        drop(table);
        let waiting = Waiting {
            here: self.clone(),
            session: session.clone(),
            ticket,
        };
        async move {
            let _waiting = waiting;
            // The answer is dropped only together with the coordinator.
            answered.await.unwrap_or(Answer::Interrupted)
        }
    }

    fn step(&self, table: &mut Table, session: &SessionID, input: CoordinatorInput<DrainError>) {
        let was_active = table.state.is_active(session);
        let effects = table.state.step(session, input);
        let is_active = table.state.is_active(session);
        if was_active != is_active {
            // Before the effects: a caller that receives an answer may rely on the notice.
            (self.inner.listener)(session, is_active);
        }
        for effect in effects {
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
                Effect::Resolve(ticket, answer) => {
                    if let Some(waiting) = table.answers.remove(&ticket) {
                        // The send fails if the caller has dropped its future; then it needs no answer.
                        let _ = waiting.send(answer);
                    }
                }
            }
        }
        if !is_active {
            table.cancels.remove(session);
        }
    }

    fn start(&self, session: SessionID, force: bool, cancel: CancellationToken) {
        let here = self.clone();
        let guarded = async move {
            let drain = Arc::clone(&here.inner.drain);
            // The drain runs in a separate task: if it panics, its session gets an answer and stays usable.
            let stopper = Stopper {
                coordinator: here.clone(),
                session: session.clone(),
                cancel,
            };
            let running = spawn(drain(session.clone(), force, stopper));
            let exit = running.await.unwrap_or_else(|error| {
                tracing::error!(%error, session_id = %session, "a Session Drain panicked");
                Exit::Failed(DrainError::Internal(error.to_string()))
            });
            here.step(&mut here.table(), &session, CoordinatorInput::Exited(exit));
        };
        drop(spawn(self.inner.tasks.track_future(guarded)));
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.inner
            .table
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

impl Stopper {
    /// Returns the token that fires when the drain must stop.
    pub(crate) fn stopped(&self) -> &CancellationToken {
        &self.cancel
    }

    /// Returns true if the host closes, which stops every drain without a user's decision.
    pub(crate) fn host_closes(&self) -> bool {
        self.coordinator.inner.closing.is_cancelled()
    }

    /// Returns the coordinator that runs this drain and the drains of other sessions.
    pub(crate) fn coordinator(&self) -> &Coordinator {
        &self.coordinator
    }

    /// Stops the drain because one of its requests was declined. As with an interruption, input that was woken before
    /// stays pending, and later wakes start a drain after this one.
    pub(crate) fn decline(&self) {
        let here = &self.coordinator;
        here.step(&mut here.table(), &self.session, CoordinatorInput::Declined);
    }

    /// Separates requests that arrive from now on from this drain, because a turn failed or the
    /// session pauses. Must be called before a caller can learn about it: a caller that reacts with a run
    /// must not join the drain that ends.
    pub(crate) fn turn_failed(&self) {
        let here = &self.coordinator;
        here.step(
            &mut here.table(),
            &self.session,
            CoordinatorInput::TurnFailed,
        );
    }
}

impl SessionHold {
    /// Returns the token that fires when the session is interrupted or the host closes.
    pub(crate) fn stopped(&self) -> &CancellationToken {
        &self.cancel
    }
}

impl Drop for SessionHold {
    fn drop(&mut self) {
        let here = &self.coordinator;
        here.step(
            &mut here.table(),
            &self.session,
            CoordinatorInput::Exited(Exit::Idle),
        );
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        let mut table = self.here.table();
        if table.answers.remove(&self.ticket).is_some() {
            let forget = CoordinatorInput::Forget(self.ticket);
            self.here.step(&mut table, &self.session, forget);
        }
    }
}
