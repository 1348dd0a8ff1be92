//! Child sessions, and the permission rules of a session itself.

use opencode_schema::event::{SessionCreated, SessionEvent, SessionUpdated};
use opencode_schema::id::SessionID;
use opencode_schema::permission::{PermissionEffect, PermissionRule};
use opencode_store::SessionRow;
use serde_json::{Value, json};

use crate::harness::{Bench, append, event};

fn rules() -> Value {
    json!([
        {"permission": "edit", "pattern": "docs/*", "action": "deny"},
        {"permission": "bash", "pattern": "*", "action": "ask"},
    ])
}

fn info(id: &str, parent: Option<&str>, permission: Option<Value>) -> Value {
    let mut info = json!({
        "id": id, "slug": "quiet-river", "projectID": "project", "workspaceID": "wrk_1",
        "directory": "/project/a", "path": "a", "title": "Look around", "agent": "general",
        "model": {"id": "m1", "providerID": "mock", "variant": "high"}, "version": "1.0.0",
        "time": {"created": 1000, "updated": 1000},
    });
    if let Some(parent) = parent {
        info["parentID"] = json!(parent);
    }
    if let Some(permission) = permission {
        info["permission"] = permission;
    }
    info
}

fn created(info: &Value) -> SessionCreated {
    match event("session.created", json!({ "info": info })) {
        SessionEvent::SessionCreated(created) => created,
        other => panic!("{}", other.name()),
    }
}

async fn create(bench: &Bench, time: i64, info: &Value) -> SessionRow {
    let id = SessionID::parse(info["id"].as_str().unwrap()).unwrap();
    let added = append(&bench.store, &id, time, created(info).into()).await;
    added.unwrap();
    let found = bench.store.read(move |reader| reader.session(&id)).await;
    found.unwrap().unwrap()
}

async fn children(bench: &Bench, parent: &str) -> Vec<String> {
    let parent = SessionID::parse(parent).unwrap();
    let children = bench
        .store
        .read(move |reader| reader.children(&parent))
        .await;
    let children = children.unwrap().into_iter();
    children.map(|it| it.info.id.to_string()).collect()
}

#[tokio::test]
async fn the_rules_of_a_session_are_stored_and_returned() {
    let bench = Bench::new().await;
    let rule = |action: &str, resource: &str, effect| PermissionRule {
        action: action.to_owned(),
        resource: resource.to_owned(),
        effect,
    };
    let expected = [
        rule("edit", "docs/*", PermissionEffect::Deny),
        rule("bash", "*", PermissionEffect::Ask),
    ];
    let child = info("ses_a", Some("ses_p"), Some(rules()));
    let session = create(&bench, 1000, &child).await;
    assert_eq!(session.permission, expected);
    let record = |session: SessionRow| bench.store.read(move |it| it.session_record(&session));
    let told = record(session.clone()).await.unwrap();
    assert_eq!(told, created(&child).info);
    let root = create(&bench, 1000, &info("ses_b", None, None)).await;
    assert_eq!(root.permission, []);
    let told = record(root).await.unwrap();
    assert_eq!(told, created(&info("ses_b", None, None)).info);
}

#[tokio::test]
async fn new_rules_replace_old_ones_and_an_empty_list_removes_them() {
    let bench = Bench::new().await;
    let session = create(&bench, 1000, &info("ses_a", None, Some(rules()))).await;
    let update = async |permission: Option<Value>| {
        let info = created(&info("ses_a", None, permission)).info;
        bench
            .append(&session, 2000, SessionUpdated { info }.into())
            .await;
        let id = session.info.id.clone();
        let found = bench.store.read(move |reader| reader.session(&id)).await;
        let rules = found.unwrap().unwrap().permission.into_iter();
        rules.map(|rule| rule.action).collect::<Vec<_>>()
    };
    assert_eq!(update(None).await, ["edit", "bash"]);
    let other = json!([{"permission": "read", "pattern": "*", "action": "deny"}]);
    assert_eq!(update(Some(other)).await, ["read"]);
    assert_eq!(update(Some(json!([]))).await, [""; 0]);
}

#[tokio::test]
async fn children_are_listed_oldest_first() {
    let bench = Bench::new().await;
    for (id, parent, time) in [
        ("ses_c", Some("ses_p"), 1000),
        ("ses_b", Some("ses_p"), 1000),
        ("ses_a", Some("ses_p"), 2000),
        ("ses_d", Some("ses_a"), 1000),
        ("ses_e", None, 1000),
    ] {
        let mut info = info(id, parent, None);
        info["time"]["created"] = json!(time);
        create(&bench, time, &info).await;
    }
    assert_eq!(children(&bench, "ses_p").await, ["ses_c", "ses_b", "ses_a"]);
    assert_eq!(children(&bench, "ses_a").await, ["ses_d"]);
    assert_eq!(children(&bench, "ses_e").await, [""; 0]);
}
