//! Models that take over from a provider that refuses a turn.

use opencode_llm::{ErrorKind, LlmError, LlmErrorReason, LlmEvent, RetryPolicy};
use opencode_schema::model::ModelRef;
use opencode_testkit::{Fixture, Reply};
use serde_json::json;

fn model(id: &str) -> ModelRef {
    ModelRef {
        id: id.to_owned(),
        provider_id: "mock".to_owned(),
        variant: None,
    }
}

async fn with_fallback(models: &'static [&'static str]) -> Fixture {
    Fixture::with(move |options| {
        options.retry = RetryPolicy::NEVER;
        options.fallback = models.iter().map(|id| model(id)).collect();
    })
    .await
}

fn busy() -> Reply {
    let reason = LlmErrorReason::RateLimit {
        retry_after_ms: None,
    };
    Reply::fails(LlmError::new(reason, "slow down"))
}

fn asked(f: &Fixture) -> Vec<String> {
    f.model
        .requests()
        .iter()
        .map(|it| it.model.id.clone())
        .collect()
}

#[tokio::test]
async fn the_next_model_takes_over_for_the_rest_of_the_activity() {
    let f = with_fallback(&["missing", "m1", "m2"]).await;
    let session = f.session().await;
    f.model.reply(busy());
    f.model
        .reply(Reply::calls("c", "glob", json!({"pattern": "*"})));
    f.model.reply(Reply::says("Done"));
    f.ask(&session, "Look").await;
    assert_eq!(asked(&f), ["m1", "m2", "m2"]);
    let changed = &f.payloads(&session, "model.fallback").await[0];
    assert_eq!(
        (&changed["from"]["id"], &changed["to"]["id"]),
        (&json!("m1"), &json!("m2"))
    );
    assert_eq!(changed["error"]["message"], "slow down");
    assert_eq!(changed["error"]["cause"]["kind"], "rate-limit");
    let steps = f.payloads(&session, "step.started").await;
    assert!(
        steps.iter().all(|step| step["model"]["id"] == "m2"),
        "{steps:?}"
    );
    assert_eq!(f.payloads(&session, "step.failed").await, [json!(null); 0]);
    // The next activity begins with the model of the session.
    f.model.reply(Reply::says("Hello"));
    f.ask(&session, "Hi").await;
    assert_eq!(asked(&f).last().unwrap(), "m1");
}

#[tokio::test]
async fn a_refusal_inside_of_the_stream_counts_before_any_output() {
    let f = with_fallback(&["m2"]).await;
    let session = f.session().await;
    let overloaded = || LlmEvent::ProviderError {
        message: "overloaded".to_owned(),
        kind: ErrorKind::Overloaded,
        retryable: true,
        provider_metadata: None,
    };
    f.model.reply(Reply::new().events([overloaded()]));
    f.model.reply(Reply::says("Hello"));
    f.ask(&session, "Hi").await;
    assert_eq!(asked(&f), ["m1", "m2"]);
    // A failure after output belongs to the step.
    f.model
        .reply(Reply::new().text("Hal").events([overloaded()]));
    f.ask(&session, "Hi again").await;
    assert_eq!(asked(&f), ["m1", "m2", "m1"]);
    assert_eq!(f.payloads(&session, "step.failed").await.len(), 1);
}

#[tokio::test]
async fn the_failure_of_the_last_model_is_recorded() {
    let f = with_fallback(&["m2"]).await;
    let session = f.session().await;
    f.model.reply(busy()).reply(busy());
    f.ask(&session, "Hi").await;
    assert_eq!(asked(&f), ["m1", "m2"]);
    let failed = &f.payloads(&session, "step.failed").await[0];
    assert_eq!(failed["error"]["message"], "slow down");
}

#[tokio::test]
async fn mistakes_of_the_user_do_not_change_the_model() {
    let f = with_fallback(&["m2"]).await;
    let session = f.session().await;
    f.model
        .reply(Reply::fails(LlmError::invalid_request("no such tool")));
    f.ask(&session, "Hi").await;
    assert_eq!(asked(&f), ["m1"]);
    assert_eq!(
        f.payloads(&session, "model.fallback").await,
        [json!(null); 0]
    );
}
