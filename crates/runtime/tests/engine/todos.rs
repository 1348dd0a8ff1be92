//! The todo list of a model: it is stored, announced and readable.

use opencode_runtime::RuntimeError;
use opencode_schema::id::SessionID;
use opencode_testkit::{Fixture, LiveLog, Reply, built_in_tools};
use serde_json::{Value, json};

async fn open() -> (Fixture, SessionID) {
    let f = Fixture::open().await;
    f.register(built_in_tools());
    let session = f.session().await;
    (f, session)
}

fn list(content: &str) -> Value {
    json!([{"content": content, "status": "pending", "priority": "high"}])
}

async fn note(f: &Fixture, session: &SessionID, todos: Value) {
    let input = json!({"todos": todos});
    f.model.reply(Reply::calls("c0", "todowrite", input));
    f.model.reply(Reply::says("Noted."));
    f.ask(session, "Go").await;
}

/// The list of a session as JSON.
async fn kept(f: &Fixture, session: &SessionID) -> Value {
    let todos = f.within("todos", f.runtime().todos(session)).await;
    json!(todos.unwrap())
}

/// The announced lists, with their sessions and directories.
fn announced(live: &LiveLog) -> Vec<Value> {
    let events = live.values().iter();
    let updates = events.filter(|event| event["type"] == "todo.updated");
    updates
        .map(|event| json!([event["data"], event["location"]["directory"]]))
        .collect()
}

#[tokio::test]
async fn the_list_is_replaced_announced_and_outlives_the_host() {
    let (mut f, session) = open().await;
    let other = f.session().await;
    let mut live = f.live();
    assert_eq!(kept(&f, &session).await, json!([]));
    for content in ["First", "Second"] {
        note(&f, &session, list(content)).await;
        assert_eq!(kept(&f, &session).await, list(content));
    }
    assert_eq!(kept(&f, &other).await, json!([]));
    f.reopen().await;
    assert_eq!(kept(&f, &session).await, list("Second"));
    f.read_to_end(&mut live).await;
    let update = |content: &str| json!([{"sessionID": session, "todos": list(content)}, f.project.directory()]);
    assert_eq!(announced(&live), [update("First"), update("Second")]);
}

#[tokio::test]
async fn an_unknown_session_has_no_list() {
    let (f, _) = open().await;
    let unknown = SessionID::parse("ses_unknown").unwrap();
    let read = f.within("todos", f.runtime().todos(&unknown)).await;
    assert!(matches!(read, Err(RuntimeError::SessionNotFound(id)) if id == unknown));
}

/// The calls of one answer run concurrently. The last announced list must be the stored one.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn the_last_announced_list_is_the_stored_one() {
    let (f, session) = open().await;
    let mut live = f.live();
    let calls = (0..20).fold(Reply::new(), |reply, n| {
        let input = json!({"todos": list(&n.to_string())});
        reply.call(&format!("c{n}"), "todowrite", input)
    });
    f.model.reply(calls.tool_calls());
    f.model.reply(Reply::says("Noted."));
    f.ask(&session, "Go").await;
    let last = kept(&f, &session).await;
    f.close().await;
    f.read_to_end(&mut live).await;
    let told = announced(&live);
    assert_eq!((told.len(), &told[19][0]["todos"]), (20, &last));
}
