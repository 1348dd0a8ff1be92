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
        let grown: Vec<_> = {
            let mut entries = self.entries.lock().unwrap();
            entries.extend(aggregates);
            let last = |log| entries.iter().filter(|it| **it == log).count() as u64 - 1;
            aggregates.iter().map(|log| (*log, last(*log))).collect()
        };
        self.tails.signal(grown.into_iter());
    }

    fn count(&self, aggregate: i64) -> usize {
        let entries = self.entries.lock().unwrap();
        entries.iter().filter(|it| **it == aggregate).count()
    }

    /// Follows an aggregate until that many entries are read. Returns the looks that took.
    fn follow(&self, aggregate: i64, wanted: usize) -> usize {
        let tail = self.tails.register(aggregate);
        let mut looks = 0;
        loop {
            looks += 1;
            let seen = self.count(aggregate);
            if let Some(last) = seen.checked_sub(1) {
                tail.has_read(last as u64);
            }
            if seen == wanted {
                return looks;
            }
            block_on(tail.changed());
        }
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
            // At most a look before, and one for each commit.
            log.beside(|log| assert!(log.follow(1, 3) <= 3)),
            log.beside(|log| assert!(log.follow(1, 3) <= 3)),
            log.beside(|log| assert!(log.follow(2, 2) <= 3)),
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

#[test]
fn who_waits_for_all_readers_waits_for_what_they_were_told_and_no_longer() {
    check(|| {
        let log = Log::default();
        let (late, gone) = (log.tails.register(1), log.tails.register(1));
        log.commit(&[1, 2]);
        let reads = log.beside(move |log| {
            block_on(late.changed());
            late.has_read(log.count(1) as u64 - 1);
            assert!(late.has_all());
            block_on(log.tails.caught_up());
            drop(late);
        });
        let goes = log.beside(move |_| drop(gone));
        block_on(log.tails.caught_up());
        reads.join().unwrap();
        goes.join().unwrap();
    });
}
