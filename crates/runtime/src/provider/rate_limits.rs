//! Rate limits of providers, shared by all sessions of a host.
//!
//! If a provider refuses a request because of its rate limit, the requests of other sessions to it would be refused,
//! too. So they wait until the time that the provider names, in the order of their arrival. Then one request goes first.
//! After each request that the provider accepts, twice as many may be on their way. When no request waits any more, the
//! limit is over.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use opencode_schema::clock::Millis;
use parking_lot::Mutex;
use tokio::sync::Notify;

use crate::timer::Timer;

/// The limits that hold now, by provider.
#[derive(Default)]
pub(crate) struct RateLimits {
    /// Locked to find or to add a queue; never across an await.
    queues: Mutex<HashMap<String, Arc<Queue>>>,
}

/// The requests to one provider after it refused one.
#[derive(Default)]
struct Queue {
    /// Locked to read or to change; never across an await.
    state: Mutex<QueueState>,
    changed: Notify,
}

#[derive(Default)]
struct QueueState {
    /// The time at which the provider accepts requests again. `None` without a limit.
    until: Option<Millis>,
    /// Requests that may wait for the first data of the provider at the same time.
    allowed: usize,
    /// Requests that wait for the first data.
    sent: usize,
    /// Requests that are not sent, in the order of their arrival.
    waiting: VecDeque<u64>,
    next: u64,
}

/// The permission to send one request. Dropping it without an outcome lets the next request go.
pub(crate) struct Pass {
    limits: Arc<RateLimits>,
    provider: String,
    /// The queue that the request has passed. `None` if there was no limit.
    queue: Option<Arc<Queue>>,
}

/// The state of a request before it is sent.
enum Place {
    /// It may be sent. `true` if it counts as sent.
    Free(bool),
    /// It waits for this time, if it is known, and for changes of the queue.
    Waits(Option<Duration>),
}

/// A request in the queue. It leaves the queue when it is dropped.
struct Ticket {
    queue: Arc<Queue>,
    number: u64,
}

impl RateLimits {
    /// Waits for the place of a request to a provider, at most `longest`. `begins_to_wait` runs once before a wait,
    /// with the time at which the limit ends.
    pub(crate) async fn enter(
        self: &Arc<Self>,
        provider: &str,
        longest: Duration,
        timer: &dyn Timer,
        now: impl Fn() -> Millis,
        begins_to_wait: impl FnOnce(Millis),
    ) -> Pass {
        let pass = |queue| Pass {
            limits: Arc::clone(self),
            provider: provider.to_owned(),
            queue,
        };
        let Some(queue) = self.queues.lock().get(provider).map(Arc::clone) else {
            return pass(None);
        };
        let ticket = queue.draw();
        let Some(until) = queue.state.lock().until else {
            return pass(None);
        };
        let mut announce = Some(begins_to_wait);
        let waiting = async {
            loop {
                let changed = queue.changed.notified();
                tokio::pin!(changed);
                changed.as_mut().enable();
                match queue.place(&ticket, now()) {
                    Place::Free(counts) => return counts,
                    Place::Waits(time) => {
                        if let Some(announce) = announce.take() {
                            announce(until);
                        }
                        match time {
                            Some(time) => tokio::select! {
                                () = changed => {}
                                () = timer.after(time) => {}
                            },
                            None => changed.await,
                        }
                    }
                }
            }
        };
        // A request that has waited too long is sent. Its refusal then ends the turn.
        let counts = tokio::select! {
            biased;
            counts = waiting => counts,
            () = timer.after(longest) => false,
        };
        pass(counts.then(|| Arc::clone(&queue)))
    }

    fn queue(&self, provider: &str) -> Arc<Queue> {
        let mut queues = self.queues.lock();
        Arc::clone(queues.entry(provider.to_owned()).or_default())
    }
}

impl Queue {
    fn draw(self: &Arc<Self>) -> Ticket {
        let mut state = self.state.lock();
        let number = state.next;
        state.next += 1;
        state.waiting.push_back(number);
        Ticket {
            queue: Arc::clone(self),
            number,
        }
    }

    fn place(&self, ticket: &Ticket, now: Millis) -> Place {
        let mut state = self.state.lock();
        let Some(until) = state.until else {
            return Place::Free(false);
        };
        if now < until {
            let left = u64::try_from(until.saturating_sub(now)).unwrap_or(0);
            return Place::Waits(Some(Duration::from_millis(left)));
        }
        if state.waiting.front() != Some(&ticket.number) || state.sent >= state.allowed {
            return Place::Waits(None);
        }
        state.sent += 1;
        state.waiting.pop_front();
        drop(state);
        self.changed.notify_waiters();
        Place::Free(true)
    }

    /// Counts a request that has its outcome.
    fn answered(&self, change: impl FnOnce(&mut QueueState)) {
        let mut state = self.state.lock();
        change(&mut state);
        drop(state);
        self.changed.notify_waiters();
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        let number = self.number;
        self.queue
            .answered(|state| state.waiting.retain(|other| *other != number));
    }
}

impl Pass {
    /// The provider accepted the request, or refused it for another reason.
    pub(crate) fn accepted(mut self) {
        let Some(queue) = self.queue.take() else {
            return;
        };
        queue.answered(|state| {
            state.sent = state.sent.saturating_sub(1);
            state.allowed = state.allowed.saturating_mul(2);
            if state.waiting.is_empty() && state.sent == 0 {
                state.until = None;
            }
        });
    }

    /// The provider refused the request because of its rate limit, until this time.
    pub(crate) fn refused(mut self, until: Millis) {
        let counted = self.queue.take();
        let queue = self.limits.queue(&self.provider);
        queue.answered(|state| {
            if counted.is_some() {
                state.sent = state.sent.saturating_sub(1);
            }
            state.allowed = 1;
            state.until = Some(state.until.map_or(until, |other| other.max(until)));
        });
    }
}

impl Drop for Pass {
    fn drop(&mut self) {
        if let Some(queue) = self.queue.take() {
            queue.answered(|state| state.sent = state.sent.saturating_sub(1));
        }
    }
}
