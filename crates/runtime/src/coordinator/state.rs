//! Who runs: a pure reducer, `state x input -> state x effects`.
//!
//! One session is served by one Session Drain at a time, different sessions are independent.
//! Nothing asynchronous happens here; the edge carries the effects out and reports back.

use std::collections::HashMap;

use opencode_schema::id::SessionID;

/// Somebody who waits for an answer.
pub(crate) type Ticket = u64;

/// How a drain ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Exit<E> {
    /// Nothing is left to do.
    Done,
    /// It was interrupted, or its session moved away.
    Interrupted,
    /// It failed.
    Failed(E),
}

/// What happens to the coordinator.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Input<E> {
    /// There may be something to do. Wakes coalesce.
    Wake,
    /// Go on even without eligible input; the ticket gets the drain's exit.
    Run(Ticket),
    /// Stop; the ticket is answered when the drain has settled.
    Interrupt(Ticket),
    /// The ticket is answered when no drain runs.
    Wait(Ticket),
    /// The drain ended.
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
    Resolve(Ticket, Exit<E>),
}

/// A session that runs.
#[derive(Debug, Default, PartialEq, Eq)]
struct Entry {
    wake_pending: bool,
    stopping: bool,
    /// Share the exit of this drain and of the reruns its wakes cause.
    joined: Vec<Ticket>,
    /// Asked to run while the drain was stopping: they start over.
    restart: Vec<Ticket>,
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
    /// Sessions with a drain, in no order.
    pub(crate) fn active(&self) -> impl Iterator<Item = &SessionID> {
        self.entries.keys()
    }

    /// Whether the session has a drain.
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
            Input::Wake => {
                entry.wake_pending = true;
                Vec::new()
            }
            Input::Run(ticket) if entry.stopping => {
                entry.restart.push(ticket);
                Vec::new()
            }
            Input::Run(ticket) => {
                entry.joined.push(ticket);
                Vec::new()
            }
            Input::Interrupt(ticket) => {
                // What was queued before the interruption must not run because of it.
                entry.wake_pending = false;
                entry.interrupts.push(ticket);
                let first = !std::mem::replace(&mut entry.stopping, true);
                if first {
                    vec![Effect::Cancel]
                } else {
                    Vec::new()
                }
            }
            Input::Wait(ticket) => {
                entry.waiters.push(ticket);
                Vec::new()
            }
            Input::Exited(exit) => self.exited(session, exit),
        }
    }

    fn begin<E>(&mut self, session: &SessionID, input: Input<E>) -> Vec<Effect<E>> {
        match input {
            Input::Wake => self.start(session, Entry::default(), false),
            Input::Run(ticket) => {
                let entry = Entry {
                    joined: vec![ticket],
                    ..Entry::default()
                };
                self.start(session, entry, true)
            }
            Input::Interrupt(ticket) | Input::Wait(ticket) => {
                vec![Effect::Resolve(ticket, Exit::Done)]
            }
            Input::Exited(_) => Vec::new(),
        }
    }

    fn start<E>(&mut self, session: &SessionID, entry: Entry, force: bool) -> Vec<Effect<E>> {
        self.entries.insert(session.clone(), entry);
        vec![Effect::Start { force }]
    }

    fn exited<E: Clone>(&mut self, session: &SessionID, exit: Exit<E>) -> Vec<Effect<E>> {
        let Some(mut entry) = self.entries.remove(session) else {
            return Vec::new();
        };
        if matches!(exit, Exit::Done) && !entry.stopping && entry.wake_pending {
            entry.wake_pending = false;
            return self.start(session, entry, false);
        }
        let mut effects: Vec<Effect<E>> = entry
            .joined
            .into_iter()
            .map(|ticket| Effect::Resolve(ticket, exit.clone()))
            .collect();
        let settled = entry.interrupts.into_iter();
        effects.extend(settled.map(|ticket| Effect::Resolve(ticket, Exit::Done)));
        if !entry.restart.is_empty() || entry.wake_pending {
            let force = !entry.restart.is_empty();
            let next = Entry {
                joined: entry.restart,
                waiters: entry.waiters,
                ..Entry::default()
            };
            effects.extend(self.start(session, next, force));
        } else {
            let idle = entry.waiters.into_iter();
            effects.extend(idle.map(|ticket| Effect::Resolve(ticket, Exit::Done)));
        }
        effects
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type In = Input<&'static str>;
    type Out = Effect<&'static str>;
    const START: Out = Effect::Start { force: false };
    const FORCE: Out = Effect::Start { force: true };
    const DONE: Exit<&str> = Exit::Done;

    fn done(ticket: Ticket) -> Out {
        Effect::Resolve(ticket, DONE)
    }

    /// Feeds inputs to one session and compares the effects of each.
    fn check(steps: &[(In, &[Out])], active_after: bool) {
        let session = SessionID::parse("ses_a").unwrap();
        let mut state = State::default();
        for (at, (input, effects)) in steps.iter().enumerate() {
            assert_eq!(
                &state.step(&session, input.clone()),
                effects,
                "step {at}: {input:?}"
            );
        }
        assert_eq!(state.active().next().is_some(), active_after);
    }

    #[test]
    fn a_wake_starts_one_drain_and_later_wakes_coalesce_into_one_rerun() {
        use Input::*;
        check(
            &[
                (Wake, &[START]),
                (Wake, &[]),
                (Wake, &[]),
                (Exited(DONE), &[START]),
                (Exited(DONE), &[]),
            ],
            false,
        );
    }

    #[test]
    fn runs_join_and_share_the_exit_of_the_last_rerun() {
        use Input::*;
        check(
            &[
                (Run(1), &[FORCE]),
                (Run(2), &[]),
                (Wake, &[]),
                (Exited(DONE), &[START]),
                (
                    Exited(Exit::Failed("no")),
                    &[
                        Effect::Resolve(1, Exit::Failed("no")),
                        Effect::Resolve(2, Exit::Failed("no")),
                    ],
                ),
            ],
            false,
        );
    }

    #[test]
    fn an_interrupt_suppresses_earlier_wakes_and_keeps_later_ones() {
        use Input::*;
        check(
            &[
                (Wake, &[START]),
                (Wake, &[]),
                (Interrupt(1), &[Effect::Cancel]),
                (Interrupt(2), &[]),
                (Exited(Exit::Interrupted), &[done(1), done(2)]),
            ],
            false,
        );
        check(
            &[
                (Wake, &[START]),
                (Interrupt(1), &[Effect::Cancel]),
                (Wake, &[]),
                (Exited(Exit::Interrupted), &[done(1), START]),
            ],
            true,
        );
    }

    #[test]
    fn a_drain_that_was_done_when_it_was_stopped_does_not_rerun_earlier_wakes() {
        use Input::*;
        check(
            &[
                (Wake, &[START]),
                (Wake, &[]),
                (Interrupt(1), &[Effect::Cancel]),
                (Exited(DONE), &[done(1)]),
            ],
            false,
        );
    }

    #[test]
    fn a_run_while_stopping_starts_over() {
        use Input::*;
        check(
            &[
                (Run(1), &[FORCE]),
                (Interrupt(2), &[Effect::Cancel]),
                (Run(3), &[]),
                (
                    Exited(Exit::Interrupted),
                    &[Effect::Resolve(1, Exit::Interrupted), done(2), FORCE],
                ),
                (Exited(DONE), &[done(3)]),
            ],
            false,
        );
    }

    #[test]
    fn a_failed_drain_keeps_wakes_that_came_while_it_ran() {
        use Input::*;
        check(
            &[
                (Wake, &[START]),
                (Wake, &[]),
                (Exited(Exit::Failed("no")), &[START]),
            ],
            true,
        );
    }

    #[test]
    fn waiters_wait_over_reruns_and_restarts() {
        use Input::*;
        check(
            &[
                (Wait(1), &[done(1)]),
                (Interrupt(2), &[done(2)]),
                (Wake, &[START]),
                (Wait(3), &[]),
                (Wake, &[]),
                (Exited(Exit::Failed("no")), &[START]),
                (Exited(DONE), &[done(3)]),
            ],
            false,
        );
    }
}
