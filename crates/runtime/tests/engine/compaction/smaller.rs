//! Models with a smaller window than configured: a refused request is made smaller until it fits.

use opencode_llm::{ErrorKind, LlmError, LlmErrorReason};
use opencode_testkit::Reply;
use serde_json::json;

use super::*;

/// A provider that refuses requests with more tokens than `takes`, and answers all others.
#[derive(Clone, Copy)]
struct Provider {
    takes: usize,
    /// Counts the tokens of a text.
    tokens: fn(&str) -> usize,
    /// True if the provider refuses in its stream.
    in_stream: bool,
}

impl Provider {
    fn answer(self, request: &LlmRequest) -> Reply {
        let asked = (self.tokens)(&serde_json::to_string(&*request.messages).unwrap());
        let answer = request.generation.max_tokens.unwrap_or_default();
        if asked + usize::try_from(answer).unwrap() <= self.takes {
            let is_summary = is_for_summary(request);
            return Reply::says(if is_summary { "SUMMARY" } else { "Yes." });
        }
        if self.in_stream {
            return Reply::new().provider_error("too long", ErrorKind::ContextOverflow);
        }
        let reason = LlmErrorReason::InvalidRequest {
            parameter: None,
            context_overflow: true,
        };
        Reply::fails(LlmError::new(reason, "too long"))
    }
}

/// Number of tokens in ordinary text.
fn usual(text: &str) -> usize {
    text.len() / 4
}

/// A session with five turns of about 65,000 tokens, which a model with a larger window answered.
async fn outgrown(limit: Value) -> (Fixture, SessionID) {
    let (f, session) = with(json!({"limit": limit})).await;
    for _ in 0..5 {
        f.model.reply(Reply::says(&filler("beta", 8_000)));
        f.ask(&session, &filler("alpha", 5_000)).await;
    }
    (f, session)
}

const OUTGROWN: usize = 5 * GROWN;

const COMPACTED: [&str; 8] = [
    "prompt.admitted Next",
    "prompted Next",
    "compaction.started auto",
    "compaction.ended auto SUMMARY",
    "step.started",
    "text.started",
    "text.ended Yes.",
    "step.ended stop",
];

/// The requests after the session has grown: true for a summary, and the size in thousands of tokens.
fn sizes(f: &Fixture) -> Vec<(bool, usize)> {
    let requests = f.model.requests();
    let size = |it: &LlmRequest| usual(&serde_json::to_string(&*it.messages).unwrap()) / 1_000;
    let asked = requests[5..]
        .iter()
        .map(|it| (is_for_summary(it), size(it)));
    asked.collect()
}

#[tokio::test]
async fn an_unknown_window_is_found() {
    for in_stream in [false, true] {
        let limit = json!({"context": 0, "output": OUTPUT});
        let (f, session) = outgrown(limit).await;
        let provider = Provider {
            takes: 10_000,
            tokens: usual,
            in_stream,
        };
        f.model.otherwise(move |request| provider.answer(request));
        f.ask(&session, "Next").await;
        assert_eq!(events_after(&f, &session, OUTGROWN).await, COMPACTED);
        // The provider refuses the whole history, a half and a quarter. An eighth fits.
        let mut expected = vec![(false, 65), (true, 65), (true, 31), (true, 13)];
        expected.extend([5, 6, 5, 6, 5, 6, 5, 6, 5, 6].map(|size| (true, size)));
        expected.push((false, 0));
        assert_eq!(sizes(&f), expected);
    }
}

#[tokio::test]
async fn a_window_smaller_than_configured_is_found() {
    // Each of these characters is one token, but the estimate counts it as a quarter.
    let limit = json!({"context": WINDOW, "output": OUTPUT});
    let (f, session) = with(json!({"limit": limit, "keep": {"tokens": 4_000}})).await;
    f.model.reply(Reply::says(&"\u{6f22}".repeat(40_000)));
    f.ask(&session, &"\u{5b57}".repeat(40_000)).await;
    let provider = Provider {
        takes: WINDOW as usize,
        tokens: |text| text.chars().count(),
        in_stream: false,
    };
    f.model.otherwise(move |request| provider.answer(request));
    f.ask(&session, "Next").await;
    assert_eq!(events_after(&f, &session, GROWN).await, COMPACTED);
    // The configured verbatim part would have filled the whole window.
    let ended = f.payloads(&session, "compaction.ended").await.remove(0);
    let recent = ended["recent"].as_str().unwrap().chars().count();
    assert!((8_000..9_000).contains(&recent), "{recent}");
}

#[tokio::test]
async fn the_number_of_requests_to_a_refusing_provider_is_bounded() {
    for in_stream in [false, true] {
        let limit = json!({"context": 0, "output": OUTPUT});
        let (f, session) = outgrown(limit).await;
        let provider = Provider {
            takes: 0,
            tokens: usual,
            in_stream,
        };
        f.model.otherwise(move |request| provider.answer(request));
        f.ask(&session, "Next").await;
        let failed = [
            "compaction.started auto",
            "step.started",
            "step.failed too long",
        ];
        assert_eq!(
            events_after(&f, &session, OUTGROWN).await,
            [&COMPACTED[..2], &failed].concat()
        );
        let asked = [65, 65, 31, 13, 5, 2, 1];
        let expected = asked.iter().enumerate();
        let expected: Vec<_> = expected.map(|(at, size)| (at > 0, *size)).collect();
        assert_eq!(sizes(&f), expected);
        // Another input allows the same number of attempts, and no more.
        f.ask(&session, "Then").await;
        assert_eq!(sizes(&f).len(), 2 * asked.len());
    }
}

#[tokio::test]
async fn a_refusal_after_output_is_a_failure() {
    let limit = json!({"context": 0, "output": OUTPUT});
    let (f, session) = outgrown(limit).await;
    let refusal = || Reply::new().provider_error("too long", ErrorKind::ContextOverflow);
    let half = Reply::new().text("Half");
    f.model
        .reply(refusal())
        .reply(half.provider_error("too long", ErrorKind::ContextOverflow));
    f.ask(&session, "Next").await;
    let failed = [
        "compaction.started auto",
        "step.started",
        "step.failed too long",
    ];
    assert_eq!(events_after(&f, &session, OUTGROWN + 2).await, failed);
}

#[tokio::test]
async fn an_input_that_alone_is_too_long_has_an_outcome_and_is_not_repeated() {
    let (f, session) = open().await;
    let provider = Provider {
        takes: WINDOW as usize,
        tokens: usual,
        in_stream: false,
    };
    f.model.otherwise(move |request| provider.answer(request));
    // The maximum length of an input.
    f.ask(&session, &"x".repeat((8 << 20) - 1_000)).await;
    f.ask(&session, "Next").await;
    let events = events_after(&f, &session, 0).await;
    let failed = ["step.started", "step.failed too long"];
    assert_eq!(events[2..4], failed);
    assert_eq!(events[6..], failed);
    assert_eq!(f.model.requests().len(), 2);
}

#[tokio::test]
async fn a_window_slightly_larger_than_the_kept_messages_is_sufficient() {
    for window in [8_192, 12_000] {
        // The request also needs room for its instructions and its answer.
        let limit = json!({"context": window, "output": OUTPUT});
        let (f, session) = with(json!({"limit": limit, "keep": {"tokens": 8_000}})).await;
        let provider = Provider {
            takes: window - 1_500,
            tokens: usual,
            in_stream: false,
        };
        f.model.otherwise(move |request| provider.answer(request));
        for turn in 0..12 {
            f.ask(&session, &filler(&format!("alpha{turn}"), 1_500))
                .await;
        }
        let events = f.events(&session).await;
        let failed = events.iter().filter(|it| it.starts_with("step.failed"));
        assert_eq!(failed.count(), 0, "{window}");
    }
}
