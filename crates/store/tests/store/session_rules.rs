//! The rules of sessions in memory: they are read once, and again after each change.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use opencode_schema::event::SessionEvent;
use opencode_schema::id::SessionID;
use opencode_store::{Fault, Moment, SessionRules, Store, TestHook};
use serde_json::{Value, json};

use crate::harness::{append, create, event, open_watched, remove};

/// Counts the reads.
#[derive(Default)]
struct Reads(AtomicUsize);

impl TestHook for Reads {
    fn at(&self, moment: Moment<'_>) -> Result<(), Fault> {
        if matches!(moment, Moment::Read) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
        Ok(())
    }
}

async fn rules_of(store: &Store, session: &SessionID) -> Option<Arc<SessionRules>> {
    store.session_rules(session).await.unwrap()
}

fn shown(rules: Option<Arc<SessionRules>>) -> Value {
    rules.map_or(Value::Null, |rules| {
        let rules_of_session: Vec<_> = rules.permission.iter().map(|rule| &rule.action).collect();
        json!([rules.agent, rules.directory, rules_of_session])
    })
}

fn updated(action: &str) -> SessionEvent {
    let info = json!({
        "id": "ses_a", "slug": "quiet-river", "projectID": "project", "directory": "/project",
        "title": "New session", "version": "1.0.0", "time": {"created": 1000, "updated": 2000},
        "permission": [{"permission": action, "pattern": "*", "action": "deny"}],
    });
    event("session.updated", json!({"info": info}))
}

#[tokio::test]
async fn rules_are_read_again_after_each_change() {
    let folder = tempfile::tempdir().unwrap();
    let reads = Arc::new(Reads::default());
    let path = folder.path().join("opencode.db");
    let store = open_watched(&path, Arc::clone(&reads) as _).await.unwrap();
    let count = || reads.0.load(Ordering::SeqCst);
    let session = create(&store, "ses_a").await.info.id;
    let other = create(&store, "ses_b").await.info.id;
    let switched = |agent: &str| {
        event(
            "agent.switched",
            json!({"messageID": format!("msg_{agent}"), "agent": agent}),
        )
    };
    let moved = event("moved", json!({"location": {"directory": "/b"}}));

    let first = shown(rules_of(&store, &session).await);
    assert_eq!(first, json!([null, "/project", []]));
    let changes = [
        (switched("plan"), json!(["plan", "/project", []])),
        (updated("bash"), json!(["plan", "/project", ["bash"]])),
        (updated("edit"), json!(["plan", "/project", ["edit"]])),
        (moved, json!(["plan", "/b", ["edit"]])),
    ];
    for (number, (change, expected)) in changes.into_iter().enumerate() {
        append(&store, &session, 2000, change).await.unwrap();
        assert_eq!(shown(rules_of(&store, &session).await), expected);
        let before = count();
        // Neither another session nor another column changes the rules.
        for id in [&session, &other] {
            append(&store, id, 2000, model_switched(id, number))
                .await
                .unwrap();
        }
        assert_eq!(shown(rules_of(&store, &session).await), expected);
        assert_eq!(count(), before, "{expected}");
    }
    assert!(remove(&store, "ses_a").await);
    assert_eq!(rules_of(&store, &session).await, None);
    // Another session may have the id afterwards, for example by an import.
    create(&store, "ses_a").await;
    assert_eq!(shown(rules_of(&store, &session).await), first);
    store.close().await;
}

fn model_switched(session: &SessionID, number: usize) -> SessionEvent {
    let message = format!("msg_{session}{number}");
    event(
        "model.switched",
        json!({"messageID": message, "model": {"id": "m", "providerID": "p"}}),
    )
}
