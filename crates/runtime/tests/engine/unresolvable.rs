//! Models that are available for one Provider Turn and not for the next.

use opencode_runtime::DrainOutcome;
use opencode_schema::id::SessionID;
use opencode_schema::model::ModelRef;
use opencode_schema::prompt::Delivery;
use opencode_testkit::{Fixture, Gate, Reply, compact, output};
use serde_json::json;

const MISSING: &str = "The model mock/m9 is not available: the provider has no model of this id. It has m1, m2. Add it under the provider's `models` or select another one";

/// A running turn that is held before its end, while the session switches to a model that does not exist.
async fn chooses_nothing(f: &Fixture, reply: impl Fn(&Gate) -> Reply) -> (SessionID, Gate) {
    let session = f.session_on("m1").await;
    let gate = Gate::new();
    f.model.reply(reply(&gate));
    f.leave(&session, "Go", Delivery::Steer).await;
    let (runtime, id) = (f.runtime().clone(), session.clone());
    tokio::spawn(async move { runtime.run(&id).await });
    f.reached(&gate).await;
    f.switch_model(&session, "m9").await;
    (session, gate)
}

#[tokio::test]
async fn an_unresolvable_following_turn_is_a_failed_step() {
    let f = Fixture::open().await;
    f.tool("echo", |input, _| async { output(input) });
    let mut live = f.live();
    let calls = |gate: &Gate| {
        Reply::new()
            .hold(gate)
            .call("c1", "echo", json!({}))
            .tool_calls()
            .in_one_piece()
    };
    let (session, gate) = chooses_nothing(&f, calls).await;
    f.leave(&session, "And?", Delivery::Steer).await;
    let (runtime, id) = (f.runtime().clone(), session.clone());
    let joined = tokio::spawn(async move { runtime.run(&id).await });
    gate.release();
    let outcome = f.within("run", joined).await.unwrap().unwrap();
    let DrainOutcome::Failed(error) = &outcome else {
        panic!("{outcome:?}")
    };
    assert_eq!(
        (error.tag(), &*error.to_string()),
        ("ModelUnavailable", MISSING)
    );
    assert_eq!(
        f.events(&session).await,
        [
            "prompt.admitted Go",
            "prompted Go",
            "model.switched mock m9",
            "prompt.admitted And?",
            "step.started",
            "tool.input.started c1 echo",
            "tool.input.ended c1 {}",
            "tool.called c1 echo {}",
            "tool.success c1 {}",
            "step.ended tool-calls",
            "step.started",
            &format!("step.failed {MISSING}"),
        ]
    );
    assert_eq!(
        f.payloads(&session, "step.started").await[1]["model"],
        json!({"id": "m9", "providerID": "mock", "variant": "default"})
    );
    assert_eq!(
        f.payloads(&session, "step.failed").await[0]["error"],
        json!({
            "type": "unknown",
            "message": MISSING,
            "cause": {"kind": "invalid-request", "retryable": false},
        })
    );
    // The input is still pending. It is promoted when a model is available.
    assert_eq!(f.inbox(&session).await, ["And?"]);
    f.switch_model(&session, "m2").await;
    f.model.reply(Reply::says("Done."));
    f.run(&session).await;
    assert_eq!(
        compact::messages(&f.model.last_request()),
        [
            "user: Go",
            "assistant: c1 echo{}",
            "tool: c1 = {}",
            "user: And?",
            "system: You are now the model m2 of the provider mock.",
        ]
    );
    f.close().await;
    f.read_to_end(&mut live).await;
    let announced = live.events();
    let errors = announced
        .iter()
        .filter(|it| it.starts_with("session.error"));
    assert_eq!(
        errors.collect::<Vec<_>>(),
        [&format!("session.error {MISSING}")]
    );
}

#[tokio::test]
async fn a_steer_for_an_unresolvable_turn_stays_pending() {
    let f = Fixture::open().await;
    let mut live = f.live();
    let (session, gate) =
        chooses_nothing(&f, |gate| Reply::new().text("One.").hold(gate).stop()).await;
    f.leave(&session, "And?", Delivery::Steer).await;
    gate.release();
    f.wait(&session).await;
    assert_eq!(
        f.events_after(&session, 2).await,
        [
            "step.started",
            "text.started",
            "text.ended One.",
            "model.switched mock m9",
            "prompt.admitted And?",
            "step.ended stop",
        ]
    );
    assert_eq!(f.inbox(&session).await, ["And?"]);
    f.read_until(&mut live, &format!("session.error {MISSING}"))
        .await;
}

#[tokio::test]
async fn a_session_without_a_model_uses_that_of_its_agent() {
    let f = Fixture::open().await;
    let config = json!({
        "provider": {"mock": {"models": {"m1": {"variants": {"high": {}}}}}},
        "agent": {
            "build": {"model": "mock/m2"},
            "plan": {"model": "mock/m1#high"},
            "plain": {},
            "lost": {"model": "mock/m9"},
        },
    });
    f.project.write("opencode.json", &config.to_string());
    f.model.otherwise(|_| Reply::says("Hello."));
    let (session, chosen) = (f.session().await, f.session_on("m1").await);
    f.ask(&chosen, "Hi").await;
    for agent in ["build", "plan", "plain"] {
        let switched = f.runtime().switch_agent(&session, agent.to_owned());
        f.within("switch agent", switched).await.unwrap();
        f.ask(&session, "Hi").await;
    }
    let models = async |session: &SessionID| -> Vec<ModelRef> {
        let started = f.payloads(session, "step.started").await.into_iter();
        let models = started.map(|step| serde_json::from_value(step["model"].clone()).unwrap());
        models.collect()
    };
    let model = |id: &str, variant: Option<&str>| ModelRef {
        id: id.to_owned(),
        provider_id: "mock".to_owned(),
        variant: variant.map(str::to_owned),
    };
    assert_eq!(models(&chosen).await, [model("m1", Some("default"))]);
    assert_eq!(
        models(&session).await,
        [
            model("m2", None),
            model("m1", Some("high")),
            model("m1", None)
        ]
    );
    assert_eq!(f.info(&session).await.model, None);
    // An unavailable model is not replaced by another one.
    let switched = f.runtime().switch_agent(&session, "lost".to_owned());
    f.within("switch agent", switched).await.unwrap();
    f.ask(&session, "Still there?").await;
    assert_eq!(f.inbox(&session).await, ["Still there?"]);
}
