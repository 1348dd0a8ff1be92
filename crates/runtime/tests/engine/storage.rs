//! Effects of storage on the engine: processes that die around a commit, and files that are locked or full.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use opencode_runtime::{
    Fault, InterruptedState, Moment, PromptRequest, RuntimeError, StoreError, TestHook,
};
use opencode_schema::id::MessageID;
use opencode_schema::prompt::Delivery;
use opencode_testkit::{Blockade, Fixture, Reply, prompt_request, test_hook};

use crate::holds;

/// Blocks the writer before or after the commit of an event with this name.
fn stops_at(name: &'static str, is_committed: bool, blockade: &Blockade) -> Arc<dyn TestHook> {
    let blockade = blockade.clone();
    test_hook(move |moment| {
        match moment {
            Moment::Commit(entries) if !is_committed && holds(entries, name) => blockade.pass(),
            Moment::Committed(entries) if is_committed && holds(entries, name) => blockade.pass(),
            _ => {}
        }
        Ok(())
    })
}

#[tokio::test]
async fn a_prompt_that_a_crash_interrupts_is_stored_completely_or_not_at_all_and_can_be_repeated() {
    for is_committed in [false, true] {
        let blockade = Blockade::new();
        let test_hook = stops_at("session.next.prompt.admitted", is_committed, &blockade);
        let mut f =
            Fixture::with(move |options| options.test_hook = Some(Arc::clone(&test_hook))).await;
        let session = f.session().await;
        let request = PromptRequest {
            id: MessageID::parse("msg_mine").ok(),
            resume: false,
            ..prompt_request(&session, "Hi")
        };
        let (runtime, asked) = (f.runtime().clone(), request.clone());
        let prompt = tokio::spawn(async move { runtime.prompt(asked).await });
        f.blocked(&blockade).await;
        f.change(|_| {});
        f.kill().await;
        let expected: &[&str] = if is_committed { &["Hi"] } else { &[] };
        assert_eq!(f.inbox(&session).await, expected);
        // The caller got no answer, so it repeats the prompt.
        let receipt = f.admit(request.clone()).await;
        assert_eq!(receipt.admitted_seq, 1);
        assert_eq!(f.admit(request).await, receipt);
        assert_eq!(f.events(&session).await, ["prompt.admitted Hi"]);
        blockade.release();
        f.within("prompt", prompt).await.unwrap().unwrap();
    }
}

#[tokio::test]
async fn a_boundary_that_a_crash_interrupts_has_promoted_all_inputs_or_none() {
    for is_committed in [false, true] {
        let blockade = Blockade::new();
        let test_hook = stops_at("session.next.prompted", is_committed, &blockade);
        let mut f =
            Fixture::with(move |options| options.test_hook = Some(Arc::clone(&test_hook))).await;
        let session = f.session().await;
        f.leave(&session, "One", Delivery::Steer).await;
        f.leave(&session, "Two", Delivery::Steer).await;
        f.model.otherwise(|_| Reply::says("Both."));
        f.resume(&session).await;
        f.blocked(&blockade).await;
        f.change(|_| {});
        f.kill().await;
        let mut expected = vec!["prompt.admitted One", "prompt.admitted Two"];
        let states: Vec<_> = f.interrupted().await.iter().map(|it| it.state).collect();
        if is_committed {
            expected.extend(["prompted One", "prompted Two"]);
            assert_eq!(states, [InterruptedState::InputUnanswered]);
        } else {
            assert_eq!(states, []);
            assert_eq!(f.inbox(&session).await, ["One", "Two"]);
        }
        assert_eq!(f.events(&session).await, expected);
        f.resume(&session).await;
        f.wait(&session).await;
        assert_eq!(
            f.events(&session).await,
            [
                "prompt.admitted One",
                "prompt.admitted Two",
                "prompted One",
                "prompted Two",
                "step.started",
                "text.started",
                "text.ended Both.",
                "step.ended stop",
            ]
        );
        blockade.release();
    }
}

#[tokio::test]
async fn a_prompt_that_a_locked_file_refuses_can_be_repeated() {
    let is_locked = Arc::new(AtomicBool::new(false));
    let locked = Arc::clone(&is_locked);
    let test_hook = test_hook(move |moment| match moment {
        Moment::Begin if locked.load(Ordering::SeqCst) => Err(Fault::Locked),
        _ => Ok(()),
    });
    let f = Fixture::with(move |options| options.test_hook = Some(Arc::clone(&test_hook))).await;
    let session = f.session().await;
    is_locked.store(true, Ordering::SeqCst);
    let refused = f.try_admit(prompt_request(&session, "Hi")).await;
    assert!(
        matches!(refused, Err(RuntimeError::Store(StoreError::Busy(_)))),
        "{refused:?}"
    );
    assert_eq!(f.inbox(&session).await, [""; 0]);
    is_locked.store(false, Ordering::SeqCst);
    f.model.reply(Reply::says("Hello."));
    f.ask(&session, "Hi").await;
    assert_eq!(f.events(&session).await.last().unwrap(), "step.ended stop");
}

#[tokio::test]
async fn a_turn_that_a_full_disk_ends_continues_when_the_host_is_opened_again() {
    let is_full = Arc::new(AtomicBool::new(false));
    let full = Arc::clone(&is_full);
    let test_hook = test_hook(move |moment| match moment {
        Moment::Commit(entries) if full.load(Ordering::SeqCst) => {
            // The disk has room for the promotion.
            match holds(entries, "session.next.step.started") {
                true => Err(Fault::Full),
                false => Ok(()),
            }
        }
        _ => Ok(()),
    });
    let mut f =
        Fixture::with(move |options| options.test_hook = Some(Arc::clone(&test_hook))).await;
    let session = f.session().await;
    is_full.store(true, Ordering::SeqCst);
    f.model.reply(Reply::says("Lost."));
    f.prompt(&session, "Hi").await;
    f.idle().await;
    let refused = f.try_admit(prompt_request(&session, "More")).await;
    assert!(
        matches!(refused, Err(RuntimeError::Store(StoreError::Poisoned(_)))),
        "{refused:?}"
    );
    is_full.store(false, Ordering::SeqCst);
    f.reopen().await;
    assert_eq!(
        f.events(&session).await,
        ["prompt.admitted Hi", "prompted Hi"]
    );
    let states: Vec<_> = f.interrupted().await.iter().map(|it| it.state).collect();
    assert_eq!(states, [InterruptedState::InputUnanswered]);
    f.model.reply(Reply::says("Hello."));
    f.resume(&session).await;
    f.wait(&session).await;
    assert_eq!(
        f.events_after(&session, 2).await,
        [
            "step.started",
            "text.started",
            "text.ended Hello.",
            "step.ended stop",
        ]
    );
}
