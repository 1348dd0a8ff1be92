//! Tails under chosen schedules: readers come, read, wait and go while entries are committed.

use std::sync::Arc;

use opencode_interleave::{self as sync, block_on, check, thread};
use sync::Mutex;

use self::tail::Tails;

#[path = "../tail.rs"]
#[allow(
    dead_code,
    unreachable_pub,
    clippy::duplicate_mod,
    reason = "compiled once more"
)]
mod tail;

/// A log of two aggregates, and those who follow it.
#[derive(Clone, Default)]
struct Log {
    entries: Arc<Mutex<Vec<i64>>>,
    tails: Arc<Tails>,
}

impl Log {
    /// Commits one entry each, then signals, as the writer does.
    fn commit(&self, aggregates: &[i64]) {
        self.entries.lock().unwrap().extend(aggregates);
        self.tails.signal(aggregates.iter().copied());
    }

    fn count(&self, aggregate: i64) -> usize {
        let entries = self.entries.lock().unwrap();
        entries.iter().filter(|it| **it == aggregate).count()
    }

    /// Follows an aggregate until that many entries are read. Returns the looks that took.
    fn follow(&self, aggregate: i64, wanted: usize) -> usize {
        let tail = self.tails.register(aggregate);
        let mut looks = 1;
        while self.count(aggregate) < wanted {
            block_on(tail.changed());
            looks += 1;
        }
        looks
    }

    fn beside(&self, work: impl FnOnce(Self) + Send + 'static) -> thread::JoinHandle<()> {
        let log = self.clone();
        thread::spawn(move || work(log))
    }
}

#[test]
fn who_follows_reads_everything_whenever_he_comes_and_looks_no_oftener_than_needed() {
    check(|| {
        let log = Log::default();
        let writes = log.beside(|log| {
            log.commit(&[1]);
            log.commit(&[2, 1, 1]);
            log.commit(&[2]);
        });
        let follows = [
            // At most a look before, one for each commit, and one for a signal that tells no news.
            log.beside(|log| assert!(log.follow(1, 3) <= 4)),
            log.beside(|log| assert!(log.follow(1, 3) <= 4)),
            log.beside(|log| assert!(log.follow(2, 2) <= 4)),
        ];
        follows.into_iter().for_each(|it| it.join().unwrap());
        writes.join().unwrap();
        assert!(log.tails.is_empty());
    });
}

#[test]
fn who_goes_away_disturbs_nobody() {
    check(|| {
        let log = Log::default();
        let writes = log.beside(|log| {
            log.commit(&[1]);
            log.commit(&[1]);
        });
        let goes = log.beside(|log| drop(log.tails.register(1)));
        log.follow(1, 2);
        goes.join().unwrap();
        writes.join().unwrap();
        assert!(log.tails.is_empty());
    });
}

#[test]
fn commits_elsewhere_wake_nobody() {
    check(|| {
        let log = Log::default();
        let tail = log.tails.register(1);
        log.commit(&[2]);
        let writes = log.beside(|log| log.commit(&[2, 1]));
        block_on(tail.changed());
        assert_eq!(log.count(1), 1);
        writes.join().unwrap();
    });
}
