//! Changes between the Safe Provider-Turn Boundary and its request: the request uses the Location,
//! agent and model that the session has at its dispatch.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use opencode_llm::LlmRequest;
use opencode_runtime::{Moment, TestHook};
use opencode_schema::id::SessionID;
use opencode_testkit::{Blockade, Fixture, Gate, Reply, ScriptedSource, compact, test_hook};
use serde_json::{Value, json};

use crate::holds;

/// A turn that has promoted its input and waits for the history of its request.
struct Prepared {
    f: Fixture,
    session: SessionID,
    blockade: Blockade,
}

/// Once armed, blocks the first read after a promotion, which is the read of the history.
pub(crate) fn history(armed: Arc<AtomicBool>, blockade: Blockade) -> Arc<dyn TestHook> {
    let is_promoted = AtomicBool::new(false);
    test_hook(move |moment| {
        match moment {
            Moment::Committed(entries) if holds(entries, "session.next.prompted") => {
                let is_armed = armed.load(Ordering::SeqCst);
                is_promoted.store(is_armed, Ordering::SeqCst);
            }
            Moment::Read if is_promoted.swap(false, Ordering::SeqCst) => blockade.pass(),
            _ => {}
        }
        Ok(())
    })
}

async fn prepared() -> Prepared {
    let agents = json!({"build": {"prompt": "Build."}, "other": {"prompt": "Other."}});
    prepared_after(&[], &json!({"agent": agents})).await
}

/// The same after the answers to earlier prompts, with this configuration.
async fn prepared_after(earlier: &[&str], config: &Value) -> Prepared {
    let (armed, blockade) = (Arc::new(AtomicBool::new(false)), Blockade::new());
    let test_hook = history(Arc::clone(&armed), blockade.clone());
    let f = Fixture::with(move |options| options.test_hook = Some(Arc::clone(&test_hook))).await;
    f.project.write("one/AGENTS.md", "Rules of one.");
    f.project.write("two/AGENTS.md", "Rules of two.");
    f.project.write("opencode.json", &config.to_string());
    f.project.git();
    let session = f.session().await;
    f.move_to(&session, folder(&f, "one")).await;
    f.model.otherwise(|_| Reply::says("Done."));
    for text in earlier {
        f.ask(&session, text).await;
    }
    armed.store(true, Ordering::SeqCst);
    f.prompt(&session, "Go").await;
    f.blocked(&blockade).await;
    Prepared {
        f,
        session,
        blockade,
    }
}

fn folder(f: &Fixture, name: &str) -> String {
    f.project.path(name).to_string_lossy().into_owned()
}

impl Prepared {
    /// Continues the turn and returns the requests that were sent.
    async fn sent(&self) -> Vec<LlmRequest> {
        self.blockade.release();
        self.f.wait(&self.session).await;
        self.f.model.requests()
    }

    /// The events from the promotion on.
    async fn recorded(&self) -> Vec<String> {
        let events = self.f.events(&self.session).await.into_iter();
        let events = events.skip_while(|event| !event.starts_with("prompted"));
        events.collect()
    }
}

fn system(request: &LlmRequest) -> String {
    let texts = request.system.iter().map(|part| part.text.to_string());
    texts.collect::<Vec<_>>().join("\n")
}

#[tokio::test]
async fn a_move_before_the_dispatch_sends_the_request_for_the_destination() {
    let turn = prepared().await;
    let two = folder(&turn.f, "two");
    turn.f.move_to(&turn.session, &two).await;
    let requests = turn.sent().await;
    assert_eq!(requests.len(), 1);
    let context = system(&requests[0]);
    assert!(context.contains(&two), "{context}");
    assert!(context.contains("Rules of two."), "{context}");
    assert!(!context.contains("Rules of one."), "{context}");
    assert_eq!(compact::messages(&requests[0]), ["user: Go"]);
    assert_eq!(
        turn.recorded().await,
        [
            "prompted Go",
            &format!("moved {two} two"),
            "step.started",
            "text.started",
            "text.ended Done.",
            "step.ended stop",
        ]
    );
}

#[tokio::test]
async fn a_session_that_left_and_returned_before_the_dispatch_starts_a_new_epoch() {
    let turn = prepared().await;
    for name in ["two", "one"] {
        turn.f.move_to(&turn.session, folder(&turn.f, name)).await;
    }
    let requests = turn.sent().await;
    assert_eq!(requests.len(), 1);
    assert!(system(&requests[0]).contains("Rules of one."));
    let payloads = turn.f.payloads(&turn.session, "step.started").await;
    assert_eq!(payloads.len(), 1);
}

#[tokio::test]
async fn an_agent_that_is_chosen_before_the_dispatch_answers() {
    let turn = prepared().await;
    turn.f.switch_agent(&turn.session, "other").await;
    let requests = turn.sent().await;
    assert_eq!(requests.len(), 1);
    assert_eq!(&*requests[0].system[0].text, "Other.");
    let started = turn.f.payloads(&turn.session, "step.started").await;
    assert_eq!(started[0]["agent"], "other");
}

#[tokio::test]
async fn a_model_that_is_chosen_before_the_dispatch_answers() {
    let turn = prepared().await;
    turn.f.switch_model(&turn.session, "m2").await;
    let requests = turn.sent().await;
    assert_eq!(requests.len(), 1);
    assert_eq!(requests[0].model.id, "m2");
    let started = turn.f.payloads(&turn.session, "step.started").await;
    assert_eq!(started[0]["model"]["id"], "m2");
}

#[tokio::test]
async fn no_checkpoint_is_made_with_a_replaced_model() {
    let limit = json!({"context": 4_000, "output": 500});
    let config = json!({
        "compaction": {"buffer": 1_000, "keep": {"tokens": 100}},
        "provider": {"mock": {"models": {"m1": {"limit": limit}}}},
    });
    let long = "word ".repeat(3_000);
    for (is_switched, checkpoints, last) in [(false, 1, "m1"), (true, 0, "m2")] {
        let turn = prepared_after(&[&long], &config).await;
        if is_switched {
            turn.f.switch_model(&turn.session, "m2").await;
        }
        let requests = turn.sent().await;
        assert_eq!(requests.last().unwrap().model.id, last);
        let started = turn.f.payloads(&turn.session, "compaction.started").await;
        assert_eq!(started.len(), checkpoints, "{is_switched}");
    }
}

#[tokio::test]
async fn a_missing_model_at_the_dispatch_fails_the_step_of_the_promoted_input() {
    let turn = prepared().await;
    turn.f.switch_model(&turn.session, "m9").await;
    assert_eq!(turn.sent().await.len(), 0);
    let events = turn.recorded().await;
    assert_eq!(events[0], "prompted Go");
    assert!(
        events.last().unwrap().starts_with("step.failed"),
        "{events:?}"
    );
}

#[tokio::test]
async fn an_interruption_before_the_dispatch_sends_nothing() {
    let turn = prepared().await;
    let interrupting = turn.f.begin_interrupt(&turn.session).await;
    turn.blockade.release();
    interrupting.await;
    assert_eq!(turn.f.model.requests().len(), 0);
    assert_eq!(turn.recorded().await, ["prompted Go", "interrupted"]);
}

/// The same limit as in the runner.
const MAX_OUTDATED: usize = 32;

#[tokio::test]
async fn a_turn_is_abandoned_if_its_session_changes_at_each_preparation() {
    let f = Fixture::open().await;
    let source = ScriptedSource::telling("acme/rules", "Be kind.");
    let _contributed = f.contribute(&f.project.directory(), &source);
    let session = f.session().await;
    f.model.otherwise(|_| Reply::says("Done."));
    f.ask(&session, "Begin an epoch").await;
    let mut live = f.live();
    let mut gate = Gate::new();
    source.hold(&gate);
    f.prompt(&session, "Go").await;
    for model in ["m2", "m1"].into_iter().cycle().take(MAX_OUTDATED) {
        f.reached(&gate).await;
        let next = Gate::new();
        source.hold(&next);
        f.switch_model(&session, model).await;
        std::mem::replace(&mut gate, next).release();
    }
    f.wait(&session).await;
    assert_eq!(f.model.requests().len(), 1);
    let failure = format!(
        "session.error the Location, agent or model of the session {session} changed {MAX_OUTDATED} times while its Provider Turn was prepared, and nothing was sent; resume the session once it does not change any more"
    );
    f.read_until(&mut live, &failure).await;
    let events = f.events(&session).await;
    let is_prompted = |event: &&String| event.starts_with("prompted");
    assert_eq!(events.iter().filter(is_prompted).count(), 2);
    // The input is answered when the session no longer changes.
    gate.release();
    f.resume(&session).await;
    f.wait(&session).await;
    assert_eq!(f.model.requests().len(), 2);
    assert_eq!(
        compact::messages(&f.model.last_request()).last().unwrap(),
        "user: Go"
    );
}

#[tokio::test]
async fn a_turn_is_prepared_again_after_each_change_up_to_the_bound() {
    let f = Fixture::open().await;
    let source = ScriptedSource::telling("acme/rules", "Be kind.");
    let _contributed = f.contribute(&f.project.directory(), &source);
    let session = f.session().await;
    f.model.otherwise(|_| Reply::says("Done."));
    // The limit applies to each turn separately.
    let mut models = ["m2", "m1"].into_iter().cycle();
    for text in ["One", "Two"] {
        let mut gate = Gate::new();
        source.hold(&gate);
        f.prompt(&session, text).await;
        for model in models.by_ref().take(MAX_OUTDATED - 1) {
            f.reached(&gate).await;
            let next = Gate::new();
            source.hold(&next);
            f.switch_model(&session, model).await;
            std::mem::replace(&mut gate, next).release();
        }
        gate.release();
        f.wait(&session).await;
    }
    let requests = f.model.requests();
    let models = requests.iter().map(|it| it.model.id.as_str());
    assert_eq!(models.collect::<Vec<_>>(), ["m2", "m1"]);
}
