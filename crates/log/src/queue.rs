//! The bounded queue of entries for the program that embeds the host. Writers never wait.

use std::collections::VecDeque;
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::Notify;

use crate::entry::{Entry, Level};

/// Maximum number of queued entries. Further entries are dropped and counted.
pub const MAX_WAITING: usize = 4096;
/// Maximum number of entries per batch.
pub const MAX_BATCH: usize = 256;
/// Maximum size of all queued entries, in bytes.
const MAX_BYTES: usize = 4 * 1024 * 1024;

#[derive(Debug, Default)]
pub(crate) struct Queue {
    /// Locked to push or to take; never held across an await.
    waiting: Mutex<Waiting>,
    changed: Notify,
}

#[derive(Debug, Default)]
struct Waiting {
    entries: VecDeque<Entry>,
    bytes: usize,
    dropped: u64,
    has_ended: bool,
}

/// The receiver of the queue.
#[derive(Debug)]
pub struct Entries(Arc<Queue>);

pub(crate) fn new() -> (Arc<Queue>, Entries) {
    let queue = Arc::new(Queue::default());
    (Arc::clone(&queue), Entries(queue))
}

impl Queue {
    pub(crate) fn push(&self, entry: Entry) {
        let entry = entry.displayed();
        let mut waiting = self.waiting.lock();
        if waiting.has_ended {
            return;
        }
        let bytes = entry.bytes();
        if waiting.entries.len() >= MAX_WAITING || waiting.bytes + bytes > MAX_BYTES {
            waiting.dropped += 1;
            return;
        }
        waiting.bytes += bytes;
        waiting.entries.push_back(entry);
        let is_first = waiting.entries.len() == 1;
        drop(waiting);
        if is_first {
            self.changed.notify_one();
        }
    }

    pub(crate) fn end(&self) {
        self.waiting.lock().has_ended = true;
        self.changed.notify_one();
    }
}

impl Entries {
    /// Returns the queued entries, at most [`MAX_BATCH`]. Waits if the queue is empty. Returns `None`
    /// at the end. If entries were dropped, an entry with their number follows the entries before them.
    pub async fn next(&self) -> Option<Vec<Entry>> {
        loop {
            if let Some(taken) = self.take() {
                return (!taken.is_empty()).then_some(taken);
            }
            self.0.changed.notified().await;
        }
    }

    /// Returns `None` if the caller has to wait, and an empty list at the end.
    fn take(&self) -> Option<Vec<Entry>> {
        let mut waiting = self.0.waiting.lock();
        let many = waiting.entries.len().min(MAX_BATCH);
        let mut taken: Vec<Entry> = waiting.entries.drain(..many).collect();
        waiting.bytes -= taken.iter().map(Entry::bytes).sum::<usize>();
        if waiting.entries.is_empty() && waiting.dropped > 0 {
            taken.push(dropped(std::mem::take(&mut waiting.dropped)));
        }
        (!taken.is_empty() || waiting.has_ended).then_some(taken)
    }
}

fn dropped(count: u64) -> Entry {
    let message = "Log entries were dropped: the sink is slower than the host";
    let mut entry = Entry::new(Level::Warn, "opencode::log", message);
    entry.fields.insert("dropped".to_owned(), count.into());
    entry
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(message: &str) -> Entry {
        Entry::new(Level::Info, "opencode::store", message)
    }

    #[tokio::test]
    async fn entries_come_in_batches_and_then_the_end() {
        let (queue, entries) = new();
        for _ in 0..=MAX_BATCH {
            queue.push(entry("a"));
        }
        queue.end();
        queue.push(entry("late"));
        assert_eq!(entries.next().await.map(|it| it.len()), Some(MAX_BATCH));
        assert_eq!(entries.next().await.map(|it| it.len()), Some(1));
        assert_eq!(entries.next().await, None);
        assert_eq!(queue.waiting.lock().bytes, 0);
    }

    #[tokio::test]
    async fn dropped_entries_are_counted_and_reported() {
        let (queue, entries) = new();
        for _ in 0..MAX_WAITING + 3 {
            queue.push(entry("a"));
        }
        let mut all = Vec::new();
        while all.len() <= MAX_WAITING {
            all.extend(entries.next().await.unwrap());
        }
        assert_eq!(all.len(), MAX_WAITING + 1);
        assert_eq!(all[MAX_WAITING].fields["dropped"], 3);
        let large = "a".repeat(MAX_BYTES);
        queue.push(entry(&large));
        assert_eq!(entries.next().await.unwrap()[0].fields["dropped"], 1);
    }
}
