//! A user declines a call: the other calls of its step are interrupted, the step is closed, the drain ends.

use opencode_runtime::DrainOutcome;
use opencode_schema::prompt::Delivery;
use opencode_testkit::{Fixture, Gate, Reply, compact};
use opencode_tools::ToolFailure;
use serde_json::json;

use crate::flow;

/// Adds a tool whose call is declined when the gate is open.
fn declining_tool(f: &Fixture, gate: &Gate) {
    let gate = gate.clone();
    f.tool("ask", move |_, _| {
        let gate = gate.clone();
        async move {
            gate.pass().await;
            Err(ToolFailure::Declined)
        }
    });
}

#[tokio::test]
async fn a_declined_call_ends_the_drain_with_a_closed_step() {
    let f = Fixture::open().await;
    let session = f.session().await;
    let (sibling, ask) = (Gate::new(), Gate::new());
    f.held_tool("sibling", &sibling);
    declining_tool(&f, &ask);
    let reply = Reply::new()
        .call("a", "sibling", json!({}))
        .call("b", "ask", json!({}))
        .begin_text()
        .delta("I will.")
        .tool_calls();
    f.model.reply(reply);
    f.leave(&session, "Later", Delivery::Queue).await;
    f.leave(&session, "Go", Delivery::Steer).await;
    let (runtime, id) = (f.runtime().clone(), session.clone());
    let run = tokio::spawn(async move { runtime.run(&id).await });
    f.reached(&sibling).await;
    f.reached(&ask).await;
    f.recorded(&session, "text.ended I will.").await;
    ask.release();
    let outcome = f.within("run", run).await.unwrap().unwrap();
    assert!(matches!(outcome, DrainOutcome::Interrupted), "{outcome:?}");
    f.dropped(&sibling).await;
    assert_eq!(
        f.events_after(&session, 11).await,
        [
            "text.ended I will.",
            "tool.failed a Tool execution interrupted",
            "tool.failed b Tool execution interrupted",
            "step.ended tool-calls",
        ]
    );
    // The log distinguishes the declined call from the call that was interrupted as a consequence.
    let failed = f.payloads(&session, "tool.failed").await;
    let kinds = failed.iter().map(|it| &it["error"]["cause"]["kind"]);
    assert_eq!(kinds.collect::<Vec<_>>(), ["interrupted", "declined"]);
    assert_eq!(f.runtime().interrupted().await.unwrap(), []);
    // Pending input waits for the next wake.
    f.model
        .reply(Reply::says("Fine."))
        .reply(Reply::says("Later it is."));
    let before = f.events(&session).await.len();
    f.ask(&session, "Go on").await;
    assert_eq!(
        flow(&f.events_after(&session, before).await),
        [
            "prompted Go on",
            "step.started",
            "prompted Later (queue)",
            "step.started",
        ]
    );
}

#[tokio::test]
async fn a_call_that_is_declined_during_the_answer_also_ends_the_answer() {
    let f = Fixture::open().await;
    let session = f.session().await;
    let (ask, stream) = (Gate::new(), Gate::new());
    declining_tool(&f, &ask);
    let reply = Reply::new()
        .call("a", "ask", json!({}))
        .begin_text()
        .delta("I will")
        .hold(&stream);
    f.model.reply(reply);
    f.prompt(&session, "Go").await;
    f.reached(&stream).await;
    ask.release();
    f.dropped(&stream).await;
    f.wait(&session).await;
    assert_eq!(
        f.events_after(&session, 3).await,
        [
            "tool.input.started a ask",
            "tool.input.ended a {}",
            "tool.called a ask {}",
            "text.started",
            "text.ended I will",
            "tool.failed a Tool execution interrupted",
            "step.failed Provider turn interrupted",
        ]
    );
}

#[tokio::test]
async fn inputs_woken_before_a_call_was_declined_stay_pending() {
    let f = Fixture::open().await;
    let session = f.session().await;
    let ask = Gate::new();
    declining_tool(&f, &ask);
    f.model.reply(Reply::calls("a", "ask", json!({})));
    f.prompt(&session, "Go").await;
    f.reached(&ask).await;
    f.recorded(&session, "tool.called a ask {}").await;
    f.queue(&session, "Queued").await;
    f.prompt(&session, "Steer").await;
    ask.release();
    f.wait(&session).await;
    assert_eq!(
        f.events(&session).await,
        [
            "prompt.admitted Go",
            "prompted Go",
            "step.started",
            "tool.input.started a ask",
            "tool.input.ended a {}",
            "tool.called a ask {}",
            "prompt.admitted Queued (queue)",
            "prompt.admitted Steer",
            "tool.failed a Tool execution interrupted",
            "step.ended tool-calls",
        ]
    );
    assert_eq!(f.inbox(&session).await, ["Queued (queue)", "Steer"]);
    assert_eq!(f.model.requests().len(), 1);
}

#[tokio::test]
async fn inputs_woken_after_a_call_was_declined_run_after_the_drain() {
    let f = Fixture::open().await;
    let session = f.session().await;
    let ask = Gate::new();
    declining_tool(&f, &ask);
    f.model
        .reply(Reply::calls("a", "ask", json!({})).in_one_piece())
        .reply(Reply::says("Fine."));
    f.prompt(&session, "Go").await;
    f.reached(&ask).await;
    f.queue(&session, "Queued").await;
    // The writer is held in the settlement, and the prompt waits behind it.
    let hold = f.clock.hold_writer(0);
    ask.release();
    f.writer_held(&hold).await;
    let release = async {
        tokio::task::yield_now().await;
        drop(hold);
    };
    f.model.reply(Reply::says("Later."));
    tokio::join!(f.prompt(&session, "Something else"), release);
    f.wait(&session).await;
    assert_eq!(
        flow(&f.events_after(&session, 2).await),
        [
            "step.started",
            "prompted Something else",
            "step.started",
            "prompted Queued (queue)",
            "step.started",
        ]
    );
    assert_eq!(
        compact::messages(&f.model.requests()[1]),
        [
            "user: Go",
            "assistant: a ask{}",
            "tool: a = failed: Tool execution interrupted",
            "user: Something else",
        ]
    );
}
