//! A person declines a call: its siblings are cut, its step is closed, the drain ends.

use opencode_runtime::DrainOutcome;
use opencode_schema::prompt::Delivery;
use opencode_testkit::{Fixture, Gate, Reply};
use opencode_tools::ToolFailure;
use serde_json::json;

use crate::flow;

/// A tool that is declined once the gate is open.
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
    // What was queued waits for the next wake.
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
async fn a_call_declined_while_the_answer_goes_on_ends_the_answer_too() {
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
