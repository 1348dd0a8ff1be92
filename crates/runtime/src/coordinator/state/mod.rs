//! Who runs: a pure reducer, `state x input -> state x effects`.
//!
//! One session is served by one Session Drain at a time, different sessions are independent.
//! Nothing asynchronous happens here; the edge carries the effects out and reports back.
//!
//! What an input does depends on whether the session runs, and whether what runs is being stopped:
//!
//! | input     | idle                 | running                            | stopping                           |
//! |-----------|----------------------|------------------------------------|------------------------------------|
//! | wake      | start                | remember, once                     | remember, once                     |
//! | run       | start, forced        | join                               | start over once it has settled     |
//! | interrupt | answered             | forget wakes; cancel; wait for the settlement | forget wakes and runs that were to start over; wait for the settlement |
//! | wait      | answered             | wait until idle                    | wait until idle                    |
//! | declined  | -                    | forget wakes; cancel               | -                                  |
//! | hold      | runs, without a drain | -                                 | -                                  |
//!
//! What follows the exit of a drain, unless it was being stopped:
//!
//! | exit                | another drain, in the same chain       | otherwise, and what follows                |
//! |---------------------|----------------------------------------|--------------------------------------------|
//! | done                | if woken                               | the chain ends                             |
//! | idle                | if woken; forced if somebody joined who has got no Provider Turn | the chain ends   |
//! | interrupted, failed | -                                      | the chain ends; a new one begins if woken  |
//!
//! A drain that was being stopped always ends its chain; what was asked for after the interruption
//! begins a new one. When a chain ends, those who joined it are told its exit, then those who
//! interrupted it that it has settled. Those who wait are told when nothing runs any more.
//!
//! Somebody who holds a session is in the place of its drain, and lets go as one that was idle. So
//! what is asked meanwhile begins then, and no drain runs beside what he does.
//!
//! So one that asked to run gets at least one Provider Turn, or the failure or interruption that
//! was in its way; what was queued before an interruption does not run because of it; and when an
//! interruption is answered only what was asked for after it may run.

use std::collections::HashMap;

use opencode_schema::id::SessionID;

/// Somebody who waits for an answer.
pub(crate) type Ticket = u64;

/// How a drain ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Exit<E> {
    /// Nothing is left to do.
    Done,
    /// Nothing was eligible; the model was not asked.
    Idle,
    /// It was interrupted.
    Interrupted,
    /// It failed.
    Failed(E),
}

/// What somebody who waits is told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Answer<E> {
    /// Nothing is left to do.
    Done,
    /// What runs was interrupted.
    Interrupted,
    /// What runs failed.
    Failed(E),
}

/// What happens to the coordinator.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Input<E> {
    /// There may be something to do. Wakes coalesce.
    Wake,
    /// Go on even without eligible input; the ticket gets the chain's exit.
    Run(Ticket),
    /// Stop; the ticket is answered when the drain has settled.
    Interrupt(Ticket),
    /// The ticket is answered when no drain runs.
    Wait(Ticket),
    /// Somebody declined what the running drain asked for: it stops, as if it was interrupted.
    Declined,
    /// Nobody waits for this ticket any more. What it asked for stands.
    Forget(Ticket),
    /// Somebody wants the session for himself, as long as it is idle.
    Hold,
    /// The drain ended, or who held the session let go.
    Exited(Exit<E>),
}

/// What is to be done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Effect<E> {
    /// Start a drain; a forced one makes at least one Provider Turn.
    Start { force: bool },
    /// Cancel the running drain.
    Cancel,
    /// Answer a ticket.
    Resolve(Ticket, Answer<E>),
}

/// What was asked of a session since its drain began.
#[derive(Debug, Default, PartialEq, Eq)]
struct Asked {
    wake: bool,
    /// Somebody asked to run.
    run: bool,
    /// Share the exit of the chain.
    joined: Vec<Ticket>,
}

/// A session that runs: a chain of drains, each begun because of what was asked during the former.
#[derive(Debug, Default, PartialEq, Eq)]
struct Entry {
    asked: Asked,
    stopping: bool,
    /// Asked since the interruption: what begins the next chain.
    after: Asked,
    /// Wait for the settlement of an interruption.
    interrupts: Vec<Ticket>,
    /// Wait until nothing runs.
    waiters: Vec<Ticket>,
}

/// Every session that runs.
#[derive(Debug, Default)]
pub(crate) struct State {
    entries: HashMap<SessionID, Entry>,
}

impl State {
    /// Sessions with a drain, or held by somebody, in no order.
    pub(crate) fn active(&self) -> impl Iterator<Item = &SessionID> {
        self.entries.keys()
    }

    /// Whether the session has a drain, or somebody holds it.
    pub(crate) fn is_active(&self, session: &SessionID) -> bool {
        self.entries.contains_key(session)
    }

    /// One transition of one session.
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
        // The drain that begins looks at everything that is pending.
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

    /// Where to note what is asked now: a drain that is being stopped does nothing for it.
    fn asked_now(&mut self) -> &mut Asked {
        if self.stopping {
            &mut self.after
        } else {
            &mut self.asked
        }
    }

    fn interrupt<E: Clone>(&mut self, ticket: Ticket) -> Vec<Effect<E>> {
        // Nothing runs because of what was asked before an interruption; what was asked of the
        // running drain ends with its chain.
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

    /// Whether another drain follows in the same chain, for the same people.
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

    /// The chain has ended: tells who joined it, then who interrupted it.
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

    /// What begins a new chain, if anything.
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
