//! The live stream: everything that happens in this host, told to whoever listens now.
//!
//! Nothing is stored or replayed here. Each subscriber has a bounded queue; one that does not keep
//! up is cut, so that it can tell a loss from an end.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockWriteGuard};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::Instant;

/// Events that may wait for a subscriber that takes none.
const WAITING_EVENTS: usize = 256;
/// How long a subscriber may take none while more than that wait. A fast model produces events
/// quicker than any reader turns them into objects, so a bare count would cut attentive readers.
const PATIENCE: Duration = Duration::from_millis(100);
/// Bytes that may wait at all.
const WAITING_BYTES: usize = 8 * 1024 * 1024;

/// Fans events out to the subscribers of one host.
#[derive(Default)]
pub(crate) struct LiveEvents {
    /// Locked to add, remove or walk; never across an await.
    subscribers: RwLock<Subscribers>,
}

#[derive(Default)]
struct Subscribers {
    all: Vec<Arc<Subscriber>>,
    /// The host closed; whoever comes now comes too late.
    ended: bool,
}

struct Subscriber {
    queue: Mutex<Queue>,
    wakeup: Notify,
}

struct Queue {
    events: VecDeque<Arc<str>>,
    bytes: usize,
    /// Since when events wait without any being taken.
    waiting: Instant,
    state: QueueState,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum QueueState {
    Open,
    /// Events were dropped: what follows would have a gap.
    Cut,
    /// The host closed: what waits is still delivered.
    Ended,
}

/// What a subscriber gets next.
#[derive(Debug, PartialEq, Eq)]
pub enum LiveBatch {
    /// Events in order, as JSON texts; never empty.
    Events(Vec<Arc<str>>),
    /// The subscriber was too slow and lost events.
    Cut,
    /// The host closed; nothing was lost.
    Ended,
}

/// A subscription. Dropping it removes it with everything that waits in it.
pub struct LiveSubscription {
    events: Arc<LiveEvents>,
    subscriber: Arc<Subscriber>,
}

impl LiveEvents {
    pub(crate) fn subscribe(self: &Arc<Self>) -> LiveSubscription {
        let mut subscribers = self.change();
        let state = if subscribers.ended {
            QueueState::Ended
        } else {
            QueueState::Open
        };
        let queue = Queue {
            events: VecDeque::new(),
            bytes: 0,
            waiting: Instant::now(),
            state,
        };
        let subscriber = Arc::new(Subscriber {
            queue: Mutex::new(queue),
            wakeup: Notify::new(),
        });
        subscribers.all.push(Arc::clone(&subscriber));
        drop(subscribers);
        LiveSubscription {
            events: Arc::clone(self),
            subscriber,
        }
    }

    /// Announces an event, which is put into words only when somebody listens.
    pub(crate) fn publish(&self, event: impl FnOnce() -> String) {
        let subscribers = self
            .subscribers
            .read()
            .unwrap_or_else(PoisonError::into_inner);
        if subscribers.all.is_empty() {
            return;
        }
        let text: Arc<str> = event().into();
        for subscriber in &subscribers.all {
            subscriber.push(&text);
        }
    }

    /// Ends every subscription after what waits in it.
    pub(crate) fn end(&self) {
        let mut subscribers = self.change();
        subscribers.ended = true;
        for subscriber in &subscribers.all {
            let mut queue = subscriber.queue();
            if queue.state == QueueState::Open {
                queue.state = QueueState::Ended;
            }
            drop(queue);
            subscriber.wakeup.notify_one();
        }
    }

    fn change(&self) -> RwLockWriteGuard<'_, Subscribers> {
        self.subscribers
            .write()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

impl Subscriber {
    fn push(&self, text: &Arc<str>) {
        let mut queue = self.queue();
        if queue.state != QueueState::Open {
            return;
        }
        if queue.events.is_empty() {
            // However long nothing happened: the patience is for what waits.
            queue.waiting = Instant::now();
        }
        let crowded = queue.events.len() >= WAITING_EVENTS && queue.waiting.elapsed() >= PATIENCE;
        // One event alone may be larger than the bound: a prompt can carry a large image.
        let heavy = queue.bytes > 0 && queue.bytes + text.len() > WAITING_BYTES;
        if crowded || heavy {
            queue.state = QueueState::Cut;
            queue.events = VecDeque::new();
        } else {
            queue.bytes += text.len();
            queue.events.push_back(Arc::clone(text));
        }
        drop(queue);
        self.wakeup.notify_one();
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take(&self, most: usize) -> Option<LiveBatch> {
        let mut queue = self.queue();
        queue.waiting = Instant::now();
        if queue.events.is_empty() {
            return match queue.state {
                QueueState::Open => None,
                QueueState::Cut => Some(LiveBatch::Cut),
                QueueState::Ended => Some(LiveBatch::Ended),
            };
        }
        let count = queue.events.len().min(most);
        let events: Vec<_> = queue.events.drain(..count).collect();
        queue.bytes -= events.iter().map(|event| event.len()).sum::<usize>();
        Some(LiveBatch::Events(events))
    }
}

impl LiveSubscription {
    /// Waits for events and takes what is there, at most `most`.
    pub async fn next(&self, most: usize) -> LiveBatch {
        loop {
            if let Some(batch) = self.subscriber.take(most) {
                return batch;
            }
            self.subscriber.wakeup.notified().await;
        }
    }
}

impl Drop for LiveSubscription {
    fn drop(&mut self) {
        let mut subscribers = self.events.change();
        subscribers
            .all
            .retain(|subscriber| !Arc::ptr_eq(subscriber, &self.subscriber));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(batch: LiveBatch) -> Vec<String> {
        match batch {
            LiveBatch::Events(events) => events.iter().map(ToString::to_string).collect(),
            other => panic!("expected events, got {other:?}"),
        }
    }

    #[tokio::test]
    async fn subscribers_get_what_is_published_after_they_came() {
        let live = Arc::new(LiveEvents::default());
        live.publish(|| panic!("nobody listens"));
        let one = live.subscribe();
        live.publish(|| "a".into());
        let two = live.subscribe();
        live.publish(|| "b".into());
        assert_eq!(texts(one.next(10).await), ["a", "b"]);
        assert_eq!(texts(two.next(10).await), ["b"]);
        drop(two);
        live.publish(|| "c".into());
        live.end();
        live.publish(|| "after the end".into());
        assert_eq!(texts(one.next(10).await), ["c"]);
        assert_eq!(one.next(10).await, LiveBatch::Ended);
        assert_eq!(one.next(10).await, LiveBatch::Ended);
    }

    #[tokio::test(start_paused = true)]
    async fn a_subscriber_that_takes_nothing_is_cut_and_an_attentive_one_is_not() {
        let live = Arc::new(LiveEvents::default());
        let idle = live.subscribe();
        let attentive = live.subscribe();
        for _ in 0..1000 {
            live.publish(|| "x".into());
        }
        assert_eq!(texts(attentive.next(usize::MAX).await).len(), 1000);
        tokio::time::advance(PATIENCE).await;
        live.publish(|| "y".into());
        assert_eq!(idle.next(1).await, LiveBatch::Cut);
        assert_eq!(texts(attentive.next(1).await), ["y"]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_burst_after_a_long_silence_cuts_nobody() {
        let live = Arc::new(LiveEvents::default());
        let subscription = live.subscribe();
        tokio::time::advance(10 * PATIENCE).await;
        for _ in 0..1000 {
            live.publish(|| "x".into());
        }
        assert_eq!(texts(subscription.next(usize::MAX).await).len(), 1000);
    }

    #[tokio::test]
    async fn who_comes_after_the_end_is_told_so() {
        let live = Arc::new(LiveEvents::default());
        live.end();
        assert_eq!(live.subscribe().next(1).await, LiveBatch::Ended);
    }

    #[tokio::test]
    async fn too_many_bytes_cut() {
        let live = Arc::new(LiveEvents::default());
        let subscription = live.subscribe();
        for _ in 0..9 {
            live.publish(|| "x".repeat(1024 * 1024));
        }
        assert_eq!(subscription.next(1).await, LiveBatch::Cut);
    }
}
