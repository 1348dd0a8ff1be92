//! Rate limits of providers, shared by all sessions of a host.
//!
//! If a provider refuses a request because of its rate limit, the requests of other sessions to it would be refused,
//! too. So they wait until the time that the provider names, in the order of their arrival. Then one request goes first.
//! After each request that the provider accepts, twice as many may be on their way. When no request waits any more, the
//! limit is over.
//!
//! A provider refuses a request at once, before it generates anything. So a request without an answer keeps its place for
//! a few seconds only: a provider that hangs says nothing about its limit.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use tokio::sync::Notify;

use crate::timer::Timer;

/// Maximum time for which a request without an answer keeps its place.
const PLACE: Duration = Duration::from_secs(5);

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
    until: Option<Instant>,
    /// Number of requests that may wait for the first data of the provider at the same time.
    allowed: usize,
    /// Requests that wait for the first data, with the times at which they lose their places.
    sent: Vec<(u64, Instant)>,
    /// Requests that are not sent, in the order of their arrival.
    waiting: VecDeque<u64>,
    next: u64,
}

/// The permission to send one request. Dropping it without an outcome lets the next request go.
pub(crate) struct Pass {
    limits: Arc<RateLimits>,
    provider: String,
    /// The queue that the request has passed, and its number there. `None` if there was no limit.
    place: Option<(Arc<Queue>, u64)>,
}

/// The state of a request before it is sent.
enum Place {
    /// It may be sent. `true` if it counts as sent.
    Free(bool),
    /// It waits for this time, if it is known, and for changes of the queue.
    Waits(Option<Instant>),
}

/// A request in the queue. It leaves the queue when it is dropped.
struct Ticket {
    queue: Arc<Queue>,
    number: u64,
}

impl RateLimits {
    /// Waits for the place of a request to a provider, at most `longest`. `begins_to_wait` runs once before a wait,
    /// with the time that is left until the limit ends.
    pub(crate) async fn enter(
        self: &Arc<Self>,
        provider: &str,
        longest: Duration,
        timer: &dyn Timer,
        begins_to_wait: impl FnOnce(Duration),
    ) -> Pass {
        let pass = |place| Pass {
            limits: Arc::clone(self),
            provider: provider.to_owned(),
            place,
        };
        let Some(queue) = self.known(provider) else {
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
                let now = timer.now();
                match queue.place(&ticket, now) {
                    Place::Free(counts) => return counts,
                    Place::Waits(time) => {
                        if let Some(announce) = announce.take() {
                            announce(until.saturating_duration_since(now));
                        }
                        match time {
                            Some(time) => tokio::select! {
                                () = changed => {}
                                () = timer.after(time.saturating_duration_since(now)) => {}
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
        pass(counts.then(|| (Arc::clone(&queue), ticket.number)))
    }

    fn known(&self, provider: &str) -> Option<Arc<Queue>> {
        self.queues.lock().get(provider).map(Arc::clone)
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

    fn place(&self, ticket: &Ticket, now: Instant) -> Place {
        let mut state = self.state.lock();
        let Some(until) = state.until else {
            return Place::Free(false);
        };
        if now < until {
            return Place::Waits(Some(until));
        }
        if state.waiting.front() != Some(&ticket.number) {
            return Place::Waits(None);
        }
        state.expire(now);
        if state.sent.len() >= state.allowed {
            return Place::Waits(state.sent.iter().map(|(_, end)| *end).min());
        }
        state.sent.push((ticket.number, now + PLACE));
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

impl QueueState {
    /// Takes the places of requests that had no answer for too long.
    fn expire(&mut self, now: Instant) {
        self.sent.retain(|(_, end)| now < *end);
    }

    /// Takes the place of a request.
    fn leave(&mut self, number: u64) {
        self.sent.retain(|(other, _)| *other != number);
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
    /// The provider accepted the request, or refused it for another reason. That the request was sent before the limit,
    /// or after its place was taken, makes no difference.
    pub(crate) fn accepted(mut self, now: Instant) {
        let place = self.place.take();
        let number = place.as_ref().map(|(_, number)| *number);
        let known = place.map(|(queue, _)| queue);
        let Some(queue) = known.or_else(|| self.limits.known(&self.provider)) else {
            return;
        };
        queue.answered(|state| {
            number.into_iter().for_each(|number| state.leave(number));
            state.expire(now);
            state.allowed = state.allowed.saturating_mul(2);
            let is_past = state.until.is_some_and(|until| until <= now);
            if is_past && state.waiting.is_empty() && state.sent.is_empty() {
                state.until = None;
            }
        });
    }

    /// The provider refused the request because of its rate limit, until this time.
    pub(crate) fn refused(mut self, until: Instant) {
        let place = self.place.take();
        let queue = self.limits.queue(&self.provider);
        queue.answered(|state| {
            if let Some((_, number)) = place {
                state.leave(number);
            }
            state.allowed = 1;
            state.until = Some(state.until.map_or(until, |other| other.max(until)));
        });
    }
}

impl Drop for Pass {
    fn drop(&mut self) {
        if let Some((queue, number)) = self.place.take() {
            queue.answered(|state| state.leave(number));
        }
    }
}
