//! Inputs that are withdrawn after a drain has seen them and before it promotes them.

use std::sync::{Arc, Condvar, Mutex};

use opencode_runtime::{DrainOutcome, Fault, Moment, TestHook};
use opencode_schema::prompt::Delivery;
use opencode_testkit::{Fixture, Reply};
use tokio::sync::Notify;

use crate::flow;

/// Holds one of the next reads.
#[derive(Default)]
struct HeldRead {
    /// Number of reads before the held one. `None` if no read is to be held.
    left: Mutex<Option<u32>>,
    released: Condvar,
    reached: Notify,
}

impl HeldRead {
    fn hold(&self, nth: u32) {
        *self.left.lock().unwrap() = Some(nth);
    }

    fn release(&self) {
        *self.left.lock().unwrap() = None;
        self.released.notify_all();
    }
}

impl TestHook for HeldRead {
    fn at(&self, moment: Moment<'_>) -> Result<(), Fault> {
        let mut left = self.left.lock().unwrap();
        if let (Moment::Read, Some(more)) = (moment, *left) {
            *left = more.checked_sub(1);
            if more == 0 {
                self.reached.notify_one();
                *left = Some(u32::MAX);
                drop(
                    self.released
                        .wait_while(left, |left| left.is_some())
                        .unwrap(),
                );
            }
        }
        Ok(())
    }
}

async fn open() -> (Fixture, Arc<HeldRead>) {
    let held = Arc::new(HeldRead::default());
    let test_hook = Arc::clone(&held);
    let f = Fixture::with(move |options| {
        options.test_hook = Some(Arc::clone(&test_hook) as Arc<dyn TestHook>);
    });
    (f.await, held)
}

#[tokio::test]
async fn a_wake_with_a_withdrawn_input_sends_no_request() {
    for delivery in [Delivery::Steer, Delivery::Queue] {
        let (f, held) = open().await;
        let session = f.session().await;
        let input = f.leave(&session, "Hi", delivery).await;
        // The drain has seen the pending input, and is held before it observes the System Context.
        held.hold(1);
        f.set_delivery(&input, delivery).await;
        f.within("the read", held.reached.notified()).await;
        f.withdraw(&input).await;
        held.release();
        f.wait(&session).await;
        assert_eq!(f.model.requests().len(), 0);
        let events = f.events(&session).await;
        assert_eq!(events.len(), 2, "{events:#?}");
        assert_eq!(events[1], "prompt.withdrawn");
    }
}

#[tokio::test]
async fn a_queued_input_runs_after_the_steer_before_it_is_withdrawn() {
    let (f, held) = open().await;
    let session = f.session().await;
    let steer = f.leave(&session, "Never", Delivery::Steer).await;
    f.model.reply(Reply::says("Hello."));
    held.hold(1);
    f.queue(&session, "Hi").await;
    f.within("the read", held.reached.notified()).await;
    f.withdraw(&steer).await;
    held.release();
    f.wait(&session).await;
    assert_eq!(
        flow(&f.events(&session).await),
        ["prompted Hi (queue)", "step.started"]
    );
}

#[tokio::test]
async fn a_run_that_joins_a_wake_without_input_gets_its_turn() {
    for answered in [true, false] {
        let (f, held) = open().await;
        let session = f.session().await;
        f.model.otherwise(|_| Reply::says("Hello."));
        if answered {
            f.ask(&session, "Hi").await;
        }
        let input = f.leave(&session, "Never", Delivery::Steer).await;
        held.hold(1);
        f.set_delivery(&input, Delivery::Steer).await;
        f.within("the read", held.reached.notified()).await;
        f.withdraw(&input).await;
        let release = async {
            let resumed = f.runtime().resume(&session).await;
            assert_eq!(resumed.is_ok(), answered, "{resumed:?}");
            held.release();
        };
        let (outcome, ()) = tokio::join!(f.run(&session), release);
        assert!(matches!(outcome, DrainOutcome::Done), "{outcome:?}");
        f.wait(&session).await;
        // Without any history no request is made.
        let expected = if answered { 2 } else { 0 };
        assert_eq!(f.model.requests().len(), expected);
    }
}
