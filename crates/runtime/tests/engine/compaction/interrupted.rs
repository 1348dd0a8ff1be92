//! Events during a compaction: interruptions, prompts, the end of a process.

use opencode_runtime::Recovery;
use opencode_testkit::{Gate, Reply, compact};

use super::*;

/// A session whose summary is in progress, and the gate that holds the summary.
async fn summarising() -> (Fixture, SessionID, Gate, [String; 2]) {
    let (f, session) = open().await;
    let said = grown(&f, &session).await;
    let gate = Gate::new();
    let reply = Reply::new().begin_text().delta("SUM").hold(&gate);
    f.model.reply(reply.delta("MARY").end_text().stop());
    f.prompt(&session, "Next").await;
    f.reached(&gate).await;
    (f, session, gate, said)
}

const STARTED: [&str; 3] = [
    "prompt.admitted Next",
    "prompted Next",
    "compaction.started auto",
];

const ANSWERED: [&str; 4] = [
    "step.started",
    "text.started",
    "text.ended Yes.",
    "step.ended stop",
];

#[tokio::test]
async fn an_interruption_leaves_only_the_start_event() {
    let (f, session, gate, _) = summarising().await;
    f.interrupt(&session).await;
    f.dropped(&gate).await;
    assert_eq!(f.runtime().active(), []);
    let events = f.events_after(&session, GROWN).await;
    assert_eq!(events, [&STARTED[..], &["interrupted"]].concat());
    // The input is still in the history, and the session can continue.
    f.model
        .reply(Reply::says("SUMMARY"))
        .reply(Reply::says("Yes."));
    f.ask(&session, "Again").await;
    let ended = f.payloads(&session, "compaction.ended").await.remove(0);
    let recent = ended["recent"].as_str().unwrap();
    assert!(
        recent.ends_with("[User]: Next\n\n[User]: Again"),
        "{recent}"
    );
    assert_eq!(f.events_after(&session, GROWN + 8).await, ANSWERED);
}

#[tokio::test]
async fn a_prompt_waits_for_the_turn_that_is_being_compacted() {
    let (f, session, gate, [_, beta]) = summarising().await;
    f.prompt(&session, "Faster").await;
    f.queue(&session, "Later").await;
    f.model
        .reply(Reply::says("Yes."))
        .reply(Reply::says("Faster."))
        .reply(Reply::says("Later."));
    gate.release();
    f.wait(&session).await;
    let requests = f.model.requests();
    let next = checkpoint("SUMMARY", &kept(&beta, "Next"));
    assert_eq!(compact::messages(&requests[2]), [&*next]);
    let faster = [&next, "assistant: Yes.", "user: Faster"];
    assert_eq!(compact::messages(&requests[3]), faster);
    let later = ["assistant: Faster.", "user: Later"];
    assert_eq!(compact::messages(&requests[4])[3..], later);
}

#[tokio::test]
async fn a_process_that_dies_during_a_summary_leaves_the_history_unchanged() {
    let (mut f, session, _gate, _) = summarising().await;
    f.kill().await;
    assert_eq!(f.events_after(&session, GROWN).await, STARTED);
    f.model
        .reply(Reply::says("SUMMARY"))
        .reply(Reply::says("Yes."));
    f.run(&session).await;
    let events = f.events_after(&session, GROWN + 3).await;
    let compacted = ["compaction.started auto", "compaction.ended auto SUMMARY"];
    assert_eq!(events, [&compacted[..], &ANSWERED].concat());
    assert_eq!(asked_for(&f.model.last_request()), [CHECKPOINT]);
}

#[tokio::test]
async fn a_host_with_recovery_writes_the_summary_again() {
    let (mut f, session, _gate, [_, beta]) = summarising().await;
    f.model
        .reply(Reply::says("SUMMARY"))
        .reply(Reply::says("Yes."));
    f.change(|options| options.recovery = Recovery::Resume);
    f.kill().await;
    f.idle().await;
    let events = f.events_after(&session, GROWN + 3).await;
    let compacted = [
        "retried 1",
        "compaction.started auto",
        "compaction.ended auto SUMMARY",
    ];
    assert_eq!(events, [&compacted[..], &ANSWERED].concat());
    assert_eq!(
        compact::messages(&f.model.last_request()),
        [checkpoint("SUMMARY", &kept(&beta, "Next"))]
    );
}

#[tokio::test]
async fn the_next_process_uses_the_checkpoint_of_a_process_that_died() {
    let (mut f, session, gate, [_, beta]) = summarising().await;
    let turn = Gate::new();
    f.model.reply(Reply::nothing().hold(&turn));
    gate.release();
    f.reached(&turn).await;
    f.kill().await;
    let [cut] = &f.interrupted().await[..] else {
        panic!("its input has no answer")
    };
    assert_eq!(cut.session_id, session);
    f.model.reply(Reply::says("Yes."));
    f.run(&session).await;
    assert_eq!(
        compact::messages(&f.model.last_request()),
        [checkpoint("SUMMARY", &kept(&beta, "Next"))]
    );
    assert_eq!(f.events_after(&session, GROWN + 4).await, ANSWERED);
}

#[tokio::test]
async fn a_host_that_closes_ends_the_compaction() {
    let (mut f, session, gate, _) = summarising().await;
    f.reopen().await;
    f.dropped(&gate).await;
    assert_eq!(f.events_after(&session, GROWN).await, STARTED);
}

#[tokio::test]
async fn a_session_that_moves_during_a_compaction_continues_at_its_new_location() {
    let (f, session, gate, [_, beta]) = summarising().await;
    f.project.write("inner/a.txt", "");
    let inner = f.project.path("inner");
    f.move_to(&session, inner.to_string_lossy()).await;
    f.model.reply(Reply::says("Yes."));
    gate.release();
    f.wait(&session).await;
    let last = f.model.last_request();
    assert_eq!(
        compact::messages(&last),
        [checkpoint("SUMMARY", &kept(&beta, "Next"))]
    );
    let inner = inner.to_string_lossy().into_owned();
    assert!(last.system.last().unwrap().text.contains(&inner));
}
