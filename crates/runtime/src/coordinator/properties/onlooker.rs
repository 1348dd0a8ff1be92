//! One session as an onlooker sees it: what is asked of it, and what it is owed.

use std::collections::BTreeMap;

use opencode_schema::prompt::Delivery;

use super::super::state::{Answer, Effect, Exit, Ticket};
use super::Progress;
use super::drain::{Drain, Inbox};

pub(super) type Ended = Exit<&'static str>;

#[derive(Debug, Default)]
pub(super) struct Seen {
    inbox: Inbox,
    drain: Option<Drain>,
    /// Drains begun so far.
    drains: u32,
    /// Provider Turns begun so far.
    turns: u32,
    /// As many as there were when the chain began.
    turns_before_chain: u32,
    /// Somebody woke it since the last drain began, and nothing has stopped it since.
    woken: bool,
    /// Somebody asked to run, and neither a turn nor anything in its way has come since.
    run_wanted: bool,
    /// Somebody asked for it since the last drain began.
    run_again: bool,
    waiting: BTreeMap<Ticket, Waits>,
}

/// Who waits for what.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Waits {
    /// For the exit of a chain that made more turns than these; of a later drain than this.
    Run { turns: u32, later_than: Option<u32> },
    /// For the exit of exactly this drain.
    Settlement { of: Option<u32> },
    /// For the session to be idle.
    Idle,
}

/// A drain that has just ended.
struct Last<'a> {
    exit: &'a Ended,
    number: u32,
    stopped: bool,
}

impl Seen {
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
        let stopping = self.drain.as_ref().filter(|it| it.stopped);
        // One that is being stopped answers nobody who comes now.
        let later_than = stopping.map(|it| it.number);
        let joins = self.drain.is_some() && stopping.is_none();
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

    /// Somebody takes the session for himself. Returns whether it is idle.
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

    /// Somebody declines a call of the running drain. Returns whether there is one.
    pub(super) fn decline(&mut self) -> bool {
        let Some(drain) = &self.drain else {
            return false;
        };
        if !drain.stopped {
            self.stop();
        }
        true
    }

    /// Nothing runs any more because of what was asked before.
    fn stop(&mut self) {
        (self.woken, self.run_wanted) = (false, false);
        self.inbox.use_up_wakes(|_| true);
    }

    pub(super) fn wait(&mut self, ticket: Ticket) {
        self.waiting.insert(ticket, Waits::Idle);
    }

    pub(super) fn go_away(&mut self) -> Option<Ticket> {
        self.waiting.pop_first().map(|(ticket, _)| ticket)
    }

    /// Takes the drain a step further. Returns its exit.
    pub(super) fn drain_on(&mut self, progress: Progress) -> Option<Ended> {
        let drain = self.drain.as_mut()?;
        let turns = drain.turns;
        let exit = drain.go_on(progress, &mut self.inbox, self.run_wanted);
        if drain.turns > turns {
            self.turns += 1;
            self.run_wanted = false;
        }
        match exit {
            // One that found nothing to do did nothing for those who came while it looked.
            Some(Exit::Idle) if !drain.stopped => self.run_wanted = self.run_again,
            // Whoever joined it has got a turn, or is told what was in its way.
            Some(_) if !drain.stopped => self.run_wanted = false,
            _ => {}
        }
        if let Some(Exit::Failed(_)) = exit {
            let failed = drain.number;
            self.inbox.use_up_wakes(|due| due <= failed);
        }
        exit
    }

    /// Checks what the reducer decides; with the exit of the drain, if that is why.
    pub(super) fn check(&mut self, effects: Vec<Effect<&'static str>>, exit: Option<&Ended>) {
        let ended = exit.and_then(|exit| {
            let drain = self.drain.take()?;
            let (number, stopped) = (drain.number, drain.stopped);
            Some(Last {
                exit,
                number,
                stopped,
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
                    let waits = self.waiting.remove(&ticket).expect("nobody waits");
                    self.check_answer(waits, answer, ended.as_ref());
                }
            }
        }
        self.check_nobody_forgotten(ended.as_ref());
    }

    fn check_start(&mut self, force: bool, ended: Option<&Last<'_>>) {
        assert!(self.drain.is_none(), "two drains at one time");
        assert_eq!(force, self.run_wanted, "only who asks to run gets a turn");
        // After an interruption nothing runs because of what was asked before.
        assert!(self.woken || force, "nobody wants another drain");
        let goes_on = |it: &Last<'_>| !it.stopped && matches!(it.exit, Exit::Done | Exit::Idle);
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
        match (waits, answer) {
            (Waits::Run { turns, later_than }, Answer::Done) => {
                assert!(number > later_than, "answered by a drain that was stopping");
                let in_vain = !self.inbox.has_history;
                assert!(self.turns > turns || in_vain, "no turn was made");
                assert!(stopped || !self.woken, "another drain belongs to the chain");
            }
            (Waits::Run { .. }, Answer::Interrupted) => {
                // It may be told before anything was begun for it.
                let stopping = self.drain.as_ref().is_some_and(|it| it.stopped);
                assert!(stopped || stopping, "nobody interrupted it");
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

    fn check_nobody_forgotten(&self, ended: Option<&Last<'_>>) {
        let idle = self.drain.is_none();
        assert!(!(idle && self.woken), "a wake is lost");
        assert!(!(idle && self.run_wanted), "a run is lost");
        assert!(!idle || self.waiting.is_empty(), "somebody waits for ever");
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
