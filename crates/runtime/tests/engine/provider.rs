//! Providers that fail: before, inside and after an answer.

use opencode_llm::error::{AuthenticationKind, TransportKind};
use opencode_llm::{ErrorKind, LlmError, LlmErrorReason, LlmEvent};
use opencode_runtime::DrainOutcome;
use opencode_schema::prompt::Delivery;
use opencode_testkit::{Fixture, Gate, Reply, compact, output};
use serde_json::json;

fn lost() -> LlmError {
    LlmError::transport(TransportKind::Exchange, None, "the connection was lost")
}

#[tokio::test]
async fn a_refused_request_is_a_failed_step_that_says_why() {
    let rows = [
        (
            LlmErrorReason::Authentication {
                kind: AuthenticationKind::Invalid,
            },
            json!({"kind": "auth", "retryable": false}),
        ),
        (
            LlmErrorReason::InvalidRequest {
                parameter: None,
                context_overflow: false,
            },
            json!({"kind": "invalid-request", "retryable": false}),
        ),
        (
            LlmErrorReason::RateLimit {
                retry_after_ms: Some(1500),
            },
            json!({"kind": "rate-limit", "retryable": true, "retryAfterMs": 1500}),
        ),
        (
            LlmErrorReason::ProviderInternal {
                status: 529,
                retry_after_ms: None,
            },
            json!({"kind": "overloaded", "status": 529, "retryable": true}),
        ),
        (
            LlmErrorReason::QuotaExceeded,
            json!({"kind": "quota", "retryable": false}),
        ),
        (
            LlmErrorReason::ContentPolicy,
            json!({"kind": "content-policy", "retryable": false}),
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
        assert_eq!((error.tag(), &*error.to_string()), ("ProviderFailed", "no"));
        assert_eq!(
            f.events_after(&session, 2).await,
            ["step.started", "step.failed no"]
        );
        let data = &f.payloads(&session, "step.failed").await[0];
        assert_eq!(
            data["error"],
            json!({"type": "unknown", "message": "no", "cause": cause})
        );
        let messages = serde_json::to_value(f.messages(&session).await).unwrap();
        assert_eq!(
            (&messages[1]["finish"], &messages[1]["error"]),
            (&json!("error"), &data["error"])
        );
        // The step says it durably, so nothing else is announced and nothing tried again.
        assert_eq!(f.model.requests().len(), 1);
    }
}

#[tokio::test]
async fn a_connection_lost_in_a_text_keeps_the_text() {
    let f = Fixture::open().await;
    let session = f.session().await;
    let reply = Reply::new().begin_text().delta("Hel").fail(lost());
    f.model.reply(reply).reply(Reply::says("Hello."));
    f.ask(&session, "Hi").await;
    assert_eq!(
        f.events_after(&session, 2).await,
        [
            "step.started",
            "text.started",
            "text.ended Hel",
            "step.failed the connection was lost",
        ]
    );
    f.ask(&session, "Go on").await;
    assert_eq!(
        compact::messages(&f.model.last_request()),
        ["user: Hi", "assistant: Hel", "user: Go on"]
    );
}

#[tokio::test]
async fn a_connection_lost_in_arguments_leaves_the_call_to_the_next_drain() {
    for (reply, arguments) in [
        (
            Reply::new().begin_call("c1", "echo", r#"{"n":"#).fail(lost()),
            r#"{"n":"#,
        ),
        (
            Reply::new()
                .text("Look.")
                .begin_call("c1", "echo", "not json")
                .fail(lost()),
            "not json",
        ),
    ] {
        let f = Fixture::open().await;
        let session = f.session().await;
        f.model.reply(reply).reply(Reply::says("Sorry."));
        f.ask(&session, "Hi").await;
        let events = f.events(&session).await;
        assert_eq!(
            events[events.len() - 3..],
            [
                "tool.input.started c1 echo",
                &format!("tool.input.ended c1 {arguments}"),
                "step.failed the connection was lost",
            ]
        );
        f.ask(&session, "Again").await;
        assert_eq!(
            f.events_after(&session, events.len()).await,
            [
                "prompt.admitted Again",
                "tool.failed c1 Tool execution interrupted",
                "prompted Again",
                "step.started",
                "text.started",
                "text.ended Sorry.",
                "step.ended stop",
            ]
        );
        let request = compact::messages(&f.model.last_request());
        assert_eq!(
            request[2..],
            ["tool: c1 = failed: Tool execution interrupted", "user: Again"]
        );
    }
}

/// A turn whose stream goes wrong while a local tool runs, with `queued` waiting without a wake.
/// Returns the events after `tool.called`.
async fn while_a_tool_runs(goes_wrong: impl Fn(Reply) -> Reply, later: &[Reply]) -> Vec<String> {
    let f = Fixture::open().await;
    let session = f.session().await;
    let (broken, tool) = (Gate::new(), Gate::new());
    f.held_tool("slow", &tool);
    let reply = Reply::new().call("c1", "slow", json!({})).hold(&broken);
    f.model.reply(goes_wrong(reply));
    for reply in later {
        f.model.reply(reply.clone());
    }
    f.prompt(&session, "Go").await;
    f.reached(&tool).await;
    f.leave(&session, "Later", Delivery::Queue).await;
    broken.release();
    f.recorded(&session, "step.failed gone").await;
    tool.release();
    f.wait(&session).await;
    if later.is_empty() {
        f.model.reply(Reply::says("I know."));
        f.model.reply(Reply::says("Later it is."));
        f.ask(&session, "And?").await;
        let request = &f.model.requests()[1];
        assert_eq!(
            compact::messages(request),
            ["user: Go", "assistant: c1 slow{}", "tool: c1 = {}", "user: And?"]
        );
    }
    let events = f.events(&session).await;
    let called = events.iter().position(|it| it == "tool.called c1 slow {}");
    events[called.unwrap() + 1..].to_vec()
}

#[tokio::test]
async fn a_running_tool_settles_after_the_exchange_broke_and_the_drain_ends() {
    let gone = || LlmError::invalid_output("mock", "gone");
    let events = while_a_tool_runs(|reply| reply.fail(gone()), &[]).await;
    assert_eq!(
        events[..6],
        [
            "prompt.admitted Later (queue)",
            "step.failed gone",
            "tool.success c1 {}",
            // Nothing went on by itself: the next prompt came first.
            "prompt.admitted And?",
            "prompted And?",
            "step.started",
        ]
    );
}

#[tokio::test]
async fn a_running_tool_settles_after_an_error_of_the_provider_and_the_drain_goes_on() {
    let goes_wrong = |reply: Reply| reply.provider_error("gone", ErrorKind::Overloaded);
    let events = while_a_tool_runs(goes_wrong, &[Reply::says("Later it is.")]).await;
    assert_eq!(
        events,
        [
            "prompt.admitted Later (queue)",
            "step.failed gone",
            "tool.success c1 {}",
            "prompted Later (queue)",
            "step.started",
            "text.started",
            "text.ended Later it is.",
            "step.ended stop",
        ]
    );
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
        f.events_after(&session, 3).await,
        [
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
        json!({"kind": "overloaded", "retryable": true})
    );
}

#[tokio::test]
async fn nothing_after_an_error_of_the_provider_counts() {
    let error = || Reply::new().text("Hi").provider_error("no", ErrorKind::Unknown);
    for reply in [
        error().text("more").stop(),
        error().text("more").stop().in_one_piece(),
        error().fail(lost()),
        error().provider_error("no again", ErrorKind::Unknown),
    ] {
        let f = Fixture::open().await;
        let session = f.session().await;
        f.leave(&session, "Hi", Delivery::Steer).await;
        f.model.reply(reply);
        let outcome = f.run(&session).await;
        assert!(matches!(outcome, DrainOutcome::Done), "{outcome:?}");
        assert_eq!(
            f.events_after(&session, 2).await,
            ["step.started", "text.started", "text.ended Hi", "step.failed no"]
        );
    }
}

#[tokio::test]
async fn an_answer_that_stops_without_a_finish_fails_its_step_and_the_drain() {
    const FAILED: &str = "step.failed The provider ended its answer without saying that it was done";
    for (reply, before) in [
        (Reply::nothing(), &["step.started"][..]),
        (Reply::new(), &["step.started"]),
        (
            Reply::new().text("Hello."),
            &["step.started", "text.started", "text.ended Hello."],
        ),
        (
            Reply::new().begin_text().delta("Hel"),
            &["step.started", "text.started", "text.ended Hel"],
        ),
    ] {
        let f = Fixture::open().await;
        let session = f.session().await;
        f.leave(&session, "Hi", Delivery::Steer).await;
        f.model.reply(reply);
        let outcome = f.run(&session).await;
        assert!(matches!(outcome, DrainOutcome::Failed(_)), "{outcome:?}");
        let mut expected = before.to_vec();
        expected.push(FAILED);
        assert_eq!(f.events_after(&session, 2).await, expected);
        let data = &f.payloads(&session, "step.failed").await[0];
        assert_eq!(
            data["error"]["cause"],
            json!({"kind": "invalid-output", "retryable": false})
        );
    }
}

#[tokio::test]
async fn a_tool_of_an_unfinished_answer_settles_and_nothing_follows() {
    let f = Fixture::open().await;
    let session = f.session().await;
    f.tool("echo", |input, _| async { output(input) });
    f.model.reply(Reply::new().call("c1", "echo", json!({})));
    f.ask(&session, "Go").await;
    let mut events = f.events_after(&session, 6).await;
    events.sort();
    assert_eq!(
        events,
        [
            "step.failed The provider ended its answer without saying that it was done",
            "tool.success c1 {}",
        ]
    );
}

#[tokio::test]
async fn a_call_that_a_provider_repeats_fails_the_step() {
    let f = Fixture::open().await;
    let session = f.session().await;
    f.tool("echo", |input, _| async { output(input) });
    let again = LlmEvent::ToolCall {
        id: "c1".into(),
        name: "echo".into(),
        input: json!({}),
        provider_executed: false,
        provider_metadata: None,
    };
    let reply = Reply::new()
        .call("c1", "echo", json!({}))
        .events([again])
        .tool_calls();
    f.model.reply(reply.in_one_piece());
    f.ask(&session, "Go").await;
    let events = f.events_after(&session, 3).await;
    assert_eq!(
        events,
        [
            "tool.input.started c1 echo",
            "tool.input.ended c1 {}",
            "tool.called c1 echo {}",
            "step.failed The provider repeated the tool call c1 in one message",
            "tool.success c1 {}",
        ]
    );
}
