//! Tasks: work that an agent gives to another agent, which runs in a child session.

mod cut;
mod denied;
mod dispatch;
mod limits;
mod offered;
mod run;
mod waiting;

use std::sync::Arc;

use opencode_runtime::RuntimeOptions;
use opencode_schema::id::SessionID;
use opencode_schema::session::SessionInfo;
use opencode_testkit::{Fixture, Reply, built_in_tools};
use opencode_tools::Tool;
use serde_json::{Value, json};

/// A runtime whose models may give tasks.
async fn open() -> Fixture {
    open_with(|_| {}).await
}

async fn open_with(change: impl Fn(&mut RuntimeOptions) + Send + Sync + 'static) -> Fixture {
    let f = Fixture::with(change).await;
    equip(&f);
    f
}

/// Adds the built-in tool `task`.
pub(crate) fn equip(f: &Fixture) {
    let tools = built_in_tools().into_iter();
    let task: Vec<(String, Arc<dyn Tool>)> = tools.filter(|(name, _)| name == "task").collect();
    f.register(task);
}

/// An answer that gives one task.
fn task(agent: &str, prompt: &str) -> Reply {
    Reply::calls("c0", "task", input(agent, prompt))
}

fn input(agent: &str, prompt: &str) -> Value {
    json!({"description": "A look around", "prompt": prompt, "agent": agent})
}

/// An answer that gives this number of tasks to `general` at once, with the ids c0, c1, ...
fn tasks(count: usize) -> Reply {
    let reply = (0..count).fold(Reply::new(), |reply, place| {
        reply.call(
            &format!("c{place}"),
            "task",
            input("general", &format!("Task {place}")),
        )
    });
    reply.tool_calls().in_one_piece()
}

async fn children(f: &Fixture, session: &SessionID) -> Vec<SessionInfo> {
    let children = f.within("children", f.runtime().children(session));
    children.await.expect("the session exists")
}

/// The only child of a session.
async fn child(f: &Fixture, session: &SessionID) -> SessionID {
    let children = children(f, session).await;
    assert_eq!(children.len(), 1);
    children[0].id.clone()
}

/// The failed calls of a session, sorted.
async fn failed(f: &Fixture, session: &SessionID) -> Vec<String> {
    let events = f.events(session).await.into_iter();
    let mut failed: Vec<_> = events
        .filter(|event| event.starts_with("tool.failed"))
        .collect();
    failed.sort();
    failed
}
