//! Providers that fail: before an answer, during it, and while its tools run.

use opencode_llm::error::{AuthenticationKind, TransportKind};
use opencode_llm::{ErrorKind, LlmError, LlmErrorReason};
use opencode_runtime::DrainOutcome;
use opencode_schema::id::SessionID;
use opencode_schema::prompt::Delivery;
use opencode_testkit::{Fixture, Gate, Reply, compact};
use serde_json::json;

fn lost() -> LlmError {
    LlmError::transport(TransportKind::Exchange, None, "the connection was lost")
}

#[tokio::test]
async fn a_refused_request_is_a_failed_step_with_a_reason() {
    let rows = [
        (
            LlmErrorReason::Authentication {
                kind: AuthenticationKind::Invalid,
            },
            json!({"kind": "auth", "retryable": false, "providerID": "mock"}),
        ),
        (
            LlmErrorReason::InvalidRequest {
                parameter: None,
                context_overflow: false,
            },
            json!({"kind": "invalid-request", "retryable": false, "providerID": "mock"}),
        ),
        (
            LlmErrorReason::RateLimit {
                retry_after_ms: Some(1500),
            },
            json!({"kind": "rate-limit", "retryable": true, "retryAfterMs": 1500, "providerID": "mock"}),
        ),
        (
            LlmErrorReason::ProviderInternal {
                status: 529,
                retry_after_ms: None,
            },
            json!({"kind": "overloaded", "status": 529, "retryable": true, "providerID": "mock"}),
        ),
        (
            LlmErrorReason::QuotaExceeded,
            json!({"kind": "quota", "retryable": false, "providerID": "mock"}),
        ),
        (
            LlmErrorReason::ContentPolicy,
            json!({"kind": "content-policy", "retryable": false, "providerID": "mock"}),
        ),
    ];
    for (reason, cause) in rows {
        let f = Fixture::open().await;
        let session = f.session().await;
        f.leave(&session, "Hi", Delivery::Steer).await;
        f.model.reply(Reply::fails(LlmError::new(reason, "no")));
        let outcome = f.run(&session).await;
        let DrainOutcome::Failed(error) = &outcome else {
            panic!("{outcome:?}")
        };
        let message = match cause["kind"] == "quota" {
            true => {
                "no. The account at the provider mock has no credit, or its plan is used up: add credit, or choose another model"
            }
            false => "no",
        };
        assert_eq!(
            (error.tag(), &*error.to_string()),
            ("ProviderFailed", message)
        );
        assert_eq!(
            f.events(&session).await,
            [
                "prompt.admitted Hi",
                "prompted Hi",
                "step.started",
                &format!("step.failed {message}"),
            ]
        );
        let data = &f.payloads(&session, "step.failed").await[0];
        assert_eq!(
            data["error"],
            json!({"type": "unknown", "message": message, "cause": cause})
        );
        let messages = serde_json::to_value(f.messages(&session).await).unwrap();
        assert_eq!(
            (&messages[1]["finish"], &messages[1]["error"]),
            (&json!("error"), &data["error"])
        );
        // The step records the failure, so there is no further announcement and no retry.
        assert_eq!(f.model.requests().len(), 1);
    }
}

#[tokio::test]
async fn a_lost_connection_keeps_the_received_text() {
    let f = Fixture::open().await;
    let session = f.session().await;
    let reply = Reply::new().begin_text().delta("Hel").fail(lost());
    f.model.reply(reply).reply(Reply::says("Hello."));
    f.ask(&session, "Hi").await;
    f.ask(&session, "Go on").await;
    assert_eq!(
        f.events(&session).await,
        [
            "prompt.admitted Hi",
            "prompted Hi",
            "step.started",
            "text.started",
            "text.ended Hel",
            "step.failed the connection was lost",
            "prompt.admitted Go on",
            "prompted Go on",
            "step.started",
            "text.started",
            "text.ended Hello.",
            "step.ended stop",
        ]
    );
    assert_eq!(
        compact::messages(&f.model.last_request()),
        ["user: Hi", "assistant: Hel", "user: Go on"]
    );
}

#[tokio::test]
async fn a_call_that_a_failure_cut_fails_with_the_answer() {
    let unread = || LlmError::invalid_output("mock", "Invalid JSON input");
    for (reply, text, arguments, failed) in [
        (
            Reply::new()
                .begin_call("c1", "echo", r#"{"n":"#)
                .fail(lost()),
            &[][..],
            r#"{"n":"#,
            "the connection was lost",
        ),
        (
            Reply::new()
                .text("Look.")
                .begin_call("c1", "echo", "not json")
                .fail(unread()),
            &["text.started", "text.ended Look."],
            "not json",
            "Invalid JSON input",
        ),
    ] {
        let f = Fixture::open().await;
        let session = f.session().await;
        f.model.reply(reply).reply(Reply::says("Sorry."));
        f.ask(&session, "Hi").await;
        f.ask(&session, "Again").await;
        let arguments = format!("tool.input.ended c1 {arguments}");
        let reason = format!("The call did not run, because the answer failed: {failed}");
        let (call, step) = (
            format!("tool.failed c1 {reason}"),
            format!("step.failed {failed}"),
        );
        let expected = [
            &["prompt.admitted Hi", "prompted Hi", "step.started"],
            text,
            &["tool.input.started c1 echo", &arguments, &call, &step],
            &[
                "prompt.admitted Again",
                "prompted Again",
                "step.started",
                "text.started",
                "text.ended Sorry.",
                "step.ended stop",
            ],
        ];
        assert_eq!(f.events(&session).await, expected.concat());
        let request = compact::messages(&f.model.last_request());
        assert_eq!(
            request[2..],
            [
                format!("tool: c1 = failed: {reason}"),
                "user: Again".to_owned()
            ]
        );
    }
}

/// Runs a turn whose stream fails with `gone` while a local tool runs and an input that wakes no
/// drain is pending.
async fn run_with_wrong_reply(f: &Fixture, wrong: impl Fn(Reply) -> Reply) -> SessionID {
    let session = f.session().await;
    let (stream, tool) = (Gate::new(), Gate::new());
    f.held_tool("slow", &tool);
    let reply = Reply::new().call("c1", "slow", json!({})).hold(&stream);
    f.model.reply(wrong(reply));
    f.prompt(&session, "Go").await;
    f.reached(&tool).await;
    f.leave(&session, "Later", Delivery::Queue).await;
    stream.release();
    f.recorded(&session, "step.failed gone").await;
    tool.release();
    f.wait(&session).await;
    session
}

/// The events of that turn.
const EVENTS_WITH_WRONG_REPLY: [&str; 9] = [
    "prompt.admitted Go",
    "prompted Go",
    "step.started",
    "tool.input.started c1 slow",
    "tool.input.ended c1 {}",
    "tool.called c1 slow {}",
    "prompt.admitted Later (queue)",
    "step.failed gone",
    "tool.success c1 {}",
];

const LATER: [&str; 5] = [
    "prompted Later (queue)",
    "step.started",
    "text.started",
    "text.ended Later it is.",
    "step.ended stop",
];

#[tokio::test]
async fn a_running_tool_settles_after_a_broken_exchange_and_the_drain_ends() {
    let f = Fixture::open().await;
    let gone = || LlmError::invalid_output("mock", "gone");
    let session = run_with_wrong_reply(&f, |reply| reply.fail(gone())).await;
    assert_eq!(f.events(&session).await, EVENTS_WITH_WRONG_REPLY);
    f.model.reply(Reply::says("I know."));
    f.model.reply(Reply::says("Later it is."));
    f.ask(&session, "And?").await;
    assert_eq!(
        compact::messages(&f.model.requests()[1]),
        [
            "user: Go",
            "assistant: c1 slow{}",
            "tool: c1 = {}",
            "user: And?",
        ]
    );
}

#[tokio::test]
async fn a_running_tool_settles_after_an_error_of_the_provider_and_the_drain_continues() {
    let f = Fixture::open().await;
    f.model.otherwise(|_| Reply::says("Later it is."));
    let wrong = |reply: Reply| reply.provider_error("gone", ErrorKind::Overloaded);
    let session = run_with_wrong_reply(&f, wrong).await;
    let expected = [&EVENTS_WITH_WRONG_REPLY[..], &LATER].concat();
    assert_eq!(f.events(&session).await, expected);
}

#[tokio::test]
async fn an_error_of_the_provider_ends_the_turn_and_not_the_drain() {
    let f = Fixture::open().await;
    let session = f.session().await;
    f.leave(&session, "Later", Delivery::Queue).await;
    let reply = Reply::new()
        .begin_text()
        .delta("Hel")
        .provider_error("overloaded", ErrorKind::Overloaded);
    f.model.reply(reply).reply(Reply::says("Now."));
    f.ask(&session, "Hi").await;
    assert_eq!(
        f.events(&session).await,
        [
            "prompt.admitted Later (queue)",
            "prompt.admitted Hi",
            "prompted Hi",
            "step.started",
            "text.started",
            "text.ended Hel",
            "step.failed overloaded",
            "prompted Later (queue)",
            "step.started",
            "text.started",
            "text.ended Now.",
            "step.ended stop",
        ]
    );
    let data = &f.payloads(&session, "step.failed").await[0];
    assert_eq!(
        data["error"]["cause"],
        json!({"kind": "overloaded", "retryable": true, "providerID": "mock"})
    );
}
