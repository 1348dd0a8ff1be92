//! Tails under chosen schedules: readers register, read, wait and leave during commits.

use std::sync::Arc;

use opencode_interleave::{self as sync, block_on, check, thread};
use sync::Mutex;

use self::tail::Tails;
use crate::integer::{Sequence, SessionKey};

#[path = "../tail.rs"]
#[allow(
    dead_code,
    unreachable_pub,
    clippy::duplicate_mod,
    reason = "compiled once more"
)]
mod tail;

/// A log of two aggregates with its followers. Each entry has its aggregate, and a flag that is
/// true if followers receive it.
#[derive(Clone, Default)]
struct Log {
    entries: Arc<Mutex<Vec<(i64, bool)>>>,
    tails: Arc<Tails>,
}

impl Log {
    /// Commits one entry to each aggregate, then signals, as the writer does.
    fn commit(&self, aggregates: &[i64]) {
        self.append(aggregates.iter().map(|log| (*log, true)));
    }

    /// As `commit`, with entries that followers do not receive.
    fn commit_hidden(&self, aggregates: &[i64]) {
        self.append(aggregates.iter().map(|log| (*log, false)));
    }

    fn append(&self, new: impl Iterator<Item = (i64, bool)> + Clone) {
        let all: Vec<_> = {
            let mut entries = self.entries.lock().unwrap();
            entries.extend(new.clone());
            let last = |log| entries.iter().filter(|it| it.0 == log).count() as u64 - 1;
            new.map(|(log, _)| grown(log, last(log))).collect()
        };
        self.tails.signal(all.into_iter());
    }

    fn count(&self, aggregate: i64) -> usize {
        let entries = self.entries.lock().unwrap();
        entries.iter().filter(|it| it.0 == aggregate).count()
    }

    /// Returns the sequence of the newest entry that followers receive.
    fn last(&self, aggregate: i64) -> Option<u64> {
        let entries = self.entries.lock().unwrap();
        let own = entries.iter().filter(|it| it.0 == aggregate).enumerate();
        let given = own.filter(|(_, (_, is_given))| *is_given);
        given.last().map(|(at, _)| at as u64)
    }

    /// Follows an aggregate until that many entries are read. Returns the number of reads.
    fn follow(&self, aggregate: i64, wanted: usize) -> usize {
        let tail = self.tails.register(SessionKey(aggregate));
        let mut looks = 0;
        loop {
            looks += 1;
            let seen = self.count(aggregate);
            if let Some(last) = seen.checked_sub(1) {
                tail.has_read((last as u64).into());
            }
            if seen == wanted {
                return looks;
            }
            block_on(tail.changed());
        }
    }

    /// Reads as the readers of streams do, until an entry of that sequence exists. Returns the
    /// number of reads.
    fn read_to(&self, tail: &tail::Tail, wanted: u64) -> usize {
        let (mut looks, mut after) = (0, None);
        loop {
            looks += 1;
            let end = tail.end();
            let found = self.last(1).filter(|last| Some(*last) > after);
            match found {
                Some(last) => {
                    after = found;
                    tail.has_read(last.into());
                    if last == wanted {
                        return looks;
                    }
                    if !tail.has_all() {
                        continue;
                    }
                }
                None => tail.has_reached_end(end),
            }
            block_on(tail.changed());
        }
    }

    fn spawn(&self, work: impl FnOnce(Self) + Send + 'static) -> thread::JoinHandle<()> {
        let log = self.clone();
        thread::spawn(move || work(log))
    }
}

fn grown(aggregate: i64, last: u64) -> (SessionKey, Sequence) {
    (SessionKey(aggregate), last.into())
}

#[test]
fn a_follower_reads_everything_and_reads_no_more_often_than_needed() {
    check(|| {
        let log = Log::default();
        let writes = log.spawn(|log| {
            log.commit(&[1]);
            log.commit(&[2, 1, 1]);
            log.commit(&[2]);
        });
        let follows = [
            // At most one read before the commits, and one for each commit.
            log.spawn(|log| assert!(log.follow(1, 3) <= 3)),
            log.spawn(|log| assert!(log.follow(1, 3) <= 3)),
            log.spawn(|log| assert!(log.follow(2, 2) <= 3)),
        ];
        follows.into_iter().for_each(|it| it.join().unwrap());
        writes.join().unwrap();
        assert!(log.tails.is_empty());
    });
}

#[test]
fn a_dropped_follower_does_not_affect_others() {
    check(|| {
        let log = Log::default();
        let writes = log.spawn(|log| {
            log.commit(&[1]);
            log.commit(&[1]);
        });
        let goes = log.spawn(|log| drop(log.tails.register(SessionKey(1))));
        log.follow(1, 2);
        goes.join().unwrap();
        writes.join().unwrap();
        assert!(log.tails.is_empty());
    });
}

#[test]
fn commits_of_other_sessions_wake_no_follower() {
    check(|| {
        let log = Log::default();
        let tail = log.tails.register(SessionKey(1));
        log.commit(&[2]);
        let writes = log.spawn(|log| log.commit(&[2, 1]));
        block_on(tail.changed());
        assert_eq!(log.count(1), 1);
        writes.join().unwrap();
    });
}

#[test]
fn waiting_for_all_readers_covers_only_their_announced_events() {
    check(|| {
        let log = Log::default();
        let (late, gone) = (
            log.tails.register(SessionKey(1)),
            log.tails.register(SessionKey(1)),
        );
        log.commit(&[1, 2]);
        let reads = log.spawn(move |log| {
            block_on(late.changed());
            late.has_read((log.count(1) as u64 - 1).into());
            assert!(late.has_all());
            block_on(log.tails.caught_up());
            drop(late);
        });
        let goes = log.spawn(move |_| drop(gone));
        block_on(log.tails.caught_up());
        reads.join().unwrap();
        goes.join().unwrap();
    });
}

#[test]
fn announced_events_are_not_rolled_back() {
    check(|| {
        let log = Log::default();
        let tail = log.tails.register(SessionKey(1));
        // If the listener receives only a part of a commit, the larger end can be signalled first.
        let writes = log.spawn(|log| log.tails.signal([grown(1, 3), grown(1, 2)].into_iter()));
        tail.has_read(2.into());
        block_on(tail.changed());
        writes.join().unwrap();
        assert!(!tail.has_all());
    });
}

#[test]
fn omitted_events_keep_no_follower_busy() {
    check(|| {
        let log = Log::default();
        let tail = log.tails.register(SessionKey(1));
        let reads = log.spawn(move |log| {
            // One read for the existing entries, one for each of three commits, and one more to
            // find that an earlier read already returned everything.
            assert!(log.read_to(&tail, 3) <= 6);
            drop(tail);
        });
        log.commit(&[1]);
        log.commit_hidden(&[1, 1]);
        log.commit(&[1]);
        block_on(log.tails.caught_up());
        reads.join().unwrap();
    });
}

#[test]
fn waiting_for_all_readers_includes_a_new_reader() {
    check(|| {
        let log = Log::default();
        log.commit(&[1]);
        let tail = log.tails.register(SessionKey(1));
        let looked = Arc::new(Mutex::new(false));
        let looks = Arc::clone(&looked);
        let reads = log.spawn(move |log| {
            let end = tail.end();
            tail.has_read(log.last(1).unwrap().into());
            assert!(!tail.has_all());
            *looks.lock().unwrap() = true;
            tail.has_reached_end(end);
            assert!(tail.has_all());
            // A reader that has all entries is not woken.
            log.commit_hidden(&[2]);
            assert!(tail.has_all());
        });
        block_on(log.tails.caught_up());
        assert!(*looked.lock().unwrap());
        reads.join().unwrap();
    });
}
