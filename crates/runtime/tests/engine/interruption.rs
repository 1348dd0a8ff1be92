//! Interruptions: finished work stays on record, unfinished work is recorded as interrupted, and
//! earlier input does not run afterwards.

use opencode_runtime::DrainOutcome;
use opencode_schema::prompt::Delivery;
use opencode_testkit::{Fixture, Gate, Reply, compact, output};
use serde_json::json;

#[tokio::test]
async fn an_interrupted_text_keeps_its_received_part() {
    let f = Fixture::open().await;
    let session = f.session().await;
    let gate = Gate::new();
    f.model.reply(
        Reply::new()
            .begin_text()
            .delta("Long")
            .delta(" story")
            .hold(&gate),
    );
    f.prompt(&session, "Tell").await;
    f.reached(&gate).await;
    assert_eq!(f.runtime().active(), std::slice::from_ref(&session));
    f.interrupt(&session).await;
    assert_eq!(f.runtime().active(), []);
    assert_eq!(
        f.events(&session).await,
        [
            "prompt.admitted Tell",
            "prompted Tell",
            "step.started",
            "text.started",
            "text.ended Long story",
            "step.failed Provider turn interrupted",
        ]
    );
    // The request to the provider is dropped.
    f.dropped(&gate).await;
    assert_eq!(
        f.payloads(&session, "step.failed").await[0]["error"],
        json!({
            "type": "unknown",
            "message": "Provider turn interrupted",
            "cause": {"kind": "interrupted", "retryable": false},
        })
    );
    f.model.reply(Reply::says("Fresh."));
    f.ask(&session, "Again").await;
    assert_eq!(
        compact::messages(&f.model.last_request()),
        ["user: Tell", "assistant: Long story", "user: Again"]
    );
}

#[tokio::test]
async fn an_interruption_while_tools_run_fails_those_and_ends_the_step() {
    let f = Fixture::open().await;
    let session = f.session().await;
    let (gate, stream) = (Gate::new(), Gate::new());
    f.held_tool("slow", &gate)
        .tool("quick", |input, _| async { output(input) });
    let reply = Reply::new()
        .call("a", "slow", json!({}))
        .call("b", "quick", json!({}))
        .hold(&stream)
        .begin_text()
        .tool_calls();
    f.model.reply(reply);
    f.prompt(&session, "Go").await;
    f.reached(&gate).await;
    f.recorded(&session, "tool.success b {}").await;
    stream.release();
    f.recorded(&session, "text.ended").await;
    f.interrupt(&session).await;
    assert_eq!(
        f.events(&session).await,
        [
            "prompt.admitted Go",
            "prompted Go",
            "step.started",
            "tool.input.started a slow",
            "tool.input.ended a {}",
            "tool.called a slow {}",
            "tool.input.started b quick",
            "tool.input.ended b {}",
            "tool.called b quick {}",
            "tool.success b {}",
            "text.started",
            "text.ended",
            "tool.failed a Tool execution interrupted",
            "step.ended tool-calls",
        ]
    );
    f.dropped(&gate).await;
    f.model.reply(Reply::says("Fine."));
    f.ask(&session, "Stop that").await;
    assert_eq!(
        compact::messages(&f.model.last_request())[1..],
        [
            "assistant: a slow{} | b quick{}",
            "tool: a = failed: Tool execution interrupted",
            "tool: b = {}",
            "user: Stop that",
        ]
    );
}

#[tokio::test]
async fn an_interruption_of_an_unfinished_answer_fails_its_calls_then_its_step() {
    let f = Fixture::open().await;
    let session = f.session().await;
    let (tool, stream) = (Gate::new(), Gate::new());
    f.held_tool("slow", &tool);
    let reply = Reply::new()
        .call("a", "slow", json!({}))
        .begin_call("b", "slow", r#"{"n""#)
        .hold(&stream);
    f.model.reply(reply);
    f.prompt(&session, "Go").await;
    f.reached(&tool).await;
    f.reached(&stream).await;
    f.interrupt(&session).await;
    assert_eq!(
        f.events(&session).await,
        [
            "prompt.admitted Go",
            "prompted Go",
            "step.started",
            "tool.input.started a slow",
            "tool.input.ended a {}",
            "tool.called a slow {}",
            "tool.input.started b slow",
            r#"tool.input.ended b {"n""#,
            "tool.failed a Tool execution interrupted",
            "tool.failed b Tool execution interrupted",
            "step.failed Provider turn interrupted",
        ]
    );
}

#[tokio::test]
async fn an_interruption_before_any_output_is_recorded() {
    let f = Fixture::open().await;
    let session = f.session().await;
    let gate = Gate::new();
    f.model.reply(Reply::nothing().hold(&gate));
    f.prompt(&session, "Hi").await;
    f.reached(&gate).await;
    f.interrupt(&session).await;
    f.dropped(&gate).await;
    let events = ["prompt.admitted Hi", "prompted Hi", "interrupted"];
    assert_eq!(f.events(&session).await, events);
    let admitted = &f.payloads(&session, "prompt.admitted").await[0];
    let recorded = &f.payloads(&session, "interrupted").await[0];
    assert_eq!(recorded["messageID"], admitted["messageID"]);
    // The user stopped it, so neither this host nor the next one resumes it.
    assert_eq!(f.runtime().interrupted().await.unwrap(), []);
    // No drain is left to interrupt.
    f.interrupt(&session).await;
    assert_eq!(f.events(&session).await, events);
}

#[tokio::test]
async fn pending_inputs_wait_for_a_later_prompt() {
    let f = Fixture::open().await;
    let session = f.session().await;
    let gate = Gate::new();
    f.model.reply(Reply::nothing().hold(&gate));
    f.prompt(&session, "Go").await;
    f.reached(&gate).await;
    f.queue(&session, "Queued").await;
    f.prompt(&session, "Steer").await;
    f.interrupt(&session).await;
    assert_eq!(f.runtime().active(), []);
    assert_eq!(f.model.requests().len(), 1);
    f.model
        .reply(Reply::says("Both."))
        .reply(Reply::says("Queued."));
    f.ask(&session, "New").await;
    assert_eq!(
        f.events(&session).await,
        [
            "prompt.admitted Go",
            "prompted Go",
            "prompt.admitted Queued (queue)",
            "prompt.admitted Steer",
            "interrupted",
            "prompt.admitted New",
            "prompted Steer",
            "prompted New",
            "step.started",
            "text.started",
            "text.ended Both.",
            "step.ended stop",
            "prompted Queued (queue)",
            "step.started",
            "text.started",
            "text.ended Queued.",
            "step.ended stop",
        ]
    );
}

#[tokio::test]
async fn a_prompt_while_an_interruption_settles_runs_right_after_it() {
    let f = Fixture::open().await;
    let session = f.session().await;
    let gate = Gate::new();
    f.model
        .reply(Reply::new().begin_text().delta("Long").hold(&gate))
        .reply(Reply::says("Fresh."));
    f.prompt(&session, "Tell").await;
    f.reached(&gate).await;
    // The writer is held before the end of the settlement, and the prompt waits behind it.
    let hold = f.clock.hold_writer(1);
    let settles = f.interrupt(&session);
    let prompts = async {
        f.writer_held(&hold).await;
        let release = async {
            tokio::task::yield_now().await;
            drop(hold);
        };
        tokio::join!(f.prompt(&session, "Fresh start"), release);
    };
    tokio::join!(settles, prompts);
    f.wait(&session).await;
    assert_eq!(
        f.events_after(&session, 4).await,
        [
            "text.ended Long",
            "step.failed Provider turn interrupted",
            "prompt.admitted Fresh start",
            "prompted Fresh start",
            "step.started",
            "text.started",
            "text.ended Fresh.",
            "step.ended stop",
        ]
    );
}

#[tokio::test]
async fn the_caller_of_an_interrupted_run_receives_the_interruption() {
    let f = Fixture::open().await;
    let session = f.session().await;
    let gate = Gate::new();
    f.leave(&session, "Hi", Delivery::Steer).await;
    f.model.reply(Reply::new().begin_text().hold(&gate));
    let interruptions = async {
        f.reached(&gate).await;
        tokio::join!(f.interrupt(&session), f.interrupt(&session));
    };
    let (outcome, ()) = tokio::join!(f.run(&session), interruptions);
    assert!(matches!(outcome, DrainOutcome::Interrupted), "{outcome:?}");
}

#[tokio::test]
async fn an_interruption_waits_for_pending_writes() {
    let f = Fixture::open().await;
    let session = f.session().await;
    f.leave(&session, "Hi", Delivery::Steer).await;
    // The writer is held in the promotion.
    let hold = f.clock.hold_writer(0);
    let (runtime, id) = (f.runtime().clone(), session.clone());
    let run = tokio::spawn(async move { runtime.run(&id).await });
    f.writer_held(&hold).await;
    let interrupted = async {
        f.interrupt(&session).await;
        f.events(&session).await
    };
    let release = async {
        // Each read goes to the disk and back, so an interruption that does not wait has returned by now.
        for _ in 0..20 {
            f.events(&session).await;
        }
        drop(hold);
    };
    let (events, ()) = tokio::join!(interrupted, release);
    assert_eq!(events, ["prompt.admitted Hi", "prompted Hi", "interrupted"]);
    let outcome = f.within("run", run).await.unwrap().unwrap();
    assert!(matches!(outcome, DrainOutcome::Interrupted), "{outcome:?}");
    assert_eq!(f.model.requests().len(), 0);
}
