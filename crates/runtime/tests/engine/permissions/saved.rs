//! Permissions saved by `always`: they belong to the repository or the directory, are permanent, and rank below the
//! configuration.

use opencode_runtime::{AskPermission, SavedScope};
use opencode_schema::permission::PermissionEffect::{Allow, Ask};
use opencode_schema::permission::PermissionReply::Always;
use opencode_schema::permission::SavedPermissionInfo;
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

async fn saved(f: &Fixture, project: &str) -> Vec<SavedPermissionInfo> {
    let saved = f
        .runtime()
        .saved_permissions(SavedScope::Host(Some(project.to_owned())));
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
    let directory = f.project.directory();
    assert!(
        saved
            .iter()
            .all(|it| it.directory.as_deref() == Some(&*directory))
    );
}

/// Folders of different users may all be outside of repositories.
#[tokio::test]
async fn outside_of_a_repository_an_approval_belongs_to_its_directory() {
    let f = open().await;
    let config = std::fs::read_to_string(f.project.path("opencode.json")).unwrap();
    let mut places = Vec::new();
    for name in ["one", "two", "one/below"] {
        let file = format!("{name}/opencode.json");
        f.project.write(&file, &config);
        let mut request = f.new_session();
        request.location.directory = f.project.path(name).to_string_lossy().into_owned();
        places.push((
            request.location.directory.clone(),
            f.create(request).await.id,
        ));
    }
    let ask = |session, save: Option<&str>| AskPermission {
        save: save.map(|it| vec![it.to_owned()]),
        ..super::asked::of(session, "use", &["x"])
    };
    let (directory, session) = &places[0];
    f.runtime()
        .ask_permission(ask(session, Some("x")))
        .await
        .unwrap();
    let request = waiting(&f, session).await.remove(0);
    reply(&f, &request, Always).await;
    for ((_, session), expected) in places.iter().zip([Allow, Ask, Ask]) {
        let decided = f
            .runtime()
            .ask_permission(ask(session, None))
            .await
            .unwrap();
        assert_eq!(decided.effect, expected);
    }
    let all = f
        .runtime()
        .saved_permissions(SavedScope::Host(None))
        .await
        .unwrap();
    assert_eq!(all.len(), 1);
    assert_eq!(all[0].directory.as_ref(), Some(directory));
    assert_eq!(all[0].project_id, "global");
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
        f.runtime().remove_permission(id, None).await.unwrap();
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
