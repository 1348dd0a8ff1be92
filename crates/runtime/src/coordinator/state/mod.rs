//! Decides which session runs: a pure reducer, `state x input -> state x effects`.
//!
//! One session has one Session Drain at a time; different sessions are independent. Nothing asynchronous happens here:
//! the edge executes the effects and reports back.
//!
//! The effect of an input depends on the state of the session: idle, running, or being stopped:
//!
//! | input     | idle          | running                                  | stopping                                  |
//! |-----------|---------------|------------------------------------------|-------------------------------------------|
//! | wake      | start         | remember, once                           | remember, once                            |
//! | run       | start, forced | join                                     | start after it has settled                |
//! | interrupt | answered      | forget wakes; cancel; wait until settled | forget wakes and runs; wait until settled |
//! | wait      | answered      | wait until idle                          | wait until idle                           |
//! | declined  | -             | forget wakes; cancel                     | -                                         |
//! | hold      | run, no drain | -                                        | -                                         |
//!
//! The effect of a drain's exit, unless the drain was being stopped:
//!
//! | exit                | another drain in the same chain        | otherwise                                  |
//! |---------------------|----------------------------------------|--------------------------------------------|
//! | done                | if woken                               | the chain ends                             |
//! | idle                | if woken, or forced if a run joined that has had no Provider Turn | the chain ends |
//! | interrupted, failed | -                                      | the chain ends; a new one begins if woken  |
//!
//! A drain that was being stopped always ends its chain; requests that arrived after the interruption start a new
//! chain. When a chain ends, callers that joined it get its exit, then callers that interrupted it learn that it has
//! settled. Callers that wait for idleness get their answer when nothing runs any more.
//!
//! A hold takes the place of the session's drain, and its release counts as an idle exit. So requests that arrive
//! during a hold start when it is released, and no drain runs during a hold.
//!
//! This guarantees: a run gets at least one Provider Turn, or the failure or interruption that prevented it. Requests
//! from before an interruption start no drain after it. When an interruption is answered, only requests that arrived
//! after the interruption may run.

use std::collections::HashMap;

use opencode_schema::id::SessionID;

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
pub(crate) enum Input<E> {
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
    /// No caller waits for this ticket any more. Its request stays valid.
    Forget(Ticket),
    /// A caller requests exclusive access to the session, if it is idle.
    Hold,
    /// The drain ended, or the hold was released.
    Exited(Exit<E>),
}

/// An action for the edge.
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
struct Asked {
    wake: bool,
    /// A run was requested.
    run: bool,
    /// Callers that get the exit of the chain.
    joined: Vec<Ticket>,
}

/// A running session: a chain of drains. Each later drain starts because of requests during the previous one.
#[derive(Debug, Default, PartialEq, Eq)]
struct Entry {
    asked: Asked,
    stopping: bool,
    /// Requests since the interruption; they start the next chain.
    after: Asked,
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
        input: Input<E>,
    ) -> Vec<Effect<E>> {
        let Some(entry) = self.entries.get_mut(session) else {
            return self.begin(session, input);
        };
        match input {
            Input::Wake => entry.asked_now().wake = true,
            Input::Run(ticket) => entry.asked_now().run(ticket),
            Input::Interrupt(ticket) => return entry.interrupt(ticket),
            Input::Wait(ticket) => entry.waiters.push(ticket),
            Input::Declined => return entry.stop(),
            Input::Forget(ticket) => entry.forget(ticket),
            Input::Hold => {}
            Input::Exited(exit) => return self.exited(session, exit),
        }
        Vec::new()
    }

    fn begin<E>(&mut self, session: &SessionID, input: Input<E>) -> Vec<Effect<E>> {
        let mut asked = Asked::default();
        match input {
            Input::Wake => asked.wake = true,
            Input::Run(ticket) => asked.run(ticket),
            Input::Interrupt(ticket) | Input::Wait(ticket) => {
                return vec![Effect::Resolve(ticket, Answer::Done)];
            }
            Input::Hold => {
                self.entries.insert(session.clone(), Entry::default());
                return Vec::new();
            }
            Input::Declined | Input::Forget(_) | Input::Exited(_) => return Vec::new(),
        }
        self.start(session, Entry::new(asked))
    }

    fn start<E>(&mut self, session: &SessionID, mut entry: Entry) -> Vec<Effect<E>> {
        // The new drain examines all pending inputs.
        entry.asked.wake = false;
        let force = std::mem::take(&mut entry.asked.run);
        self.entries.insert(session.clone(), entry);
        vec![Effect::Start { force }]
    }

    fn exited<E: Clone>(&mut self, session: &SessionID, exit: Exit<E>) -> Vec<Effect<E>> {
        let Some(mut entry) = self.entries.remove(session) else {
            return Vec::new();
        };
        if entry.goes_on(&exit) {
            return self.start(session, entry);
        }
        let next = entry.next();
        let mut effects = entry.settle(exit);
        if next.wake || next.run {
            let waiters = entry.waiters;
            effects.extend(self.start(
                session,
                Entry {
                    waiters,
                    ..Entry::new(next)
                },
            ));
        } else {
            effects.extend(resolve(entry.waiters, &Answer::Done));
        }
        effects
    }
}

impl Asked {
    fn run(&mut self, ticket: Ticket) {
        self.run = true;
        self.joined.push(ticket);
    }
}

impl Entry {
    fn new(asked: Asked) -> Self {
        Self {
            asked,
            ..Self::default()
        }
    }

    /// Returns the place to record a request: a drain that is being stopped does not serve it.
    fn asked_now(&mut self) -> &mut Asked {
        if self.stopping {
            &mut self.after
        } else {
            &mut self.asked
        }
    }

    fn interrupt<E: Clone>(&mut self, ticket: Ticket) -> Vec<Effect<E>> {
        // Requests from before an interruption start no drain. Callers that joined the running drain get the exit of
        // its chain.
        let cut = std::mem::take(&mut self.after);
        let mut effects: Vec<_> = resolve(cut.joined, &Answer::Interrupted).collect();
        self.interrupts.push(ticket);
        effects.extend(self.stop());
        effects
    }

    /// Cancels the drain, once.
    fn stop<E>(&mut self) -> Vec<Effect<E>> {
        if std::mem::replace(&mut self.stopping, true) {
            return Vec::new();
        }
        vec![Effect::Cancel]
    }

    fn forget(&mut self, ticket: Ticket) {
        let lists = [
            &mut self.asked.joined,
            &mut self.after.joined,
            &mut self.interrupts,
            &mut self.waiters,
        ];
        for list in lists {
            list.retain(|it| *it != ticket);
        }
    }

    /// Returns true if another drain follows in the same chain, for the same callers.
    fn goes_on<E>(&mut self, exit: &Exit<E>) -> bool {
        if self.stopping {
            return false;
        }
        match exit {
            Exit::Done => {
                self.asked.run = false;
                self.asked.wake
            }
            Exit::Idle => self.asked.wake || self.asked.run,
            Exit::Interrupted | Exit::Failed(_) => false,
        }
    }

    /// Answers the callers of a chain that has ended: first those that joined it, then those that interrupted it.
    fn settle<E: Clone>(&mut self, exit: Exit<E>) -> Vec<Effect<E>> {
        let answer = match exit {
            Exit::Done => Answer::Done,
            Exit::Idle if !self.stopping => Answer::Done,
            Exit::Idle | Exit::Interrupted => Answer::Interrupted,
            Exit::Failed(error) => Answer::Failed(error),
        };
        let joined = std::mem::take(&mut self.asked.joined);
        let interrupts = std::mem::take(&mut self.interrupts);
        let told = resolve(joined, &answer).chain(resolve(interrupts, &Answer::Done));
        told.collect()
    }

    /// Returns the requests that start a new chain, if there are any.
    fn next(&mut self) -> Asked {
        if self.stopping {
            return std::mem::take(&mut self.after);
        }
        Asked {
            wake: self.asked.wake,
            ..Asked::default()
        }
    }
}

fn resolve<E: Clone>(tickets: Vec<Ticket>, answer: &Answer<E>) -> impl Iterator<Item = Effect<E>> {
    let tickets = tickets.into_iter();
    tickets.map(|ticket| Effect::Resolve(ticket, answer.clone()))
}

#[cfg(test)]
mod tests;
