//! Budgets of sessions, and the work that counts towards them.

use opencode_schema::id::SessionID;
use opencode_schema::session::SessionBudget;
use opencode_store::{AppliedBudget, Spent};
use serde_json::{Value, json};

use crate::harness::{Bench, append, event, step_started};

fn info(id: &str, parent: Option<&str>, budget: Option<Value>) -> Value {
    let mut info = json!({
        "id": id, "slug": "quiet-river", "projectID": "project", "directory": "/project", "title": "T",
        "version": "1.0.0", "time": {"created": 1000, "updated": 1000},
    });
    info["parentID"] = json!(parent);
    info["budget"] = json!(budget);
    info
}

async fn record(bench: &Bench, name: &str, info: &Value) {
    let id = SessionID::parse(info["id"].as_str().unwrap()).unwrap();
    let appended = append(
        &bench.store,
        &id,
        1000,
        event(name, json!({ "info": info })),
    )
    .await;
    appended.unwrap();
}

/// A Provider Turn of a session, from `time` on, that ends after `millis`.
async fn turn(bench: &Bench, id: &str, message: &str, time: i64, millis: i64, ends: &str) {
    let id = SessionID::parse(id).unwrap();
    let started = append(&bench.store, &id, time, step_started(message));
    started.await.unwrap();
    let payload = match ends {
        "ended" => json!({
            "assistantMessageID": message, "finish": "stop", "cost": 0.5,
            "tokens": {"input": 10, "output": 1, "reasoning": 2, "cache": {"read": 100, "write": 20}},
        }),
        _ => json!({
            "assistantMessageID": message, "error": {"type": "unknown", "message": "no"},
        }),
    };
    let ended = event(&format!("step.{ends}"), payload);
    let ended = append(&bench.store, &id, time + millis, ended);
    ended.await.unwrap();
}

async fn budgets(bench: &Bench, id: &str, with_root: bool) -> Vec<AppliedBudget> {
    let id = SessionID::parse(id).unwrap();
    bench
        .store
        .read(move |it| it.budgets(&id, with_root))
        .await
        .unwrap()
}

fn spent(turns: u64, failed: u64, duration_ms: u64) -> Spent {
    Spent {
        tokens: turns * 133,
        cost: turns as f64 * 0.5,
        turns: turns + failed,
        duration_ms,
    }
}

#[tokio::test]
async fn the_work_of_child_sessions_counts_and_that_of_forks_does_not() {
    let bench = Bench::new().await;
    let limit = json!({"turns": 3, "durationMs": 60_000});
    record(&bench, "session.created", &info("ses_r", None, Some(limit))).await;
    record(
        &bench,
        "session.created",
        &info("ses_c", Some("ses_r"), Some(json!({"cost": 0.75}))),
    )
    .await;
    record(
        &bench,
        "session.created",
        &info("ses_g", Some("ses_c"), None),
    )
    .await;
    turn(&bench, "ses_r", "msg_1", 2000, 300, "ended").await;
    turn(&bench, "ses_c", "msg_2", 3000, 40, "failed").await;
    turn(&bench, "ses_g", "msg_3", 4000, 5, "ended").await;

    let found = budgets(&bench, "ses_g", true).await;
    let shown: Vec<_> = found
        .iter()
        .map(|it| (it.session_id.as_str(), it.is_root, it.spent))
        .collect();
    assert_eq!(
        shown,
        [
            ("ses_c", false, spent(1, 1, 45)),
            ("ses_r", true, spent(2, 1, 345))
        ]
    );
    let expected = SessionBudget {
        turns: Some(3),
        duration_ms: Some(60_000),
        ..SessionBudget::default()
    };
    assert_eq!(found[1].budget, Some(expected));

    bench
        .raw()
        .execute("UPDATE session SET forked = 1 WHERE parent = 'ses_r'", [])
        .unwrap();
    let found = budgets(&bench, "ses_g", true).await;
    assert_eq!(found.len(), 1, "a fork is on its own");
    assert_eq!(
        budgets(&bench, "ses_r", true).await[0].spent,
        spent(1, 0, 300)
    );
}

#[tokio::test]
async fn limits_are_recorded_replaced_and_removed() {
    let bench = Bench::new().await;
    record(
        &bench,
        "session.created",
        &info("ses_a", None, Some(json!({"tokens": 5}))),
    )
    .await;
    assert_eq!(budgets(&bench, "ses_a", false).await.len(), 1);
    record(&bench, "session.updated", &info("ses_a", None, None)).await;
    assert_eq!(
        budgets(&bench, "ses_a", false).await[0]
            .budget
            .unwrap()
            .tokens,
        Some(5),
        "an absent member changes nothing"
    );
    record(
        &bench,
        "session.updated",
        &info("ses_a", None, Some(json!({"tokens": 9}))),
    )
    .await;
    let id = SessionID::parse("ses_a").unwrap();
    let session = bench.store.read(move |it| it.session(&id)).await;
    let budget = session.unwrap().unwrap().info.budget.unwrap();
    assert_eq!(budget.tokens, Some(9));
    record(
        &bench,
        "session.updated",
        &info("ses_a", None, Some(json!({}))),
    )
    .await;
    assert_eq!(budgets(&bench, "ses_a", false).await, []);
    let root = budgets(&bench, "ses_a", true).await;
    assert_eq!((root[0].budget, root[0].spent), (None, Spent::default()));
}

#[tokio::test]
async fn the_chain_of_parents_ends_at_an_absent_one_and_has_no_maximum() {
    let bench = Bench::new().await;
    // An imported session may name a parent that was not imported.
    record(
        &bench,
        "session.created",
        &info("ses_orphan", Some("ses_absent"), None),
    )
    .await;
    let found = budgets(&bench, "ses_orphan", true).await;
    let roots: Vec<_> = found
        .iter()
        .map(|it| (it.session_id.as_str(), it.is_root))
        .collect();
    assert_eq!(roots, [("ses_orphan", true)]);

    record(
        &bench,
        "session.created",
        &info("ses_0", None, Some(json!({"turns": 1}))),
    )
    .await;
    for depth in 1..=100 {
        let (id, parent) = (format!("ses_{depth}"), format!("ses_{}", depth - 1));
        record(&bench, "session.created", &info(&id, Some(&parent), None)).await;
    }
    let found = budgets(&bench, "ses_100", false).await;
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].session_id.as_str(), "ses_0");
}
