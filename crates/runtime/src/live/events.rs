//! Subscribers of the live stream, and their queues.

use std::collections::VecDeque;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use opencode_store::Demand;
use tokio::time::Instant;

use super::selection::{Selection, Topic};
use super::sync::{Mutex, MutexGuard, Notify, RwLock, RwLockWriteGuard};

/// Limits on the events that wait for one subscriber.
pub(crate) struct Bounds {
    /// Number of events that may wait while the reader takes none.
    pub(crate) events: usize,
    /// Time for which the reader may take no event while that many wait. A fast model produces events faster than any
    /// reader converts them to objects, so a limit on the count alone would cut readers that keep up.
    pub(crate) max_wait: Duration,
    /// Number of bytes that may wait while the reader takes none.
    pub(crate) bytes: usize,
    /// Maximum number of waiting bytes at any time: more than the largest events of one turn.
    pub(crate) most_bytes: usize,
    /// Number of bytes that a reader is expected to process per millisecond. The size of its last batch extends its
    /// max_wait by the corresponding time.
    pub(crate) pace: usize,
}

impl Default for Bounds {
    fn default() -> Self {
        Self {
            events: 256,
            max_wait: Duration::from_millis(100),
            bytes: 8 * 1024 * 1024,
            most_bytes: 512 * 1024 * 1024,
            pace: 16 * 1024,
        }
    }
}

impl Bounds {
    /// Returns the time for which a reader that took `taken` bytes may take no event.
    fn max_wait(&self, taken: usize) -> Duration {
        let handling = u64::try_from(taken / self.pace).unwrap_or(u64::MAX);
        self.max_wait + Duration::from_millis(handling)
    }
}

/// Publishes events to the subscribers of one host.
pub(crate) struct LiveEvents {
    bounds: Bounds,
    /// Locked to add, remove or iterate; never across an await.
    subscribers: RwLock<Subscribers>,
}

#[derive(Default)]
struct Subscribers {
    all: Vec<Arc<Subscriber>>,
    /// True if the host has closed; later subscriptions end at once.
    ended: bool,
}

struct Subscriber {
    selection: Selection,
    queue: Mutex<Queue>,
    wakeup: Notify,
}

struct Queue {
    events: VecDeque<Arc<str>>,
    bytes: usize,
    /// Time of the last take, or of the first event after the queue was empty.
    waiting: Instant,
    /// Size in bytes of the last batch.
    taken: usize,
    state: QueueState,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum QueueState {
    Open,
    /// Events were dropped: later events would follow a gap.
    Cut,
    /// The host closed; the waiting events are still delivered.
    Ended,
}

/// The next result of a subscription.
#[derive(Debug, PartialEq, Eq)]
pub enum LiveBatch {
    /// Events in order, as JSON texts; never empty.
    Events(Vec<Arc<str>>),
    /// The subscriber was too slow and lost events.
    Cut,
    /// The host closed; nothing was lost.
    Ended,
}

/// A subscription. Dropping it removes it together with its waiting events.
pub struct LiveSubscription {
    events: Arc<LiveEvents>,
    subscriber: Arc<Subscriber>,
    /// Present if the selection has derived events.
    demand: Option<Demand>,
}

impl Default for LiveEvents {
    fn default() -> Self {
        Self::new(Bounds::default())
    }
}

impl LiveEvents {
    pub(crate) fn new(bounds: Bounds) -> Self {
        Self {
            bounds,
            subscribers: RwLock::default(),
        }
    }

    pub(crate) fn subscribe(self: &Arc<Self>, selection: Selection) -> LiveSubscription {
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
            taken: 0,
            state,
        };
        let subscriber = Arc::new(Subscriber {
            selection,
            queue: Mutex::new(queue),
            wakeup: Notify::new(),
        });
        subscribers.all.push(Arc::clone(&subscriber));
        drop(subscribers);
        LiveSubscription {
            events: Arc::clone(self),
            subscriber,
            demand: None,
        }
    }

    /// Publishes an event. The event is serialised only if a subscriber selects it.
    pub(crate) fn publish(&self, topic: Topic<'_>, event: impl FnOnce() -> String) {
        let subscribers = self
            .subscribers
            .read()
            .unwrap_or_else(PoisonError::into_inner);
        let selecting = |it: &&Arc<Subscriber>| it.selection.has(topic);
        let mut selecting = subscribers.all.iter().filter(selecting).peekable();
        if selecting.peek().is_none() {
            return;
        }
        let text: Arc<str> = event().into();
        for subscriber in selecting {
            subscriber.push(&text, &self.bounds);
        }
    }

    /// True if a subscriber selects the event.
    pub(crate) fn is_selected(&self, topic: Topic<'_>) -> bool {
        let subscribers = self
            .subscribers
            .read()
            .unwrap_or_else(PoisonError::into_inner);
        subscribers.all.iter().any(|it| it.selection.has(topic))
    }

    /// Ends every subscription after its waiting events.
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
    fn push(&self, text: &Arc<str>, bounds: &Bounds) {
        let mut queue = self.queue();
        if queue.state != QueueState::Open {
            return;
        }
        if queue.events.is_empty() {
            // The length of a silence does not count: the max_wait applies to waiting events only.
            queue.waiting = Instant::now();
        }
        let many = queue.events.len() >= bounds.events || queue.bytes >= bounds.bytes;
        let crowded = many && queue.waiting.elapsed() >= bounds.max_wait(queue.taken);
        let heavy = queue.bytes + text.len() > bounds.most_bytes;
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
        queue.taken = events.iter().map(|event| event.len()).sum();
        queue.bytes -= queue.taken;
        Some(LiveBatch::Events(events))
    }
}

impl LiveSubscription {
    /// Keeps a demand as long as the subscription.
    pub(crate) fn keep(&mut self, demand: Demand) {
        self.demand = Some(demand);
    }

    /// Waits for events and takes the waiting ones, at most `most`.
    pub async fn next(&mut self, most: usize) -> LiveBatch {
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
