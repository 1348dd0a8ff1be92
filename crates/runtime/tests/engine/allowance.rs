//! The number of Provider Turns that one input allows.

use opencode_runtime::DrainOutcome;
use opencode_schema::prompt::Delivery;
use opencode_testkit::{Fixture, Gate, Reply, output};
use serde_json::json;

/// Number of turns that one promotion allows.
const ALLOWANCE: usize = 25;

/// A session with a model that calls a tool in every answer.
async fn session_that_never_settles() -> (Fixture, opencode_schema::id::SessionID) {
    let f = Fixture::open().await;
    f.allow_repetition();
    let session = f.session().await;
    f.tool("echo", |input, _| async { output(input) });
    // Some providers repeat the same call id in each answer.
    f.model
        .otherwise(|_| Reply::calls("c1", "echo", json!({})).in_one_piece());
    (f, session)
}

#[tokio::test]
async fn a_drain_ends_when_the_allowance_is_used_up_and_reports_it() {
    let (f, session) = session_that_never_settles().await;
    let mut live = f.live();
    f.leave(&session, "Go", Delivery::Steer).await;
    let outcome = f.run(&session).await;
    let DrainOutcome::Failed(error) = &outcome else {
        panic!("{outcome:?}")
    };
    assert_eq!(error.tag(), "StepLimitExceeded");
    assert_eq!(f.model.requests().len(), ALLOWANCE);
    let turn = [
        "step.started",
        "tool.input.started c1 echo",
        "tool.input.ended c1 {}",
        "tool.called c1 echo {}",
        "tool.success c1 {}",
        "step.ended tool-calls",
    ];
    let events = f.events(&session).await;
    let asked = ["prompt.admitted Go", "prompted Go"];
    assert_eq!(events, [&asked[..], &turn.repeat(ALLOWANCE)].concat());
    f.read_until(&mut live, &format!("session.error {error}"))
        .await;
    assert_eq!(
        live.values().last().unwrap()["data"]["error"]["cause"],
        json!({"kind": "step-limit", "retryable": false})
    );
    assert_eq!(f.events(&session).await, events);
    assert_eq!(f.interrupted().await, []);
    // A new prompt allows the same number of turns again.
    f.ask(&session, "Go on").await;
    assert_eq!(f.model.requests().len(), 2 * ALLOWANCE);
}

#[tokio::test]
async fn a_steer_renews_the_allowance() {
    let (f, session) = session_that_never_settles().await;
    let gate = Gate::new();
    for _ in 1..ALLOWANCE {
        f.model.reply(Reply::calls("c1", "echo", json!({})));
    }
    let last = Reply::new()
        .call("c1", "echo", json!({}))
        .hold(&gate)
        .tool_calls();
    f.model.reply(last);
    f.prompt(&session, "Go").await;
    f.reached(&gate).await;
    assert_eq!(f.model.requests().len(), ALLOWANCE);
    f.prompt(&session, "Go on").await;
    gate.release();
    f.wait(&session).await;
    assert_eq!(f.model.requests().len(), 2 * ALLOWANCE);
}

#[tokio::test]
async fn the_last_turn_of_an_allowance_may_be_the_end() {
    let f = Fixture::open().await;
    f.allow_repetition();
    let session = f.session().await;
    f.tool("echo", |input, _| async { output(input) });
    for _ in 1..ALLOWANCE {
        f.model.reply(Reply::calls("c1", "echo", json!({})));
    }
    f.model.reply(Reply::says("Done."));
    f.leave(&session, "Go", Delivery::Steer).await;
    let outcome = f.run(&session).await;
    assert!(matches!(outcome, DrainOutcome::Done), "{outcome:?}");
    assert_eq!(f.model.requests().len(), ALLOWANCE);
}
