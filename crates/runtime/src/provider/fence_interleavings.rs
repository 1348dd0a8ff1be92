//! Tests the fence of a Provider Turn under all interleavings that the checker chooses: callers move a
//! session and interrupt it while its turn is prepared.
//!
//! A lock models the writer: it runs one transaction at a time. The runner takes the steps of
//! `boundary`, `entry` and `turn`, each in a separate transaction.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use opencode_interleave::{AtomicU64, Mutex, check, thread};

/// The committed state of one session.
#[derive(Default)]
struct Stored {
    /// Represents Location, agent, model and epoch. Each change increments it.
    place: u32,
    /// The moves and the beginning of the turn, in the order of their transactions.
    log: Vec<Entry>,
    promoted: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Entry {
    Moved(u32),
    Began,
}

#[derive(Default)]
struct Host {
    stored: Mutex<Stored>,
    stopped: AtomicU64,
    /// The place of each request that was sent.
    sent: Mutex<Vec<u32>>,
}

impl Host {
    fn relocate(&self) {
        let mut stored = self.stored.lock().unwrap();
        stored.place += 1;
        let place = stored.place;
        stored.log.push(Entry::Moved(place));
    }

    fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::SeqCst) > 0
    }

    /// Runs one turn with one input. Returns true if a request was sent.
    fn turn(&self) -> bool {
        let mut is_pending = true;
        loop {
            let view = self.stored.lock().unwrap().place;
            if is_pending && !self.promote(view) {
                continue;
            }
            is_pending = false;
            // Represents the history, the estimate and the snapshot.
            thread::yield_now();
            let holds = self.pass(view);
            if self.is_stopped() {
                return false;
            }
            if holds {
                self.sent.lock().unwrap().push(view);
                return true;
            }
        }
    }

    fn promote(&self, view: u32) -> bool {
        let mut stored = self.stored.lock().unwrap();
        let holds = stored.place == view;
        stored.promoted += u32::from(holds);
        holds
    }

    /// The transaction of the fence. The real one adds no log entry; only the check uses the entry.
    fn pass(&self, view: u32) -> bool {
        let mut stored = self.stored.lock().unwrap();
        let holds = stored.place == view;
        if holds {
            stored.log.push(Entry::Began);
        }
        holds
    }

    /// Returns the place at which the turn began, by the order of the transactions.
    fn began_at(&self) -> u32 {
        let stored = self.stored.lock().unwrap();
        let began = stored.log.iter().position(|it| *it == Entry::Began);
        let before = stored.log[..began.unwrap()].iter().rev();
        let mut places = before.filter_map(|it| match it {
            Entry::Moved(place) => Some(*place),
            Entry::Began => None,
        });
        places.next().unwrap_or_default()
    }
}

fn spawn(host: &Arc<Host>, work: impl FnOnce(&Host) + Send + 'static) -> thread::JoinHandle<()> {
    let host = Arc::clone(host);
    thread::spawn(move || work(&host))
}

#[test]
fn a_request_is_sent_for_the_location_of_its_turn() {
    check(|| {
        let host = Arc::new(Host::default());
        let callers = [
            spawn(&host, Host::relocate),
            spawn(&host, |host| {
                host.relocate();
                host.relocate();
            }),
        ];
        assert!(host.turn());
        callers.into_iter().for_each(|it| it.join().unwrap());
        let sent = host.sent.lock().unwrap().clone();
        assert_eq!(sent, [host.began_at()]);
        assert_eq!(host.stored.lock().unwrap().promoted, 1);
    });
}

#[test]
fn nothing_is_sent_after_an_interruption() {
    check(|| {
        let host = Arc::new(Host::default());
        let moves = spawn(&host, Host::relocate);
        host.stopped.fetch_add(1, Ordering::SeqCst);
        assert!(!host.turn());
        moves.join().unwrap();
        assert_eq!(*host.sent.lock().unwrap(), [0; 0]);
    });
}
