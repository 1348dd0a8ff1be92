//! An inbox, and a drain that uses it like the drains of the runner.

use opencode_schema::prompt::Delivery;

use super::super::state::Exit;
use super::Progress;
use super::observed::Ended;

#[derive(Debug, Default)]
pub(super) struct Inbox {
    pub(super) pending: Vec<Pending>,
    /// True if an input was promoted, so that a request to the model has messages.
    pub(super) has_history: bool,
}

/// An admitted input that is not promoted.
#[derive(Debug)]
pub(super) struct Pending {
    delivery: Delivery,
    /// Number of drains that had started at its last wake; `None` if there was no wake or that wake is used up.
    pub(super) due: Option<u32>,
}

#[derive(Debug)]
pub(super) struct Drain {
    pub(super) number: u32,
    pub(super) force: bool,
    /// A turn failed: later requests get another drain.
    pub(super) failing: bool,
    pub(super) stopped: bool,
    /// Number of Provider Turns that it started.
    pub(super) turns: u32,
    at: At,
}

#[derive(Debug, Clone, Copy)]
enum At {
    /// It is not a drain but a hold.
    SessionHold,
    Beginning,
    Boundary {
        steers: bool,
        continues: bool,
    },
    Turn,
}

impl Inbox {
    pub(super) fn admit(&mut self, delivery: Delivery) {
        let due = None;
        self.pending.push(Pending { delivery, due });
    }

    pub(super) fn wake(&mut self, drains: u32) {
        for input in &mut self.pending {
            input.due = Some(drains);
        }
    }

    pub(super) fn use_up_wakes(&mut self, used_up: impl Fn(u32) -> bool) {
        for input in &mut self.pending {
            input.due = input.due.filter(|due| !used_up(*due));
        }
    }

    fn oldest(&self, delivery: Delivery) -> Option<usize> {
        self.pending.iter().position(|it| it.delivery == delivery)
    }

    fn holds(&self, delivery: Delivery) -> bool {
        self.oldest(delivery).is_some()
    }

    /// Returns true if any input was promoted.
    fn promote(&mut self, steers: bool) -> bool {
        let before = self.pending.len();
        let opener = self.oldest(Delivery::Queue).filter(|_| !steers);
        if let Some(opener) = opener {
            self.pending.remove(opener);
        }
        self.pending.retain(|it| it.delivery != Delivery::Steer);
        let promoted = self.pending.len() < before;
        self.has_history |= promoted;
        promoted
    }
}

impl Drain {
    pub(super) fn new(number: u32, force: bool) -> Self {
        Self {
            number,
            force,
            failing: false,
            stopped: false,
            turns: 0,
            at: At::Beginning,
        }
    }

    /// A hold in place of a drain. It promotes nothing and asks no model.
    pub(super) fn held(number: u32) -> Self {
        Self {
            at: At::SessionHold,
            ..Self::new(number, false)
        }
    }

    pub(super) fn is_in_turn(&self) -> bool {
        matches!(self.at, At::Turn)
    }

    /// Performs one step. Returns the exit if it was the last step.
    pub(super) fn go_on(
        &mut self,
        progress: Progress,
        inbox: &mut Inbox,
        run_wanted: bool,
    ) -> Option<Ended> {
        let is_held = matches!(self.at, At::SessionHold);
        if self.stopped && !is_held && progress != Progress::Late {
            return Some(Exit::Interrupted);
        }
        match self.at {
            At::SessionHold => Some(Exit::Idle),
            At::Beginning => self.begin(inbox),
            At::Boundary { steers, continues } => {
                let promoted = inbox.promote(steers);
                if self.stopped {
                    // The transaction in progress is completed, but the model is not asked any more.
                    return Some(Exit::Interrupted);
                }
                let wanted = promoted || continues || run_wanted;
                assert!(wanted, "the model is asked without a reason: {self:?}");
                self.turns += 1;
                self.at = At::Turn;
                None
            }
            At::Turn => self.end_turn(progress, inbox),
        }
    }

    fn begin(&mut self, inbox: &Inbox) -> Option<Ended> {
        let has_work = !inbox.pending.is_empty() || self.force && inbox.has_history;
        if !has_work {
            return Some(Exit::Idle);
        }
        let queued = inbox.holds(Delivery::Queue) && !inbox.holds(Delivery::Steer);
        self.boundary(!queued, false)
    }

    fn end_turn(&mut self, progress: Progress, inbox: &Inbox) -> Option<Ended> {
        match progress {
            Progress::Fails => Some(Exit::Failed("no")),
            Progress::Calls => self.boundary(true, true),
            _ if inbox.holds(Delivery::Steer) => self.boundary(true, false),
            _ if inbox.holds(Delivery::Queue) => self.boundary(false, false),
            _ => Some(Exit::Done),
        }
    }

    fn boundary(&mut self, steers: bool, continues: bool) -> Option<Ended> {
        self.at = At::Boundary { steers, continues };
        None
    }
}
