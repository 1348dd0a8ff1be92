//! Refusals that name the window, and refusals in unknown words.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::SystemTime;

use opencode_llm::error::HttpFailure;
use opencode_llm::{ErrorKind, LlmError};
use opencode_testkit::Reply;
use serde_json::json;

use super::*;

/// The answer of a server that refuses a request.
fn refused(status: u16, body: &str) -> LlmError {
    HttpFailure {
        model: "mock/m1",
        method: "POST",
        url: "http://localhost/v1/chat/completions",
        request_headers: &[],
        status,
        response_headers: &[],
        body,
        body_truncated: false,
        now: SystemTime::UNIX_EPOCH,
    }
    .into_error()
}

/// The same words as a response and inside of a stream.
fn unknown() -> [Reply; 4] {
    let words = "Bad request: 17 problems";
    [
        Reply::fails(refused(400, words)),
        Reply::fails(refused(422, words)),
        Reply::new().provider_error(words, ErrorKind::InvalidRequest),
        Reply::new().provider_error(words, ErrorKind::Unknown),
    ]
}

fn size(request: &LlmRequest) -> usize {
    serde_json::to_string(&*request.messages).unwrap().len() / 4
}

/// A server with a window of 8,192 tokens that names it when it refuses. Counts its refusals.
fn small_server(f: &Fixture, body: &'static str) -> Arc<AtomicUsize> {
    let refusals = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&refusals);
    f.model.otherwise(move |request| {
        if size(request) > 8_192 {
            counter.fetch_add(1, Ordering::Relaxed);
            return Reply::fails(refused(400, body));
        }
        Reply::says(if is_for_summary(request) {
            "SUMMARY"
        } else {
            "Yes."
        })
    });
    refusals
}

const NAMED: &str = r#"{"error":{"code":400,"message":"no","type":"exceed_context_size_error","n_prompt_tokens":13000,"n_ctx":8192}}"#;

#[tokio::test]
async fn a_named_window_is_used_before_the_next_request() {
    for context in [0, 200_000] {
        let (f, session) = with(json!({"limit": {"context": context, "output": OUTPUT}})).await;
        grown(&f, &session).await;
        let refusals = small_server(&f, NAMED);
        f.ask(&session, "Next").await;
        for _ in 0..4 {
            f.ask(&session, &filler("gamma", 3_000)).await;
        }
        // Another session with the same model knows the window from its first request on.
        let other = f.session().await;
        for _ in 0..4 {
            f.ask(&other, &filler("delta", 3_000)).await;
        }
        assert_eq!(refusals.load(Ordering::Relaxed), 1, "{context}");
        for session in [&session, &other] {
            let events = f.events(session).await;
            assert!(!events.iter().any(|it| it.starts_with("step.failed")));
            let compactions = events
                .iter()
                .filter(|it| it.starts_with("compaction.ended"));
            assert!(compactions.count() >= 1, "{events:?}");
        }
    }
}

#[tokio::test]
async fn an_absurd_window_is_not_used() {
    let absurd = r#"{"error":{"type":"exceed_context_size_error","n_ctx":8}}"#;
    let (f, session) = with(json!({"limit": {"context": 0, "output": OUTPUT}})).await;
    grown(&f, &session).await;
    let refusals = small_server(&f, absurd);
    f.ask(&session, "Next").await;
    f.ask(&session, &filler("gamma", 3_000)).await;
    assert!(refusals.load(Ordering::Relaxed) >= 1);
    let compactions = f.payloads(&session, "compaction.ended").await;
    assert_eq!(compactions.len(), 1);
}

/// A session whose next request takes more than 85 percent of the window, and fits.
async fn near() -> (Fixture, SessionID) {
    let (f, session) = with(json!({"buffer": 0})).await;
    grown(&f, &session).await;
    (f, session)
}

fn large() -> String {
    filler("gamma", 4_800)
}

#[tokio::test]
async fn a_refusal_in_unknown_words_near_the_window_is_compacted_once() {
    for refusal in unknown() {
        let (f, session) = near().await;
        f.model
            .reply(refusal.clone())
            .reply(Reply::says("SUMMARY"))
            .reply(Reply::says("Yes."));
        f.ask(&session, &large()).await;
        let events = f.events_after(&session, GROWN + 2).await;
        assert_eq!(
            events[..2],
            ["compaction.started auto", "compaction.ended auto SUMMARY"]
        );
        assert_eq!(events.last().unwrap(), "step.ended stop");
    }
}

#[tokio::test]
async fn a_summary_that_is_refused_in_unknown_words_is_made_of_smaller_parts() {
    for refusal in unknown() {
        let (f, session) = near().await;
        f.model.reply(refusal.clone()).reply(refusal);
        f.model.otherwise(|request| {
            Reply::says(if is_for_summary(request) {
                "SUMMARY"
            } else {
                "Yes."
            })
        });
        f.ask(&session, &large()).await;
        let events = f.events_after(&session, GROWN + 2).await;
        assert_eq!(
            events[..2],
            ["compaction.started auto", "compaction.ended auto SUMMARY"]
        );
        assert_eq!(events.last().unwrap(), "step.ended stop");
    }
}

#[tokio::test]
async fn a_second_refusal_in_unknown_words_says_what_can_be_done() {
    for refusal in unknown() {
        let (f, session) = near().await;
        f.model
            .reply(refusal.clone())
            .reply(Reply::says("SUMMARY"))
            .reply(refusal.clone());
        f.ask(&session, &large()).await;
        let events = f.events_after(&session, GROWN + 3).await;
        assert_eq!(events[1], "step.started");
        assert!(events[2].contains("Bad request: 17 problems"), "{events:?}");
        assert_eq!(f.model.requests().len(), 4);
    }
}

#[tokio::test]
async fn a_failed_compaction_near_the_window_says_what_can_be_done() {
    for refusal in unknown() {
        let (f, session) = near().await;
        f.model.reply(refusal).reply(Reply::says(""));
        f.ask(&session, &large()).await;
        let failed = f.payloads(&session, "step.failed").await.remove(0);
        let message = failed["error"]["message"].as_str().unwrap();
        for cure in [
            "Bad request: 17 problems. If its size",
            "20000",
            "compact the session",
            "revert",
            "limit.context",
        ] {
            assert!(message.contains(cure), "{cure}: {message}");
        }
    }
}

#[tokio::test]
async fn other_refusals_are_not_compacted() {
    let small = |reply: Reply| (reply, "Next".to_owned());
    let near_window = |status: u16, words: &str| (Reply::fails(refused(status, words)), large());
    let rows = unknown().map(small).into_iter().chain([
        near_window(404, "Bad request"),
        near_window(401, "Bad request"),
        near_window(402, "Bad request"),
        near_window(400, "max_tokens is too large: 50000. This model supports at most 16384 completion tokens, whereas you provided 50000."),
        near_window(400, "Invalid schema for function 'read'"),
        near_window(400, "Input was flagged"),
    ]);
    for (refusal, prompt) in rows {
        let (f, session) = near().await;
        f.model.reply(refusal);
        f.ask(&session, &prompt).await;
        let events = f.events_after(&session, GROWN + 2).await;
        assert_eq!(events[0], "step.started", "{events:?}");
        assert_eq!(events.len(), 2);
    }
}

#[tokio::test]
async fn the_same_refusal_of_a_longer_history_is_compacted_if_the_window_is_unknown() {
    for refusal in unknown() {
        let (f, session) = with(json!({"limit": {"context": 0, "output": OUTPUT}})).await;
        grown(&f, &session).await;
        f.model.reply(refusal.clone());
        f.ask(&session, "Next").await;
        let failed = f.payloads(&session, "step.failed").await.remove(0);
        let message = failed["error"]["message"].as_str().unwrap();
        assert!(message.contains("compact the session"), "{message}");
        f.model
            .reply(refusal)
            .reply(Reply::says("SUMMARY"))
            .reply(Reply::says("Yes."));
        f.ask(&session, "Again, please").await;
        let events = f.events_after(&session, GROWN + 6).await;
        assert_eq!(
            events[..2],
            ["compaction.started auto", "compaction.ended auto SUMMARY"]
        );
        assert_eq!(events.last().unwrap(), "step.ended stop");
    }
}

#[tokio::test]
async fn the_same_refusal_of_a_short_session_is_not_compacted() {
    let (f, session) = with(json!({"limit": {"context": 0, "output": OUTPUT}})).await;
    for _ in 0..3 {
        f.model.reply(Reply::fails(refused(400, "Bad request")));
        f.ask(&session, "Hi").await;
    }
    let failed = f.payloads(&session, "step.failed").await;
    assert_eq!(failed.len(), 3);
    let message = "Provider request failed with HTTP 400: Bad request";
    assert_eq!(failed[2]["error"]["message"], message);
    assert_eq!(f.model.requests().len(), 3);
}
