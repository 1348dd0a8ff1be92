//! The to-do list of a session: replaced as a whole, and deleted with its session.

use opencode_schema::todo::Todo;
use opencode_store::SessionRow;
use serde_json::json;

use crate::harness::{Bench, event, remove};

fn todo(content: &str) -> Todo {
    Todo {
        content: content.into(),
        status: "pending".into(),
        priority: "high".into(),
    }
}

async fn replace(bench: &Bench, session: &SessionRow, todos: Vec<Todo>) {
    let updated = event("todos.updated", json!({ "todos": todos }));
    bench.append(session, 1, updated).await;
}

async fn of(bench: &Bench, session: &SessionRow) -> Vec<Todo> {
    let key = session.key;
    let read = bench.store.read(move |reader| reader.todos(key));
    read.await.unwrap()
}

#[tokio::test]
async fn a_list_replaces_the_one_before() {
    let (bench, session) = Bench::with_session("ses_1").await;
    let other = bench.session("ses_2").await;
    assert_eq!(of(&bench, &session).await, []);
    // Items keep their order, any content is accepted, and duplicates are kept.
    let first = [todo("b"), todo("a"), todo("b"), todo("")];
    replace(&bench, &session, first.to_vec()).await;
    replace(&bench, &other, vec![todo("other")]).await;
    assert_eq!(of(&bench, &session).await, first);
    let second = [todo("c"), todo("a")];
    replace(&bench, &session, second.to_vec()).await;
    assert_eq!(of(&bench, &session).await, second);
    replace(&bench, &session, vec![]).await;
    assert_eq!(of(&bench, &session).await, []);
    assert_eq!(of(&bench, &other).await, [todo("other")]);
}

#[tokio::test]
async fn a_list_is_deleted_with_its_session() {
    let (bench, session) = Bench::with_session("ses_1").await;
    let info = json!({
        "id": "ses_1", "slug": "s", "projectID": "project", "directory": "/project",
        "title": "New", "version": "1", "time": {"created": 1, "updated": 1},
    });
    replace(&bench, &session, vec![todo("a")]).await;
    let deleted = event("session.deleted", json!({"info": info}));
    bench.append(&session, 2, deleted).await;
    assert_eq!(of(&bench, &session).await, []);

    let other = bench.session("ses_2").await;
    replace(&bench, &other, vec![todo("a")]).await;
    assert!(remove(&bench.store, "ses_2").await);
    assert_eq!(of(&bench, &other).await, []);
}
