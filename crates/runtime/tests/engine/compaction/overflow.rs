//! Requests that the provider refuses because of their size.

use opencode_llm::{ErrorKind, LlmError, LlmErrorReason};
use opencode_testkit::{Gate, Reply, output};
use serde_json::json;

use super::*;

/// A session without estimates, because its window is unknown.
async fn unknown_window() -> (Fixture, SessionID) {
    with(json!({"limit": {"context": 0, "output": OUTPUT}})).await
}

fn too_long() -> LlmError {
    let reason = LlmErrorReason::InvalidRequest {
        parameter: None,
        context_overflow: true,
    };
    LlmError::new(reason, "too long")
}

/// The two ways in which a provider reports this.
fn refusals() -> [Reply; 2] {
    [
        Reply::fails(too_long()),
        Reply::new().provider_error("too long", ErrorKind::ContextOverflow),
    ]
}

const WHOLE: [&str; 3] = [ALPHA, BETA, "user: Next"];

#[tokio::test]
async fn a_refused_request_is_compacted_and_repeated_once() {
    for refusal in refusals() {
        let (f, session) = unknown_window().await;
        grown(&f, &session).await;
        f.model
            .reply(refusal)
            .reply(Reply::says("SUMMARY"))
            .reply(Reply::says("Yes."));
        f.ask(&session, "Next").await;
        assert_eq!(
            events_after(&f, &session, GROWN).await,
            [
                "prompt.admitted Next",
                "prompted Next",
                "compaction.started auto",
                "compaction.ended auto SUMMARY",
                "step.started",
                "text.started",
                "text.ended Yes.",
                "step.ended stop",
            ]
        );
        let expected = [&[ALPHA][..], &WHOLE, &["summary"], &[CHECKPOINT]];
        assert_eq!(asked(&f), expected);
    }
}

#[tokio::test]
async fn a_second_refusal_is_the_outcome() {
    for refusal in refusals() {
        let (f, session) = unknown_window().await;
        grown(&f, &session).await;
        f.model
            .reply(refusal.clone())
            .reply(Reply::says("SUMMARY"))
            .reply(refusal);
        f.ask(&session, "Next").await;
        assert_eq!(
            events_after(&f, &session, GROWN + 2).await,
            [
                "compaction.started auto",
                "compaction.ended auto SUMMARY",
                "step.started",
                "step.failed too long",
            ]
        );
        let failed = f.payloads(&session, "step.failed").await.remove(0);
        assert_eq!(failed["error"]["cause"]["kind"], "context-overflow");
        let expected = [&[ALPHA][..], &WHOLE, &["summary"], &[CHECKPOINT]];
        assert_eq!(asked(&f), expected);
        // The session continues from its checkpoint.
        f.model.reply(Reply::says("Yes."));
        f.ask(&session, "Then").await;
        let expected = [CHECKPOINT, "user: Then"];
        assert_eq!(asked_for(&f.model.last_request()), expected);
    }
}

#[tokio::test]
async fn a_refusal_is_the_outcome_if_there_is_nothing_to_compact() {
    for refusal in refusals() {
        // First a session with a single message, then one with only recent messages.
        let (f, session) = unknown_window().await;
        f.model.reply(refusal.clone());
        f.ask(&session, &filler("alpha", 5_000)).await;
        let failed = ["step.started", "step.failed too long"];
        assert_eq!(events_after(&f, &session, 2).await, failed);
        let session = f.session().await;
        f.model.reply(Reply::says("Hello.")).reply(refusal);
        f.ask(&session, "Hi").await;
        f.ask(&session, "Next").await;
        assert_eq!(events_after(&f, &session, GROWN + 2).await, failed);
        assert_eq!(f.model.requests().len(), 3);
    }
}

#[tokio::test]
async fn a_refusal_is_the_outcome_if_compaction_is_off() {
    for refusal in refusals() {
        let (f, session) = with(json!({"auto": false})).await;
        grown(&f, &session).await;
        f.model.reply(refusal);
        f.ask(&session, "Next").await;
        let failed = ["step.started", "step.failed too long"];
        assert_eq!(events_after(&f, &session, GROWN + 2).await, failed);
    }
}

#[tokio::test]
async fn a_refusal_is_the_outcome_if_the_summary_fails() {
    for (at, refusal) in refusals().into_iter().enumerate() {
        let (f, session) = unknown_window().await;
        grown(&f, &session).await;
        f.model.reply(refusal).reply(Reply::says(""));
        f.leave(&session, "Next", opencode_schema::prompt::Delivery::Steer)
            .await;
        let outcome = f.run(&session).await;
        assert_eq!(
            events_after(&f, &session, GROWN + 2).await,
            [
                "compaction.started auto",
                "step.started",
                "step.failed too long"
            ]
        );
        // As with every failure, one in the stream ends only the turn, and one in the exchange fails the drain.
        let is_failed = matches!(outcome, opencode_runtime::DrainOutcome::Failed(_));
        assert_eq!(is_failed, at == 0);
    }
}

#[tokio::test]
async fn a_request_is_not_repeated_after_output() {
    let (f, session) = unknown_window().await;
    grown(&f, &session).await;
    f.model
        .reply(Reply::new().begin_text().delta("Ye").fail(too_long()));
    f.ask(&session, "Next").await;
    let failed = [
        "step.started",
        "text.started",
        "text.ended Ye",
        "step.failed too long",
    ];
    assert_eq!(events_after(&f, &session, GROWN + 2).await, failed);
    let reply = Reply::new().begin_text().delta("Ye");
    f.model
        .reply(reply.provider_error("too long", ErrorKind::ContextOverflow));
    f.ask(&session, "Next").await;
    assert_eq!(events_after(&f, &session, GROWN + 8).await, failed);
}

#[tokio::test]
async fn a_turn_compacted_for_its_estimate_is_not_compacted_for_a_refusal() {
    let (f, session) = open().await;
    grown(&f, &session).await;
    f.model
        .reply(Reply::says("SUMMARY"))
        .reply(Reply::fails(too_long()));
    f.ask(&session, "Next").await;
    assert_eq!(
        events_after(&f, &session, GROWN + 2).await,
        [
            "compaction.started auto",
            "compaction.ended auto SUMMARY",
            "step.started",
            "step.failed too long",
        ]
    );
}

#[tokio::test]
async fn open_results_are_in_the_checkpoint() {
    let (f, session) = unknown_window().await;
    f.tool("echo", |_, _| async { output(json!({"out": "gamma"})) });
    grown(&f, &session).await;
    f.model
        .reply(Reply::calls("c1", "echo", json!({})))
        .reply(Reply::fails(too_long()))
        .reply(Reply::says("SUMMARY"))
        .reply(Reply::says("Done."));
    f.ask(&session, "Next").await;
    assert_eq!(asked_for(&f.model.last_request()), [CHECKPOINT]);
    let ended = f.payloads(&session, "compaction.ended").await.remove(0);
    let recent = ended["recent"].as_str().unwrap();
    let expected =
        "[User]: Next\n\n[Assistant tool call]: echo({})\n[Tool result]: {\"out\":\"gamma\"}";
    assert!(recent.ends_with(expected), "{recent}");
    // The limit is one compaction for each turn, not for each activity.
    let gate = Gate::new();
    f.model
        .reply(Reply::fails(too_long()))
        .reply(Reply::nothing().hold(&gate));
    f.prompt(&session, "Then").await;
    f.reached(&gate).await;
    f.interrupt(&session).await;
}
