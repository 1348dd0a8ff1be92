//! Changes during the preparation of a compaction that a caller requested: its request uses the
//! current Location, agent and model of the session, or no request is sent.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use opencode_llm::{LlmError, LlmErrorReason, RetryPolicy};
use opencode_runtime::{Moment, RuntimeError, TestHook};
use opencode_testkit::{Blockade, Reply, compact, test_hook};

use super::*;

/// No read is blocked.
const NONE: usize = usize::MAX;

/// Blocks one read. `left` is the number of reads before it.
fn blocks(left: Arc<AtomicUsize>, blockade: Blockade) -> Arc<dyn TestHook> {
    test_hook(move |moment| {
        if matches!(moment, Moment::Read) {
            let counted =
                left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| match left {
                    NONE => None,
                    0 => Some(NONE),
                    more => Some(more - 1),
                });
            if counted == Ok(0) {
                blockade.pass();
            }
        }
        Ok(())
    })
}

/// Calls `compact` on a session that can be compacted, blocks the read with this number, and runs
/// `change` meanwhile. Returns the outcome of the compaction, or `None` if it makes fewer reads.
async fn changed_at<C>(read: usize, change: C) -> Option<(Fixture, SessionID, Result<(), String>)>
where
    C: AsyncFnOnce(&Fixture, &SessionID, &Blockade),
{
    let (left, blockade) = (Arc::new(AtomicUsize::new(NONE)), Blockade::new());
    let test_hook = blocks(Arc::clone(&left), blockade.clone());
    let f = Fixture::with(move |options| options.test_hook = Some(Arc::clone(&test_hook))).await;
    configure(&f, json!({"keep": {"tokens": 4}}));
    f.project.write("two/b.txt", "");
    f.project.git();
    let session = f.session().await;
    f.model.reply(Reply::says("A long enough answer"));
    f.ask(&session, "Hi").await;
    f.model.otherwise(|_| Reply::says("SUMMARY"));
    left.store(read, Ordering::SeqCst);
    let (runtime, id) = (f.runtime().clone(), session.clone());
    let mut asked = tokio::spawn(async move { runtime.compact(&id).await });
    tokio::select! {
        ended = &mut asked => {
            ended.unwrap().unwrap();
            return None;
        }
        () = f.blocked(&blockade) => {}
    }
    change(&f, &session, &blockade).await;
    blockade.release();
    let ended = f.within("compact", asked).await.unwrap();
    let ended = ended.map_err(|error| match error {
        RuntimeError::Unavailable { message, .. } => message,
        other => other.to_string(),
    });
    Some((f, session, ended))
}

fn outdated(session: &SessionID) -> String {
    format!(
        "The Location, agent or model of {session} changed while its compaction was prepared; try again"
    )
}

/// The models of the requests for summaries.
fn summarised(f: &Fixture) -> Vec<String> {
    let requests = f.model.requests().into_iter().skip(1);
    requests.map(|request| request.model.id.clone()).collect()
}

#[tokio::test]
async fn a_model_switch_before_the_dispatch_applies_to_the_summary_or_cancels_it() {
    let mut refused = 0;
    for read in 0.. {
        let switch = async |f: &Fixture, session: &SessionID, _: &Blockade| {
            f.switch_model(session, "m2").await;
        };
        let Some((f, session, ended)) = changed_at(read, switch).await else {
            break;
        };
        let started = f.payloads(&session, "compaction.started").await.len();
        match ended {
            Ok(()) => {
                assert_eq!(summarised(&f), ["m2"], "read {read}");
                assert_eq!(started, 1);
            }
            Err(message) => {
                refused += 1;
                assert_eq!(message, outdated(&session));
                let none: [&str; 0] = [];
                assert_eq!(summarised(&f), none);
                assert_eq!(started, 0);
            }
        }
    }
    assert!(refused > 0);
}

#[tokio::test]
async fn a_move_before_the_dispatch_applies_to_the_summary_or_cancels_it() {
    let mut refused = 0;
    for read in 0.. {
        let leave = async |f: &Fixture, session: &SessionID, _: &Blockade| {
            let two = f.project.path("two").to_string_lossy().into_owned();
            f.move_to(session, two).await;
        };
        let Some((f, session, ended)) = changed_at(read, leave).await else {
            break;
        };
        let started = f.payloads(&session, "compaction.started").await.len();
        if let Err(message) = ended {
            refused += 1;
            assert_eq!(message, outdated(&session));
            assert_eq!((summarised(&f).len(), started), (0, 0));
            // The caller tries again.
            let again = f.runtime().compact(&session);
            f.within("compact", again).await.unwrap();
            assert_eq!(summarised(&f), ["m1"]);
        } else {
            assert_eq!((summarised(&f).len(), started), (1, 1), "read {read}");
        }
    }
    assert!(refused > 0);
}

#[tokio::test]
async fn an_interruption_before_the_dispatch_sends_nothing() {
    let mut interrupted = 0;
    // The first read looks up the session. Before it there is nothing to interrupt.
    for read in 1.. {
        let interrupt = async |f: &Fixture, session: &SessionID, blockade: &Blockade| {
            let interrupting = f.begin_interrupt(session).await;
            blockade.release();
            interrupting.await;
        };
        let Some((f, session, ended)) = changed_at(read, interrupt).await else {
            break;
        };
        // An interruption before the compaction begins does not prevent it.
        if let Err(message) = ended {
            interrupted += 1;
            assert_eq!(
                message,
                format!("The compaction of {session} was interrupted")
            );
            assert_eq!(summarised(&f).len(), 0);
            let started = f.payloads(&session, "compaction.started").await;
            assert_eq!(started.len(), 0);
        }
    }
    assert!(interrupted > 0);
}

#[tokio::test]
async fn a_switch_while_waiting_for_the_provider_ends_the_compaction() {
    let f = Fixture::with(|options| options.retry = RetryPolicy::default()).await;
    configure(&f, json!({"keep": {"tokens": 4}}));
    let session = f.session().await;
    f.model.reply(Reply::says("A long enough answer"));
    f.ask(&session, "Hi").await;
    let reason = LlmErrorReason::RateLimit {
        retry_after_ms: Some(60_000),
    };
    let busy = LlmError::new(reason, "slow down");
    f.model.reply(Reply::fails(busy));
    let mut live = f.live();
    let (runtime, id) = (f.runtime().clone(), session.clone());
    let asked = tokio::spawn(async move { runtime.compact(&id).await });
    f.read_until(&mut live, "retried 1").await;
    f.switch_model(&session, "m2").await;
    f.clock.advance(60_000);
    let ended = f.within("compact", asked).await.unwrap();
    let message = ended.unwrap_err().to_string();
    assert!(
        message.ends_with("changed while the provider had to be waited for"),
        "{message}"
    );
    assert_eq!(summarised(&f), ["m1"]);
    // The history is unchanged.
    f.model.reply(Reply::says("Yes."));
    f.ask(&session, "Next").await;
    let request = f.model.last_request();
    assert_eq!(request.model.id, "m2");
    assert_eq!(
        compact::messages(&request),
        [
            "user: Hi",
            "assistant: A long enough answer",
            "user: Next",
            "system: You are now the model m2 of the provider mock.",
        ]
    );
}
