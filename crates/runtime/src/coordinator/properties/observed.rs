//! One session from the outside: the requests to it, and the answers that it must give.

use std::collections::BTreeMap;

use opencode_schema::prompt::Delivery;

use super::super::state::{Answer, Effect, Exit, Ticket};
use super::Progress;
use super::drain::{Drain, Inbox};

pub(super) type Ended = Exit<&'static str>;

#[derive(Debug, Default)]
pub(super) struct ObservedSession {
    inbox: Inbox,
    drain: Option<Drain>,
    /// Number of drains started so far.
    drains: u32,
    /// Number of Provider Turns started so far.
    turns: u32,
    /// Number of Provider Turns when the chain started.
    turns_before_chain: u32,
    /// True if it was woken since the last drain started and not stopped since.
    woken: bool,
    /// True if a run was requested, and neither a turn nor a failure or interruption has followed.
    run_wanted: bool,
    /// True if a run was requested since the last drain started.
    run_again: bool,
    waiting: BTreeMap<Ticket, Waits>,
}

/// The event that a caller waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Waits {
    /// The exit of a chain that made more turns than `turns`, in a drain after `later_than`.
    Run { turns: u32, later_than: Option<u32> },
    /// The exit of exactly this drain.
    Settlement { of: Option<u32> },
    /// The session to be idle.
    Idle,
}

/// A drain that has just ended.
struct Last<'a> {
    exit: &'a Ended,
    number: u32,
    failing: bool,
    stopped: bool,
}

impl ObservedSession {
    pub(super) fn runs(&self) -> bool {
        self.drain.is_some()
    }

    pub(super) fn pending(&self) -> usize {
        self.inbox.pending.len()
    }

    pub(super) fn crash(&mut self) {
        (self.drain, self.woken, self.run_wanted) = (None, false, false);
        self.waiting.clear();
        self.inbox.use_up_wakes(|_| true);
    }

    pub(super) fn admit(&mut self, delivery: Delivery) {
        self.inbox.admit(delivery);
    }

    pub(super) fn wake(&mut self) {
        self.woken = true;
        self.inbox.wake(self.drains);
    }

    pub(super) fn run(&mut self, ticket: Ticket) {
        (self.run_wanted, self.run_again) = (true, true);
        let ending = self.drain.as_ref().filter(|it| it.stopped || it.failing);
        // A drain that fails or is being stopped serves no later request.
        let later_than = ending.map(|it| it.number);
        let joins = self.drain.is_some() && ending.is_none();
        let turns = if joins {
            self.turns_before_chain
        } else {
            self.turns
        };
        let waits = Waits::Run { turns, later_than };
        self.waiting.insert(ticket, waits);
    }

    pub(super) fn interrupt(&mut self, ticket: Ticket) {
        self.stop();
        let of = self.drain.as_ref().map(|it| it.number);
        self.waiting.insert(ticket, Waits::Settlement { of });
    }

    /// Takes exclusive access to the session. Returns true if the session is idle.
    pub(super) fn hold(&mut self) -> bool {
        let is_idle = self.drain.is_none();
        if is_idle {
            self.turns_before_chain = self.turns;
            self.drain = Some(Drain::held(self.drains));
            self.drains += 1;
            self.run_again = false;
        }
        is_idle
    }

    /// Declines a call of the running drain. Returns true if there is a drain.
    pub(super) fn decline(&mut self) -> bool {
        let Some(drain) = &self.drain else {
            return false;
        };
        if !drain.stopped {
            self.stop();
        }
        true
    }

    /// Fails the turn of the running drain. Returns true if there is a turn.
    pub(super) fn turn_fails(&mut self) -> bool {
        let Some(drain) = self.drain.as_mut().filter(|it| it.is_in_turn()) else {
            return false;
        };
        if !drain.stopped && !drain.failing {
            drain.failing = true;
            // A run that joined it shares the failure.
            self.run_wanted = false;
        }
        true
    }

    /// Discards earlier wakes and runs: they start no drain any more.
    fn stop(&mut self) {
        (self.woken, self.run_wanted) = (false, false);
        self.inbox.use_up_wakes(|_| true);
    }

    pub(super) fn wait(&mut self, ticket: Ticket) {
        self.waiting.insert(ticket, Waits::Idle);
    }

    pub(super) fn drop_caller(&mut self) -> Option<Ticket> {
        self.waiting.pop_first().map(|(ticket, _)| ticket)
    }

    /// Advances the drain by one step. Returns its exit.
    pub(super) fn drain_on(&mut self, progress: Progress) -> Option<Ended> {
        let drain = self.drain.as_mut()?;
        let turns = drain.turns;
        let exit = drain.go_on(progress, &mut self.inbox, self.run_wanted);
        if drain.turns > turns {
            self.turns += 1;
            self.run_wanted &= drain.failing;
        }
        match exit {
            // An idle drain served none of the runs that were requested during its look at the inbox.
            Some(Exit::Idle) if !drain.stopped => self.run_wanted = self.run_again,
            // A run that joined it has had a turn, or gets the failure or interruption.
            Some(_) if !drain.stopped && !drain.failing => self.run_wanted = false,
            _ => {}
        }
        if let Some(Exit::Failed(_)) = exit {
            let failed = drain.number;
            self.inbox.use_up_wakes(|due| due <= failed);
        }
        exit
    }

    /// Checks the effects of the reducer. `exit` is the exit of the drain, if that was the input.
    pub(super) fn check(&mut self, effects: Vec<Effect<&'static str>>, exit: Option<&Ended>) {
        let ended = exit.and_then(|exit| {
            let drain = self.drain.take()?;
            Some(Last {
                exit,
                number: drain.number,
                failing: drain.failing,
                stopped: drain.stopped,
            })
        });
        for effect in effects {
            match effect {
                Effect::Start { force } => self.check_start(force, ended.as_ref()),
                Effect::Cancel => {
                    let drain = self.drain.as_mut().expect("nothing to cancel");
                    assert!(!drain.stopped, "cancelled twice");
                    drain.stopped = true;
                }
                Effect::Resolve(ticket, answer) => {
                    let waits = self.waiting.remove(&ticket).expect("no caller waits");
                    self.check_answer(waits, answer, ended.as_ref());
                }
            }
        }
        self.check_all_answered(ended.as_ref());
    }

    fn check_start(&mut self, force: bool, ended: Option<&Last<'_>>) {
        assert!(self.drain.is_none(), "two drains at one time");
        assert_eq!(force, self.run_wanted, "only who asks to run gets a turn");
        // After an interruption, earlier requests start no drain.
        assert!(self.woken || force, "no caller wants another drain");
        let goes_on = |it: &Last<'_>| {
            !it.stopped && !it.failing && matches!(it.exit, Exit::Done | Exit::Idle)
        };
        if !ended.is_some_and(goes_on) {
            self.turns_before_chain = self.turns;
        }
        self.drain = Some(Drain::new(self.drains, force));
        self.drains += 1;
        (self.woken, self.run_again) = (false, false);
    }

    fn check_answer(&self, waits: Waits, answer: Answer<&'static str>, ended: Option<&Last<'_>>) {
        let number = ended.map(|it| it.number);
        let stopped = ended.is_some_and(|it| it.stopped);
        let failing = ended.is_some_and(|it| it.failing);
        match (waits, answer) {
            (Waits::Run { turns, later_than }, Answer::Done) => {
                assert!(number > later_than, "answered by a drain that was ending");
                let in_vain = !self.inbox.has_history;
                assert!(self.turns > turns || in_vain, "no turn was made");
                assert!(
                    stopped || failing || !self.woken,
                    "another drain belongs to the chain"
                );
            }
            (Waits::Run { .. }, Answer::Interrupted) => {
                // The answer may come before anything was started for the run.
                let stopping = self.drain.as_ref().is_some_and(|it| it.stopped);
                assert!(stopped || stopping, "no caller interrupted it");
            }
            (Waits::Run { .. }, Answer::Failed(error)) => {
                assert_eq!(ended.map(|it| it.exit), Some(&Exit::Failed(error)));
            }
            (Waits::Settlement { of }, answer) => {
                assert_eq!(of, number, "answered by another drain");
                assert_eq!(answer, Answer::Done);
            }
            (Waits::Idle, answer) => {
                assert!(self.drain.is_none(), "something runs still");
                assert_eq!(answer, Answer::Done);
            }
        }
    }

    fn check_all_answered(&self, ended: Option<&Last<'_>>) {
        let idle = self.drain.is_none();
        assert!(!(idle && self.woken), "a wake is lost");
        assert!(!(idle && self.run_wanted), "a run is lost");
        assert!(!idle || self.waiting.is_empty(), "a caller waits forever");
        let settled = ended.map(|it| Waits::Settlement {
            of: Some(it.number),
        });
        let late = self.waiting.values().any(|it| settled == Some(*it));
        assert!(!late, "an interruption is not told that it has settled");
        let stopping = self.drain.as_ref().filter(|it| it.stopped);
        let stopping = stopping.map(|it| it.number);
        let starts_over = |waits: &Waits| match waits {
            Waits::Run { later_than, .. } => stopping.is_some() && *later_than == stopping,
            _ => false,
        };
        let left = self.waiting.values().any(starts_over) && !self.run_wanted;
        assert!(!left, "an interruption left a run behind it");
    }

    pub(super) fn check_settled(&self) {
        assert!(self.drain.is_none(), "it runs for ever: {self:?}");
        let due = self.inbox.pending.iter().filter(|it| it.due.is_some());
        assert_eq!(due.count(), 0, "an input is not promoted: {self:?}");
    }
}
