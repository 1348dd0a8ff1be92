//! Permissions saved by `always`: they belong to the project, are permanent, and rank below the
//! configuration.

use opencode_schema::permission::PermissionReply::Always;
use opencode_schema::permission::SavedPermission;
use opencode_testkit::{Fixture, Reply};

use super::{heard_asked, open, reply, saves, settled, uses, waiting};

/// Answers a call on `on` with `always` and these patterns.
async fn allow(f: &Fixture, on: &str, save: &[&str]) {
    let session = f.session().await;
    let mut live = f.live();
    f.model.reply(saves(on, save)).reply(Reply::says("Well."));
    f.prompt(&session, "Go").await;
    heard_asked(f, &mut live, &[on]).await;
    let request = waiting(f, &session).await.remove(0);
    reply(f, &request, Always).await;
    f.wait(&session).await;
}

async fn saved(f: &Fixture, project: &str) -> Vec<SavedPermission> {
    let saved = f.runtime().saved_permissions(project.to_owned());
    f.within("saved", saved).await.unwrap()
}

/// The result of the only call in a new session, which must not ask the user.
async fn outcome(f: &Fixture, on: &str) -> Vec<String> {
    let session = f.session().await;
    f.model.reply(uses(&[on])).reply(Reply::says("Well."));
    f.ask(&session, "Go").await;
    settled(f, &session).await
}

#[tokio::test]
async fn saved_permissions_outlive_the_host_and_each_pattern_is_saved_once() {
    let mut f = open().await;
    allow(&f, "x 1", &["x *", "y *", "x *"]).await;
    f.reopen().await;
    super::equip(&f);
    assert_eq!(outcome(&f, "y 2").await, ["tool.success c0 {}"]);
    let saved = saved(&f, "global").await;
    let patterns: Vec<_> = saved
        .iter()
        .map(|it| (&*it.action, &*it.resource))
        .collect();
    assert_eq!(patterns, [("use", "x *"), ("use", "y *")]);
    assert!(
        saved
            .iter()
            .all(|it| it.id.starts_with("psv_") && it.project_id == "global")
    );
}

#[tokio::test]
async fn a_configured_denial_overrides_saved_permissions() {
    let f = open().await;
    allow(&f, "x 1", &["*"]).await;
    assert_eq!(
        outcome(&f, "no 1").await,
        [
            "tool.failed c0 Unable to use it: it is not allowed. A permission rule denies it, or no user is there to decide"
        ]
    );
    assert_eq!(outcome(&f, "y").await, ["tool.success c0 {}"]);
}

#[tokio::test]
async fn a_removed_permission_is_asked_again() {
    let f = open().await;
    allow(&f, "x 1", &["x *"]).await;
    let id = saved(&f, "global").await.remove(0).id;
    for id in [id, "psv_unknown".to_owned()] {
        f.runtime().remove_permission(id).await.unwrap();
    }
    assert_eq!(saved(&f, "global").await, []);
    allow(&f, "x 1", &["x *"]).await;
    assert_eq!(saved(&f, "global").await.len(), 1);
}

#[tokio::test]
async fn each_project_has_its_own_permissions() {
    let f = open().await;
    allow(&f, "x 1", &["x *"]).await;
    f.project.git();
    let location = f.new_session().location;
    f.runtime().reload_location(&location).await.unwrap();
    allow(&f, "x 1", &["x *"]).await;
    let here = f.runtime().open_location(&location).await.unwrap();
    assert_ne!(here.project.id, "global");
    assert_eq!(saved(&f, &here.project.id).await.len(), 1);
    assert_eq!(saved(&f, "global").await.len(), 1);
}
