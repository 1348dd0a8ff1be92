//! Invalid answers: they stop too early, are too long, or contradict themselves.

use opencode_llm::error::TransportKind;
use opencode_llm::{ErrorKind, FinishReason, LlmError, LlmEvent};
use opencode_runtime::DrainOutcome;
use opencode_schema::prompt::Delivery;
use opencode_testkit::{Fixture, Gate, Reply, output};
use serde_json::json;

const UNFINISHED: &str =
    "step.failed The provider ended its answer without saying that it was done";

#[tokio::test]
async fn events_after_an_error_of_the_provider_are_ignored() {
    let error = || {
        Reply::new()
            .text("Hi")
            .provider_error("no", ErrorKind::Unknown)
    };
    for reply in [
        error().text("more").stop(),
        error().text("more").stop().in_one_piece(),
        error().fail(LlmError::transport(TransportKind::Exchange, None, "lost")),
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
            [
                "step.started",
                "text.started",
                "text.ended Hi",
                "step.failed no"
            ]
        );
    }
}

#[tokio::test]
async fn an_answer_that_stops_without_a_finish_fails_its_step_and_the_drain() {
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
        expected.push(UNFINISHED);
        assert_eq!(f.events_after(&session, 2).await, expected);
        let data = &f.payloads(&session, "step.failed").await[0];
        assert_eq!(
            data["error"]["cause"],
            json!({"kind": "invalid-output", "retryable": false, "providerID": "mock"})
        );
    }
}

#[tokio::test]
async fn a_tool_of_an_unfinished_answer_settles_and_no_turn_follows() {
    let f = Fixture::open().await;
    let session = f.session().await;
    f.tool("echo", |input, _| async { output(input) });
    f.model.reply(Reply::new().call("c1", "echo", json!({})));
    f.ask(&session, "Go").await;
    let mut events = f.events_after(&session, 6).await;
    events.sort();
    assert_eq!(events, [UNFINISHED, "tool.success c1 {}",]);
}

#[tokio::test]
async fn the_calls_of_an_answer_that_failed_do_not_run() {
    let failed = "The call did not run, because the answer failed: cut";
    for reply in [
        Reply::new().text("Half").call("c1", "echo", json!({})),
        Reply::new().text("Half").begin_call("c1", "echo", "{}"),
    ] {
        let f = Fixture::open().await;
        let session = f.session().await;
        f.tool("echo", |_, _| async { panic!("it must not run") });
        let reply = reply.provider_error("cut", ErrorKind::Overloaded);
        f.model.reply(reply.in_one_piece());
        f.ask(&session, "Go").await;
        let events = f.events_after(&session, 4).await;
        let [.., failed_call, ended] = &events[..] else {
            panic!("{events:?}");
        };
        assert_eq!(ended, "step.failed cut");
        assert_eq!(*failed_call, format!("tool.failed c1 {failed}"));
        let error = &f.payloads(&session, "tool.failed").await[0]["error"];
        assert_eq!(error["cause"]["kind"], "overloaded");
        // The next turn has a result for the call.
        f.model.reply(Reply::says("Fine."));
        f.ask(&session, "Again").await;
        let request = format!("{:?}", f.model.last_request().messages);
        assert!(request.contains("Half"), "{request}");
        assert!(request.contains(failed), "{request}");
    }
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
            "tool.failed c1 The call did not run, because the answer failed: The provider repeated the tool call c1 in one message",
            "step.failed The provider repeated the tool call c1 in one message",
        ]
    );
}

#[tokio::test]
async fn an_answer_that_finishes_inside_a_call_fails_the_step() {
    let f = Fixture::open().await;
    let session = f.session().await;
    let reply = Reply::new().begin_call("c1", "echo", "{").tool_calls();
    f.model.reply(reply).reply(Reply::says("Sorry."));
    f.ask(&session, "Go").await;
    f.ask(&session, "Again").await;
    assert_eq!(
        f.events(&session).await,
        [
            "prompt.admitted Go",
            "prompted Go",
            "step.started",
            "tool.input.started c1 echo",
            "tool.input.ended c1 {",
            "tool.failed c1 The call did not run, because the answer failed: The provider finished its answer inside the tool call c1",
            "step.failed The provider finished its answer inside the tool call c1",
            "prompt.admitted Again",
            "prompted Again",
            "step.started",
            "text.started",
            "text.ended Sorry.",
            "step.ended stop",
        ]
    );
    assert_eq!(
        f.payloads(&session, "step.failed").await[0]["error"]["cause"],
        json!({"kind": "invalid-output", "retryable": false, "providerID": "mock"})
    );
}

/// The limit of output tokens cut the input of the call, so the call cannot run.
#[tokio::test]
async fn an_answer_whose_limit_cuts_a_call_fails_the_step() {
    let f = Fixture::open().await;
    let session = f.session().await;
    let reply = Reply::new().begin_call("c1", "echo", "{");
    f.model.reply(reply.finish(FinishReason::Length));
    f.ask(&session, "Go").await;
    let failed = &f.payloads(&session, "step.failed").await[0]["error"];
    assert_eq!(
        failed["message"],
        "The provider finished its answer inside the tool call c1. The answer reached its limit of output tokens"
    );
    assert_eq!(
        failed["cause"],
        json!({"kind": "output-length", "retryable": false, "providerID": "mock"})
    );
}

#[tokio::test]
async fn escaped_text_counts_with_its_stored_length() {
    let f = Fixture::open().await;
    let session = f.session().await;
    // Each character takes six bytes as JSON.
    f.model
        .reply(Reply::says(&"\u{1}".repeat(11 * 1024 * 1024)));
    f.ask(&session, "Say nothing").await;
    let last = f.events_after(&session, 2).await.pop();
    let expected = "step.failed The provider sent more than 67108864 bytes in one answer";
    assert_eq!(last.as_deref(), Some(expected));
}

#[tokio::test]
async fn an_endless_answer_is_cut() {
    const PIECE: usize = 16 * 1024 * 1024;
    let f = Fixture::open().await;
    let session = f.session().await;
    let gate = Gate::new();
    // Deltas of a block that never began are not kept, but they count.
    let endless = |reply: Reply, _| reply.delta(&"x".repeat(PIECE));
    let reply = (0..5).fold(Reply::new(), endless);
    f.model.reply(reply.hold(&gate));
    f.ask(&session, "Go on for ever").await;
    f.dropped(&gate).await;
    assert_eq!(
        f.events_after(&session, 2).await,
        [
            "step.started",
            "step.failed The provider sent more than 67108864 bytes in one answer",
        ]
    );
}
