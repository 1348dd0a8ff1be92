//! Tests for the lists that `todowrite` stores, its message to the model, and its limits.

mod common;

use std::sync::{Arc, Mutex};

use common::{Recorder, built_in_tools, call, context, denied, failed, registry, success, text};
use futures::future::BoxFuture;
use opencode_schema::{id::SessionID, todo::Todo};
use opencode_tools::{Contributions, PermissionError, Permissions, Settlement, Todos, TodosError};
use serde_json::{Value, json};

/// Records every list and returns a fixed answer.
struct Lists {
    kept: Mutex<Vec<Vec<Todo>>>,
    answer: Result<(), TodosError>,
}

impl Todos for Lists {
    fn replace<'a>(
        &'a self,
        session: &'a SessionID,
        todos: Vec<Todo>,
    ) -> BoxFuture<'a, Result<(), TodosError>> {
        assert_eq!(session.as_str(), "ses_1");
        self.kept.lock().expect("no test panics").push(todos);
        Box::pin(std::future::ready(self.answer.clone()))
    }
}

/// Returns the settlement of a call, and the lists to store as JSON.
async fn settle(
    input: Value,
    permission: Result<(), PermissionError>,
    answer: Result<(), TodosError>,
) -> (Settlement, Value) {
    let temp = tempfile::tempdir().expect("a temporary directory");
    let registry = registry(&Contributions::default(), temp.path());
    let _registration = registry.host().register(built_in_tools());
    let turn = registry.materialize("/project", |_| true);
    let lists = Arc::new(Lists {
        kept: Mutex::default(),
        answer,
    });
    let permissions = Recorder::new(move |_| permission.clone());
    let mut context = context(temp.path());
    context.ports.todos = Arc::clone(&lists) as Arc<dyn Todos>;
    context.permissions = Arc::clone(&permissions) as Arc<dyn Permissions>;
    let settlement = turn.settle(call("todowrite", input), &context).await;
    let everything = || vec!["*".to_owned()];
    for asked in permissions.asked() {
        assert_eq!(asked, ("todowrite".to_owned(), everything(), everything()));
    }
    let kept = lists.kept.lock().expect("no test panics");
    (settlement, json!(*kept))
}

fn todo(content: &str, status: &str, priority: &str) -> Value {
    json!({"content": content, "status": status, "priority": priority})
}

#[tokio::test]
async fn the_list_is_stored_unchanged_and_shown_as_json() {
    for (todos, told) in [
        (json!([]), "[]"),
        (
            json!([
                todo("Look", "completed", "high"),
                todo("", "Anything", "¿?")
            ]),
            r#"[
  {
    "content": "Look",
    "status": "completed",
    "priority": "high"
  },
  {
    "content": "",
    "status": "Anything",
    "priority": "¿?"
  }
]"#,
        ),
    ] {
        let settled = settle(json!({"todos": todos}), Ok(()), Ok(())).await;
        let expected = success(json!({"todos": todos}), vec![text(told)]);
        assert_eq!(settled, (expected, json!([todos])));
    }
}

#[tokio::test]
async fn invalid_parameters_store_nothing() {
    let mut written = todo("a", "b", "c");
    written["id"] = json!(7);
    let (_, kept) = settle(json!({"todos": [written], "more": 1}), Ok(()), Ok(())).await;
    assert_eq!(kept, json!([[todo("a", "b", "c")]]));
}

#[tokio::test]
async fn an_invalid_or_long_list_is_refused_before_a_permission_request() {
    let many = |count: usize| json!(vec![todo("a", "b", "c"); count]);
    let long = |bytes: usize| json!([todo(&"é".repeat(bytes / 2 - 1), "b", "c")]);
    for (todos, expected) in [
        (many(200), None),
        (
            many(201),
            Some("Unable to update todos: a list has at most 200 todos, not 201. Merge small ones"),
        ),
        (long(65_536), None),
        (
            long(65_538),
            Some(
                "Unable to update todos: the texts of a list have at most 65536 bytes, not 65538. \
                 Shorten them",
            ),
        ),
        (
            json!([todo("a", "b", "c"), {"content": "a", "status": 1}]),
            Some("Invalid tool input: Expected string, got 1\n  at [\"todos\"][1][\"status\"]"),
        ),
        (
            json!([{"content": "a", "status": "b"}]),
            Some("Invalid tool input: Missing key\n  at [\"todos\"][0][\"priority\"]"),
        ),
        (json!("[]"), None),
        (
            json!("none"),
            Some("Invalid tool input: Expected array, got \"none\"\n  at [\"todos\"]"),
        ),
    ] {
        let blocked = Err(PermissionError::Blocked);
        let (settled, kept) = settle(json!({"todos": todos}), blocked, Ok(())).await;
        let asked = denied("Unable to update todos");
        assert_eq!(settled, expected.map_or(asked, failed));
        assert_eq!(kept, json!([]));
    }
}

#[tokio::test]
async fn refusals_and_storage_fail_the_call() {
    let todos = json!([todo("a", "b", "c")]);
    let declined = Err(PermissionError::Declined);
    let settled = settle(json!({"todos": todos}), declined, Ok(())).await;
    assert_eq!(settled, (Settlement::Declined, json!([])));
    let full = Err(TodosError("the disk is full".to_owned()));
    let settled = settle(json!({"todos": todos}), Ok(()), full).await;
    let expected = failed("Unable to update todos: the disk is full");
    assert_eq!(settled, (expected, json!([todos])));
}
