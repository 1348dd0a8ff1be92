//! Changes between the Safe Provider-Turn Boundary of a child session and its request.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use opencode_llm::LlmRequest;
use opencode_schema::id::SessionID;
use opencode_testkit::{Blockade, Fixture, Gate, Reply, compact};

use super::{child, equip, failed, input};
use crate::dispatch::history;

/// A child session that has promoted its input and waits for the history of its request.
struct Prepared {
    f: Fixture,
    parent: SessionID,
    child: SessionID,
    blockade: Blockade,
}

async fn prepared() -> Prepared {
    let (armed, blockade) = (Arc::new(AtomicBool::new(false)), Blockade::new());
    let test_hook = history(Arc::clone(&armed), blockade.clone());
    let f = Fixture::with(move |options| options.test_hook = Some(Arc::clone(&test_hook))).await;
    equip(&f);
    f.project.write("two/AGENTS.md", "Rules of two.");
    f.project.git();
    let parent = f.session().await;
    let gate = Gate::new();
    let task = input("general", "Look");
    let reply = Reply::new().hold(&gate).call("c0", "task", task);
    f.model.reply(reply.tool_calls());
    f.prompt(&parent, "Go").await;
    f.reached(&gate).await;
    armed.store(true, Ordering::SeqCst);
    gate.release();
    f.blocked(&blockade).await;
    let child = child(&f, &parent).await;
    Prepared {
        f,
        parent,
        child,
        blockade,
    }
}

impl Prepared {
    /// Continues the turn and returns the requests that were sent since then.
    async fn sent(&self) -> Vec<LlmRequest> {
        self.blockade.release();
        self.f.wait(&self.parent).await;
        let mut requests = self.f.model.requests();
        requests.split_off(1)
    }
}

fn system(request: &LlmRequest) -> String {
    let texts = request.system.iter().map(|part| part.text.to_string());
    texts.collect::<Vec<_>>().join("\n")
}

#[tokio::test]
async fn a_move_of_the_child_sends_the_request_for_the_destination() {
    let turn = prepared().await;
    let f = &turn.f;
    f.model
        .reply(Reply::says("Here."))
        .reply(Reply::says("Well."));
    let two = f.project.path("two").to_string_lossy().into_owned();
    f.move_to(&turn.child, &two).await;
    let requests = turn.sent().await;
    let [of_child, of_parent] = &requests[..] else {
        panic!("{} requests", requests.len())
    };
    assert_eq!(compact::messages(of_child), ["user: Look"]);
    assert!(system(of_child).contains("Rules of two."));
    assert!(!system(of_parent).contains("Rules of two."));
    assert_eq!(
        f.events(&turn.child).await,
        [
            "prompt.admitted Look",
            "prompted Look",
            &format!("moved {two} two"),
            "step.started",
            "text.started",
            "text.ended Here.",
            "step.ended stop",
        ]
    );
    let succeeded = f.payloads(&turn.parent, "tool.success").await;
    assert_eq!(succeeded[0]["structured"]["text"], "Here.");
}

#[tokio::test]
async fn a_model_that_is_chosen_for_the_child_answers() {
    let turn = prepared().await;
    let f = &turn.f;
    f.model
        .reply(Reply::says("Here."))
        .reply(Reply::says("Well."));
    f.switch_model(&turn.child, "m2").await;
    let requests = turn.sent().await;
    let models = requests.iter().map(|it| it.model.id.as_str());
    assert_eq!(models.collect::<Vec<_>>(), ["m2", "m1"]);
    let started = f.payloads(&turn.child, "step.started").await;
    assert_eq!(started.len(), 1);
    assert_eq!(started[0]["model"]["id"], "m2");
}

#[tokio::test]
async fn a_switch_of_the_parent_does_not_affect_the_child() {
    let turn = prepared().await;
    let f = &turn.f;
    f.model
        .reply(Reply::says("Here."))
        .reply(Reply::says("Well."));
    f.switch_model(&turn.parent, "m2").await;
    let requests = turn.sent().await;
    let models = requests.iter().map(|it| it.model.id.as_str());
    assert_eq!(models.collect::<Vec<_>>(), ["m1", "m2"]);
}

#[tokio::test]
async fn an_interruption_of_the_child_sends_nothing_and_fails_the_call() {
    let turn = prepared().await;
    let f = &turn.f;
    f.model.reply(Reply::says("Then not."));
    let interrupting = f.begin_interrupt(&turn.child).await;
    turn.blockade.release();
    interrupting.await;
    f.wait(&turn.parent).await;
    let requests = f.model.requests();
    assert_eq!(requests.len(), 2);
    assert_eq!(compact::messages(&requests[1])[0], "user: Go");
    assert_eq!(
        f.events(&turn.child).await,
        ["prompt.admitted Look", "prompted Look", "interrupted"]
    );
    assert_eq!(failed(f, &turn.parent).await.len(), 1);
}

#[tokio::test]
async fn an_interruption_of_the_parent_sends_nothing() {
    let turn = prepared().await;
    let f = &turn.f;
    let interrupting = f.begin_interrupt(&turn.parent).await;
    turn.blockade.release();
    interrupting.await;
    assert_eq!(f.model.requests().len(), 1);
    assert_eq!(
        f.events(&turn.child).await,
        ["prompt.admitted Look", "prompted Look", "interrupted"]
    );
    assert_eq!(f.runtime().active(), []);
}
