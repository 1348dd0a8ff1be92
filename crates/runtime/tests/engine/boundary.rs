//! The Safe Provider-Turn Boundary: the events that are written together between two requests, and
//! their order.

use opencode_llm::LlmEvent;
use opencode_schema::id::SessionID;
use opencode_schema::prompt::Delivery;
use opencode_testkit::{Fixture, Gate, Reply, ScriptedSource, compact, output};
use serde_json::json;

use crate::flow;

#[tokio::test]
async fn the_promotions_of_one_boundary_are_visible_together() {
    let f = Fixture::open().await;
    let session = f.session().await;
    for text in ["1", "2", "3"] {
        f.leave(&session, text, Delivery::Steer).await;
    }
    f.model.reply(Reply::says("All three."));
    // The writer has appended two promotions and is held before the third.
    let hold = f.clock.hold_writer(2);
    let (runtime, id) = (f.runtime().clone(), session.clone());
    let run = tokio::spawn(async move { runtime.run(&id).await });
    f.writer_held(&hold).await;
    let admitted = [
        "prompt.admitted 1",
        "prompt.admitted 2",
        "prompt.admitted 3",
    ];
    assert_eq!(f.events(&session).await, admitted);
    assert!(f.messages(&session).await.is_empty());
    drop(hold);
    f.within("run", run).await.unwrap().unwrap();
    assert_eq!(
        f.events(&session).await[..6],
        [&admitted[..], &["prompted 1", "prompted 2", "prompted 3"]].concat()
    );
}

#[tokio::test]
async fn the_events_of_one_piece_of_an_answer_are_visible_together() {
    let f = Fixture::open().await;
    let session = f.session().await;
    f.tool("echo", |input, _| async { output(input) });
    // Streamed arguments would be announced as they arrive, and would split the recorded batch.
    let call = |id: &str| LlmEvent::ToolCall {
        id: id.into(),
        name: "echo".into(),
        input: json!({}),
        provider_executed: false,
        provider_metadata: None,
    };
    let reply = Reply::new().events([call("a"), call("b")]).tool_calls();
    f.model.reply(reply).reply(Reply::says("Done."));
    f.leave(&session, "Go", Delivery::Steer).await;
    // The promotion and the step take one identifier each, and each call takes three. The writer is
    // held before the last one.
    let hold = f.clock.hold_writer(7);
    let (runtime, id) = (f.runtime().clone(), session.clone());
    let run = tokio::spawn(async move { runtime.run(&id).await });
    f.writer_held(&hold).await;
    let before = ["prompt.admitted Go", "prompted Go"];
    assert_eq!(f.events(&session).await, before);
    drop(hold);
    f.within("run", run).await.unwrap().unwrap();
    assert_eq!(
        f.events(&session).await[2..9],
        [
            "step.started",
            "tool.input.started a echo",
            "tool.input.ended a",
            "tool.called a echo {}",
            "tool.input.started b echo",
            "tool.input.ended b",
            "tool.called b echo {}",
        ]
    );
}

#[tokio::test]
async fn a_message_has_the_time_of_its_admission() {
    let f = Fixture::open().await;
    let session = f.session().await;
    let receipt = f.leave(&session, "Hi", Delivery::Steer).await;
    f.clock.advance(60_000);
    f.model.reply(Reply::says("Hello."));
    f.run(&session).await;
    let stored = f.stored(&session).await;
    let times: Vec<_> = stored.iter().map(|event| event.timestamp).collect();
    let (then, now) = (receipt.time_created, receipt.time_created + 60_000);
    assert_eq!(times, [then, then, now, now, now, now]);
    let messages = serde_json::to_value(f.messages(&session).await).unwrap();
    assert_eq!(messages[0]["time"], json!({"created": then}));
    assert_eq!(
        messages[1]["time"],
        json!({"created": now, "completed": now})
    );
}

/// A session with an epoch. Its next observation waits at the gate.
async fn observing() -> (Fixture, SessionID, ScriptedSource, Gate) {
    let f = Fixture::open().await;
    let session = f.session().await;
    let source = ScriptedSource::telling("acme/rules", "one");
    let directory = f.project.directory();
    // The source stays registered as long as the host runs.
    std::mem::forget(f.contribute(&directory, &source));
    f.model.otherwise(|_| Reply::says("Yes."));
    f.ask(&session, "1").await;
    let gate = Gate::new();
    source.hold(&gate);
    (f, session, source, gate)
}

#[tokio::test]
async fn inputs_are_promoted_before_the_system_context_is_observed() {
    let (f, session, source, gate) = observing().await;
    source.set("two");
    f.prompt(&session, "2").await;
    f.reached(&gate).await;
    let events = f.events(&session).await;
    assert_eq!(events.last().unwrap(), "prompted 2");
    // An input that arrives during the observation belongs to the next turn.
    f.prompt(&session, "3").await;
    gate.release();
    f.wait(&session).await;
    let events = f.events_after(&session, events.len()).await;
    assert_eq!(
        flow(&events),
        ["step.started", "prompted 3", "step.started"]
    );
    assert_eq!(
        compact::messages(&f.model.requests()[1]),
        [
            "user: 1",
            "assistant: Yes.",
            "user: 2",
            "system: acme/rules is now two"
        ]
    );
}

#[tokio::test]
async fn an_input_stays_promoted_when_its_observation_is_interrupted() {
    let (f, session, _, gate) = observing().await;
    let before = f.events(&session).await.len();
    f.prompt(&session, "2").await;
    f.reached(&gate).await;
    f.interrupt(&session).await;
    assert_eq!(
        f.events_after(&session, before).await,
        ["prompt.admitted 2", "prompted 2", "interrupted"]
    );
    assert!(f.interrupted().await.is_empty());
}

#[tokio::test]
async fn an_input_stays_pending_when_the_first_observation_is_interrupted() {
    let f = Fixture::open().await;
    let session = f.session().await;
    let (source, gate) = (ScriptedSource::telling("acme/rules", "one"), Gate::new());
    source.hold(&gate);
    let directory = f.project.directory();
    std::mem::forget(f.contribute(&directory, &source));
    f.prompt(&session, "1").await;
    f.reached(&gate).await;
    f.interrupt(&session).await;
    assert_eq!(f.events(&session).await, ["prompt.admitted 1"]);
}
