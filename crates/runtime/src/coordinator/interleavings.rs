//! Tests the edge under chosen schedules: wakes, runs, interruptions and the close happen at the same time.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use futures::FutureExt;
use opencode_interleave::{self as sync, block_on, check, thread, yield_now};
use opencode_schema::id::SessionID;
use sync::{Mutex, Notify};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use self::edge::{ActivityListener, Coordinator, DrainExit, RunAnswer, Stopper};
use super::state::{self, Answer, Exit};
use crate::error::DrainError;

#[path = "edge.rs"]
#[allow(
    dead_code,
    unreachable_pub,
    clippy::duplicate_mod,
    reason = "compiled once more"
)]
mod edge;

/// Behaviour of the model in a turn.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Turn {
    Answers,
    /// Does nothing until it is stopped.
    Hangs,
    /// Makes a request that is declined; only in the first turn.
    IsDeclined,
    /// Fails after its caller was told; only in the first turn.
    Fails,
}

/// One session, its inbox, and the behaviour of its drains.
struct TestSession {
    session: SessionID,
    turn: Turn,
    observed: Mutex<Observed>,
    /// A run was requested, a request was declined, or a failure was announced.
    said: Notify,
}

#[derive(Default)]
struct Observed {
    admitted: u32,
    pending: BTreeSet<u32>,
    /// Numbers of the running drains.
    inside: BTreeSet<u32>,
    drains: u32,
    turns: u32,
}

/// A coordinator with one session.
#[derive(Clone)]
struct Host {
    house: Arc<TestSession>,
    coordinator: Coordinator,
    closing: CancellationToken,
    tasks: TaskTracker,
}

/// A listener that requires alternating changes between active and idle.
fn alternating() -> ActivityListener {
    let was_active = AtomicBool::new(false);
    Box::new(move |_, is_active| {
        let was_active = was_active.swap(is_active, Ordering::SeqCst);
        assert_ne!(
            was_active, is_active,
            "a session changes between active and idle"
        );
    })
}

impl Host {
    fn open(turn: Turn) -> Self {
        let house = Arc::new(TestSession {
            session: SessionID::parse("ses_one").unwrap(),
            turn,
            observed: Mutex::default(),
            said: Notify::new(),
        });
        let (closing, tasks) = (CancellationToken::new(), TaskTracker::new());
        let drained = Arc::clone(&house);
        let coordinator = Coordinator::new(
            Arc::new(move |_, force, stopper| drain(Arc::clone(&drained), force, stopper).boxed()),
            tasks.clone(),
            closing.clone(),
            alternating(),
        );
        Self {
            house,
            coordinator,
            closing,
            tasks,
        }
    }

    fn observed(&self) -> sync::MutexGuard<'_, Observed> {
        self.house.observed.lock().unwrap()
    }

    fn wake(&self) {
        self.coordinator.wake(&self.house.session);
    }

    /// Admits an input and wakes the session. Returns its number.
    fn prompt(&self) -> u32 {
        let mut observed = self.observed();
        observed.admitted += 1;
        let number = observed.admitted;
        observed.pending.insert(number);
        drop(observed);
        self.wake();
        number
    }

    fn run(&self) -> RunAnswer {
        block_on(self.coordinator.run(&self.house.session))
    }

    fn interrupt(&self) {
        let answer = block_on(self.coordinator.interrupt(&self.house.session));
        assert!(matches!(answer, Answer::Done));
    }

    fn wait(&self) {
        let answer = block_on(self.coordinator.wait(&self.house.session));
        assert!(matches!(answer, Answer::Done));
    }

    fn is_pending(&self, number: u32) -> bool {
        self.observed().pending.contains(&number)
    }

    fn check_idle(&self) {
        assert_eq!(self.coordinator.active(), []);
        assert_eq!(self.observed().inside, BTreeSet::new());
    }

    fn spawn(&self, work: impl FnOnce(Self) + Send + 'static) -> thread::JoinHandle<()> {
        let host = self.clone();
        thread::spawn(move || work(host))
    }
}

async fn drain(house: Arc<TestSession>, force: bool, stopper: Stopper) -> DrainExit {
    let number = {
        let mut observed = house.observed.lock().unwrap();
        observed.drains += 1;
        let number = observed.drains;
        observed.inside.insert(number);
        assert_eq!(observed.inside.len(), 1, "two drains at one time");
        number
    };
    let exit = turns(&house, force, &stopper).await;
    house.observed.lock().unwrap().inside.remove(&number);
    exit
}

async fn turns(house: &TestSession, mut force: bool, stopper: &Stopper) -> DrainExit {
    let mut idle = true;
    while !stopper.stopped().is_cancelled() {
        {
            let mut observed = house.observed.lock().unwrap();
            if observed.pending.is_empty() && !force {
                return if idle { Exit::Idle } else { Exit::Done };
            }
            observed.pending.clear();
            observed.turns += 1;
        }
        (idle, force) = (false, false);
        match house.turn {
            Turn::Answers => yield_now().await,
            Turn::Hangs => stopper.stopped().cancelled().await,
            Turn::IsDeclined if house.observed.lock().unwrap().turns > 1 => {}
            Turn::IsDeclined => {
                stopper.decline();
                house.said.notify_one();
                assert!(stopper.stopped().is_cancelled());
            }
            Turn::Fails if house.observed.lock().unwrap().turns > 1 => {}
            Turn::Fails => {
                stopper.turn_failed();
                house.said.notify_one();
                yield_now().await;
                return Exit::Failed(DrainError::Internal("no answer".to_owned()));
            }
        }
    }
    Exit::Interrupted
}

#[test]
fn a_caller_that_prompts_and_waits_finds_the_prompt_answered() {
    check(|| {
        let host = Host::open(Turn::Answers);
        let prompt = |host: Host| {
            let number = host.prompt();
            host.wait();
            assert!(!host.is_pending(number));
        };
        let others = [host.spawn(prompt), host.spawn(prompt)];
        prompt(host.clone());
        others.into_iter().for_each(|it| it.join().unwrap());
        host.wait();
        host.check_idle();
    });
}

#[test]
fn a_request_to_run_gets_a_turn_beside_any_other() {
    check(|| {
        let host = Host::open(Turn::Answers);
        // A wake without work, which the run may join.
        let wakes = host.spawn(|host| host.wake());
        let runs = host.spawn(|host| {
            let answer = host.run();
            assert!(matches!(answer, Answer::Done));
            assert!(host.observed().turns > 0);
        });
        wakes.join().unwrap();
        runs.join().unwrap();
        host.wait();
        assert_eq!(host.observed().turns, 1);
        host.check_idle();
    });
}

#[test]
fn an_interruption_returns_when_everything_before_it_has_settled() {
    check(|| {
        let host = Host::open(Turn::Hangs);
        let runs = host.spawn(|host| {
            let told = host.coordinator.run(&host.house.session);
            host.house.said.notify_one();
            assert!(matches!(block_on(told), Answer::Interrupted));
        });
        let stops = |host: Host| {
            let before = host.observed().drains;
            host.interrupt();
            let left = host.observed().inside.first().copied();
            assert!(left.is_none_or(|it| it > before));
        };
        let stopping = [host.spawn(stops), host.spawn(stops)];
        block_on(host.house.said.notified());
        host.interrupt();
        host.check_idle();
        runs.join().unwrap();
        stopping.into_iter().for_each(|it| it.join().unwrap());
    });
}

#[test]
fn an_interruption_cancels_earlier_wakes_and_not_later_prompts() {
    check(|| {
        let host = Host::open(Turn::Answers);
        let prompts = [
            host.spawn(|host| _ = host.prompt()),
            host.spawn(|host| host.wake()),
        ];
        host.interrupt();
        prompts.into_iter().for_each(|it| it.join().unwrap());
        host.interrupt();
        host.check_idle();
        let number = host.prompt();
        host.wait();
        assert!(!host.is_pending(number));
        host.check_idle();
    });
}

#[test]
fn a_wake_after_a_declined_call_runs_after_its_drain() {
    check(|| {
        let host = Host::open(Turn::IsDeclined);
        host.prompt();
        let later = host.spawn(|host| {
            block_on(host.house.said.notified());
            let number = host.prompt();
            host.wait();
            assert!(!host.is_pending(number));
        });
        later.join().unwrap();
        assert_eq!(host.observed().turns, 2);
        host.check_idle();
    });
}

#[test]
fn a_run_after_an_announced_failure_gets_its_own_turn() {
    check(|| {
        let host = Host::open(Turn::Fails);
        host.prompt();
        let later = host.spawn(|host| {
            block_on(host.house.said.notified());
            assert!(matches!(host.run(), Answer::Done));
        });
        later.join().unwrap();
        assert_eq!(host.observed().turns, 2);
        host.wait();
        host.check_idle();
    });
}

#[test]
fn closing_ends_all_drains_and_answers_all_callers() {
    check(|| {
        let host = Host::open(Turn::Hangs);
        let asking = [
            host.spawn(|host| _ = host.prompt()),
            host.spawn(|host| {
                assert!(matches!(host.run(), Answer::Interrupted));
            }),
            host.spawn(|host| {
                host.prompt();
                host.wait();
            }),
        ];
        host.closing.cancel();
        host.tasks.close();
        block_on(host.tasks.wait());
        asking.into_iter().for_each(|it| it.join().unwrap());
        host.wait();
        host.check_idle();
    });
}

#[test]
fn a_caller_that_leaves_changes_nothing() {
    check(|| {
        let host = Host::open(Turn::Answers);
        let goes = host.spawn(|host| {
            let session = host.house.session.clone();
            // Requested, but not awaited.
            drop(host.coordinator.run(&session));
            let waits = host.coordinator.wait(&session);
            drop(waits.now_or_never());
        });
        let number = host.prompt();
        host.wait();
        assert!(!host.is_pending(number));
        goes.join().unwrap();
        host.wait();
        assert!(host.observed().turns > 0);
        host.check_idle();
    });
}

#[test]
fn a_held_session_has_one_holder_and_loses_no_request() {
    check(|| {
        let host = Host::open(Turn::Answers);
        let holds = |host: Host| {
            let Some(held) = host.coordinator.hold(&host.house.session) else {
                return;
            };
            let number = {
                let mut observed = host.observed();
                observed.drains += 1;
                let number = observed.drains;
                observed.inside.insert(number);
                assert_eq!(observed.inside.len(), 1, "two drains run at the same time");
                number
            };
            host.observed().inside.remove(&number);
            drop(held);
        };
        let others = [
            host.spawn(holds),
            host.spawn(holds),
            host.spawn(|host| _ = host.prompt()),
        ];
        let number = host.prompt();
        host.wait();
        assert!(!host.is_pending(number));
        others.into_iter().for_each(|it| it.join().unwrap());
        host.wait();
        host.check_idle();
    });
}
