//! Decides which session runs: a pure reducer, `state x input -> state x effects`.
//!
//! One session has one Session Drain at a time; different sessions are independent. Nothing asynchronous happens here:
//! the edge executes the effects and reports back.
//!
//! [`table`] says which actions an input has in each phase of a session; this module performs them.
//!
//! A chain is a drain and the drains that follow it because of requests during the previous one. When a chain ends,
//! callers that joined it get its exit, then callers that interrupted it learn that it has settled. Callers that wait
//! for idleness get their answer when nothing runs any more.
//!
//! A hold takes the place of the session's drain, and its release counts as an idle exit. So requests that arrive
//! during a hold start when it is released, and no drain runs during a hold.
//!
//! This guarantees: a run gets at least one Provider Turn, or the failure or interruption that prevented it. Requests
//! from before an interruption start no drain after it. When an interruption is answered, only requests that arrived
//! after the interruption may run. Requests from after the failure of a turn do not share this failure.

mod table;

use std::collections::HashMap;

use opencode_schema::id::SessionID;

use self::table::{Action, Condition, Kind, Outcome, Phase, Source, actions};

/// Identifies a caller that waits for an answer.
pub(crate) type Ticket = u64;

/// Outcome of a drain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Exit<E> {
    /// No work is left.
    Done,
    /// There was no eligible input; the model was not asked.
    Idle,
    /// It was interrupted.
    Interrupted,
    /// It failed.
    Failed(E),
}

/// The answer to a caller that waits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Answer<E> {
    /// No work is left.
    Done,
    /// The running drain was interrupted.
    Interrupted,
    /// The running drain failed.
    Failed(E),
}

/// An input of the coordinator.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum CoordinatorInput<E> {
    /// There may be work. Wakes coalesce.
    Wake,
    /// Run even without eligible input; the ticket gets the exit of the chain.
    Run(Ticket),
    /// Stop; the ticket is answered when the drain has settled.
    Interrupt(Ticket),
    /// The ticket is answered when no drain runs.
    Wait(Ticket),
    /// A request of the running drain was declined: it stops as if it was interrupted.
    Declined,
    /// A turn of the running drain failed, or the session pauses. A caller that learns about it and
    /// requests a run gets a drain of its own.
    TurnFailed,
    /// No caller waits for this ticket any more. Its request stays valid.
    Forget(Ticket),
    /// A caller requests exclusive access to the session, if it is idle.
    Hold,
    /// The drain ended, or the hold was released.
    Exited(Exit<E>),
}

impl<E> CoordinatorInput<E> {
    /// Splits the input into its row of the table, its ticket and its exit.
    fn into_parts(self) -> (Kind, Option<Ticket>, Option<Exit<E>>) {
        match self {
            Self::Wake => (Kind::Wake, None, None),
            Self::Run(ticket) => (Kind::Run, Some(ticket), None),
            Self::Interrupt(ticket) => (Kind::Interrupt, Some(ticket), None),
            Self::Wait(ticket) => (Kind::Wait, Some(ticket), None),
            Self::Declined => (Kind::Declined, None, None),
            Self::TurnFailed => (Kind::TurnFailed, None, None),
            Self::Forget(ticket) => (Kind::Forget, Some(ticket), None),
            Self::Hold => (Kind::Hold, None, None),
            Self::Exited(exit) => (Kind::of_exit(&exit), None, Some(exit)),
        }
    }
}

/// An effect, which the edge executes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Effect<E> {
    /// Start a drain; a forced one makes at least one Provider Turn.
    Start { force: bool },
    /// Cancel the running drain.
    Cancel,
    /// Answer a ticket.
    Resolve(Ticket, Answer<E>),
}

/// Requests to a session since its drain started.
#[derive(Debug, Default, PartialEq, Eq)]
struct LaterRequests {
    wake: bool,
    /// A run was requested.
    run: bool,
    /// Callers that get the exit of the chain.
    joined: Vec<Ticket>,
}

/// A running session: a chain of drains. Each later drain starts because of requests during the previous one.
#[derive(Debug, Default, PartialEq, Eq)]
struct Entry {
    asked: LaterRequests,
    failing: bool,
    stopping: bool,
    /// Requests since the failure or the interruption; they start the next chain.
    after: LaterRequests,
    /// Callers that wait until an interruption has settled.
    interrupts: Vec<Ticket>,
    /// Callers that wait until nothing runs.
    waiters: Vec<Ticket>,
}

/// All running sessions.
#[derive(Debug, Default)]
pub(crate) struct State {
    entries: HashMap<SessionID, Entry>,
}

impl State {
    /// Returns the sessions with a drain or a hold, in no order.
    pub(crate) fn active(&self) -> impl Iterator<Item = &SessionID> {
        self.entries.keys()
    }

    /// Returns true if the session has a drain or a hold.
    pub(crate) fn is_active(&self, session: &SessionID) -> bool {
        self.entries.contains_key(session)
    }

    /// Performs one transition of one session.
    pub(crate) fn step<E: Clone>(
        &mut self,
        session: &SessionID,
        input: CoordinatorInput<E>,
    ) -> Vec<Effect<E>> {
        let entry = self.entries.remove(session);
        let phase = entry.as_ref().map_or(Phase::Idle, Entry::phase);
        let (kind, ticket, exit) = input.into_parts();
        let mut transition = Transition {
            is_active: entry.is_some(),
            entry: entry.unwrap_or_default(),
            ticket,
            exit,
            effects: Vec::new(),
        };
        for action in actions(kind, phase) {
            if transition.perform(*action) == Progress::Complete {
                break;
            }
        }
        if transition.is_active {
            self.entries.insert(session.clone(), transition.entry);
        }
        transition.effects
    }
}

/// One transition of one session.
struct Transition<E> {
    entry: Entry,
    /// The session has a drain or a hold after the transition.
    is_active: bool,
    ticket: Option<Ticket>,
    exit: Option<Exit<E>>,
    effects: Vec<Effect<E>>,
}

/// The transition continues with the next action, or is complete.
#[derive(PartialEq, Eq)]
enum Progress {
    Continues,
    Complete,
}

impl<E: Clone> Transition<E> {
    fn perform(&mut self, action: Action) -> Progress {
        match action {
            Action::RecordWake => self.entry.asked.wake = true,
            Action::RecordRun => self.entry.asked.run(self.ticket),
            Action::RecordLaterWake => self.entry.after.wake = true,
            Action::RecordLaterRun => self.entry.after.run(self.ticket),
            Action::Start => self.start(),
            Action::Occupy => self.is_active = true,
            Action::Answer => self.answer(self.ticket, &Answer::Done),
            Action::AwaitSettlement => self.entry.interrupts.extend(self.ticket),
            Action::AwaitIdleness => self.entry.waiters.extend(self.ticket),
            Action::CutLater => {
                let cut = std::mem::take(&mut self.entry.after);
                self.answer(cut.joined, &Answer::Interrupted);
            }
            Action::Cancel => {
                self.entry.stopping = true;
                self.effects.push(Effect::Cancel);
            }
            Action::SeparateLater => self.entry.failing = true,
            Action::ForgetTicket => self.entry.forget(self.ticket),
            Action::CompleteRuns => self.entry.asked.run = false,
            Action::ContinueIf(condition) => {
                if self.entry.meets(condition) {
                    self.start();
                    return Progress::Complete;
                }
            }
            Action::Settle(outcome) => self.settle(outcome),
            Action::StartNext(source) => self.start_next(source),
        }
        Progress::Continues
    }

    /// Starts a drain, which examines all pending inputs.
    fn start(&mut self) {
        let asked = &mut self.entry.asked;
        asked.wake = false;
        let force = std::mem::take(&mut asked.run);
        self.is_active = true;
        self.effects.push(Effect::Start { force });
    }

    /// Answers the callers of a chain that has ended: first those that joined it, then those that interrupted it.
    fn settle(&mut self, outcome: Outcome) {
        let answer = match (outcome, self.exit.take()) {
            (Outcome::OfExit, Some(Exit::Failed(error))) => Answer::Failed(error),
            (Outcome::OfExit, Some(Exit::Interrupted)) | (Outcome::Interrupted, _) => {
                Answer::Interrupted
            }
            (Outcome::OfExit, Some(Exit::Done | Exit::Idle) | None) => Answer::Done,
        };
        let joined = std::mem::take(&mut self.entry.asked.joined);
        let interrupts = std::mem::take(&mut self.entry.interrupts);
        self.answer(joined, &answer);
        self.answer(interrupts, &Answer::Done);
    }

    /// Starts a new chain if there are requests for it. Otherwise the session is idle.
    fn start_next(&mut self, source: Source) {
        let entry = std::mem::take(&mut self.entry);
        let asked = match source {
            Source::Unserved => LaterRequests {
                wake: entry.asked.wake || entry.after.wake,
                ..entry.after
            },
            Source::Later => entry.after,
        };
        if asked.wake || asked.run {
            let waiters = entry.waiters;
            self.entry = Entry {
                asked,
                waiters,
                ..Entry::default()
            };
            self.start();
        } else {
            self.is_active = false;
            self.answer(entry.waiters, &Answer::Done);
        }
    }

    fn answer(&mut self, tickets: impl IntoIterator<Item = Ticket>, answer: &Answer<E>) {
        let tickets = tickets.into_iter();
        self.effects
            .extend(tickets.map(|ticket| Effect::Resolve(ticket, answer.clone())));
    }
}

impl LaterRequests {
    fn run(&mut self, ticket: Option<Ticket>) {
        self.run = true;
        self.joined.extend(ticket);
    }
}

impl Entry {
    fn phase(&self) -> Phase {
        if self.stopping {
            Phase::Stopping
        } else if self.failing {
            Phase::Failing
        } else {
            Phase::Running
        }
    }

    fn forget(&mut self, ticket: Option<Ticket>) {
        let lists = [
            &mut self.asked.joined,
            &mut self.after.joined,
            &mut self.interrupts,
            &mut self.waiters,
        ];
        for list in lists {
            list.retain(|it| Some(*it) != ticket);
        }
    }

    fn meets(&self, condition: Condition) -> bool {
        match condition {
            Condition::Woken => self.asked.wake,
            Condition::WokenOrRun => self.asked.wake || self.asked.run,
        }
    }
}

#[cfg(test)]
mod tests;
