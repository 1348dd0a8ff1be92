//! Providers that refuse a request temporarily, or send nothing for a long time.

use opencode_llm::{ErrorKind, LlmError, LlmErrorReason, LlmEvent, RetryPolicy};
use opencode_schema::id::SessionID;
use opencode_testkit::{Fixture, Gate, Reply};
use serde_json::json;

const ASKED: [&str; 2] = ["prompt.admitted Hi", "prompted Hi"];
const HELLO: [&str; 4] = [
    "step.started",
    "text.started",
    "text.ended Hello",
    "step.ended stop",
];

/// A session on a host with the default retries, without jitter.
async fn patient() -> (Fixture, SessionID) {
    let f = Fixture::with(|options| {
        options.retry = RetryPolicy {
            jitter: 0.0,
            ..RetryPolicy::default()
        };
    })
    .await;
    let session = f.session().await;
    (f, session)
}

fn slow_down(retry_after_ms: Option<u64>) -> Reply {
    let reason = LlmErrorReason::RateLimit { retry_after_ms };
    Reply::fails(LlmError::new(reason, "slow down"))
}

fn overloaded() -> LlmEvent {
    LlmEvent::ProviderError {
        message: "overloaded".to_owned(),
        kind: ErrorKind::Overloaded,
        retryable: true,
        provider_metadata: None,
    }
}

#[tokio::test]
async fn a_refused_request_is_repeated_at_the_time_of_the_provider() {
    let (f, session) = patient().await;
    let mut live = f.live();
    f.model.reply(slow_down(Some(120_000)));
    f.model
        .reply(Reply::nothing().events([LlmEvent::StepStart { index: 0 }, overloaded()]));
    f.model.reply(Reply::says("Hello"));
    f.prompt(&session, "Hi").await;
    f.read_until(&mut live, "retried 1").await;
    assert_eq!(f.model.requests().len(), 1);
    f.clock.advance(120_000);
    f.read_until(&mut live, "retried 2").await;
    assert_eq!(f.model.requests().len(), 2);
    f.clock.advance(1000);
    f.wait(&session).await;
    assert_eq!(f.model.requests().len(), 3);
    let waits = ["retried 1", "retried 2"];
    let expected = [&ASKED[..], &waits, &HELLO].concat();
    assert_eq!(f.events(&session).await, expected);
    let retried = f.payloads(&session, "retried").await;
    assert_eq!(
        retried[0]["error"],
        json!({
            "message": "slow down",
            "isRetryable": true,
            "metadata": {"next": "1795179422007", "providerID": "mock", "reason": "rate-limit"},
        })
    );
    assert_eq!(retried[1]["error"]["metadata"]["reason"], "overloaded");
    f.close().await;
    f.read_to_end(&mut live).await;
    let statuses = [
        "busy",
        "retry",
        "busy",
        "retry",
        "busy",
        "idle",
        "session.idle",
    ];
    assert_eq!(live.statuses(), statuses);
}

#[tokio::test]
async fn an_interruption_ends_a_wait_at_once() {
    let (f, session) = patient().await;
    let mut live = f.live();
    f.model.reply(slow_down(Some(240_000)));
    f.prompt(&session, "Hi").await;
    f.read_until(&mut live, "retried 1").await;
    f.interrupt(&session).await;
    f.wait(&session).await;
    assert_eq!(f.model.requests().len(), 1);
}

#[tokio::test]
async fn a_longer_wait_of_the_provider_fails_the_turn_with_the_reason() {
    let (f, session) = patient().await;
    f.model.reply(slow_down(Some(3_600_000)));
    f.ask(&session, "Hi").await;
    let failed = "step.failed slow down. The provider asks to wait 3600 seconds, which is longer than the option retry.maxElapsedMs allows; prompt again after that";
    let expected = [&ASKED[..], &["step.started", failed]].concat();
    assert_eq!(f.events(&session).await, expected);
    let failed = f.payloads(&session, "step.failed").await;
    assert_eq!(failed[0]["error"]["cause"]["retryAfterMs"], 3_600_000);
}

#[tokio::test]
async fn an_answer_that_broke_after_its_first_output_is_not_requested_again() {
    let (f, session) = patient().await;
    f.model
        .reply(Reply::new().text("Hel").events([overloaded()]));
    f.ask(&session, "Hi").await;
    assert_eq!(f.model.requests().len(), 1);
    assert_eq!(f.payloads(&session, "retried").await.len(), 0);
    assert_eq!(f.payloads(&session, "step.failed").await.len(), 1);
}

#[tokio::test]
async fn an_exhausted_quota_is_not_retried() {
    let (f, session) = patient().await;
    let error = LlmError::new(LlmErrorReason::QuotaExceeded, "nothing left");
    f.model.reply(Reply::fails(error));
    f.ask(&session, "Hi").await;
    assert_eq!(f.payloads(&session, "retried").await.len(), 0);
}

#[tokio::test]
async fn a_silent_provider_is_reported() {
    let (f, session) = patient().await;
    let mut live = f.live();
    let gate = Gate::new();
    f.model
        .reply(Reply::nothing().hold(&gate).text("Hello").stop());
    f.prompt(&session, "Hi").await;
    f.reached(&gate).await;
    f.clock.advance(30_000);
    tokio::task::yield_now().await;
    f.clock.advance(30_000);
    tokio::task::yield_now().await;
    gate.release();
    f.wait(&session).await;
    f.close().await;
    f.read_to_end(&mut live).await;
    let statuses = [
        "busy",
        "busy 30000",
        "busy 60000",
        "busy",
        "idle",
        "session.idle",
    ];
    assert_eq!(live.statuses(), statuses);
}

#[tokio::test]
async fn a_switch_during_a_wait_prepares_the_turn_again() {
    let (f, session) = patient().await;
    let mut live = f.live();
    f.model.reply(slow_down(Some(60_000)));
    f.model.reply(Reply::says("Hello"));
    f.prompt(&session, "Hi").await;
    f.read_until(&mut live, "retried 1").await;
    f.switch_agent(&session, "plan").await;
    f.clock.advance(60_000);
    f.wait(&session).await;
    let started = f.payloads(&session, "step.started").await;
    assert_eq!(started.len(), 1);
    assert_eq!(started[0]["agent"], "plan");
    assert_eq!(f.payloads(&session, "step.failed").await.len(), 0);
    assert_eq!(f.model.requests().len(), 2);
}

#[tokio::test]
async fn a_server_failure_is_retried_twice_without_an_announcement() {
    let (f, session) = patient().await;
    for _ in 0..3 {
        let reason = LlmErrorReason::ProviderInternal {
            status: 500,
            retry_after_ms: None,
        };
        f.model.reply(Reply::fails(LlmError::new(reason, "boom")));
    }
    f.prompt(&session, "Hi").await;
    // These waits are not announced, so the test advances the time in small steps until the last request.
    let asked = async {
        while f.model.requests().len() < 3 {
            f.clock.advance(100);
            f.events(&session).await;
        }
    };
    f.within("three requests", asked).await;
    f.wait(&session).await;
    assert_eq!(f.model.requests().len(), 3);
    let expected = [&ASKED[..], &["step.started", "step.failed boom"]].concat();
    assert_eq!(f.events(&session).await, expected);
}
