//! Staging, staging again, and clearing.

use std::fs;
use std::path::Path;

use opencode_runtime::RuntimeError;
use opencode_schema::id::MessageID;
use opencode_schema::session::RevertState;
use opencode_testkit::Fixture;
use serde_json::json;

use super::{World, changed, is};

/// Two prompts: the first changes `a.txt`, the second adds `b.txt`.
async fn two_turns() -> (World, MessageID, MessageID) {
    let world = World::open().await;
    let first = world.turn("change a", &[("a.txt", Some("two\n"))]).await;
    let second = world.turn("add b", &[("b.txt", Some("new\n"))]).await;
    (world, first, second)
}

#[tokio::test]
async fn files_follow_the_staged_boundary_and_are_restored() {
    let (world, first, second) = two_turns().await;
    let (before, story) = (world.files(), world.story().await);
    assert_eq!(before, is(&[("a.txt", "two\n"), ("b.txt", "new\n")]));
    for (boundary, files, changes) in [
        (
            &second,
            is(&[("a.txt", "two\n")]),
            &["deleted b.txt +0 -1"][..],
        ),
        (
            &first,
            is(&[("a.txt", "one\n")]),
            &["modified a.txt +1 -1", "deleted b.txt +0 -1"],
        ),
        // A later boundary again, and then the same one once more.
        (&second, is(&[("a.txt", "two\n")]), &["deleted b.txt +0 -1"]),
        (&second, is(&[("a.txt", "two\n")]), &["deleted b.txt +0 -1"]),
    ] {
        let staged = world.stage(boundary).await;
        assert_eq!(
            (world.files(), changed(&staged)),
            (files, changes.iter().map(|it| (*it).to_owned()).collect())
        );
        assert_eq!(world.staged().await, Some(staged));
        // The messages stay.
        assert_eq!(world.story().await, story);
    }
    world.clear().await;
    assert_eq!((world.files(), world.staged().await), (before, None));
    // Nothing is staged, so this records nothing.
    world.clear().await;
    let said = world.f.events(&world.session).await;
    let reverts: Vec<_> = said.iter().filter(|it| it.starts_with("revert")).collect();
    assert_eq!(
        reverts,
        [
            "revert.staged",
            "revert.staged",
            "revert.staged",
            "revert.staged",
            "revert.cleared"
        ]
    );
}

#[tokio::test]
async fn a_staged_revert_lists_its_changes_as_git_does() {
    let (world, first, _) = two_turns().await;
    let staged = world.stage(&first).await;
    let patches = [
        "diff --git a/a.txt b/a.txt\nindex f719efd..5626abf 100644\n--- a/a.txt\n+++ b/a.txt\n\
         @@ -1 +1 @@\n-two\n+one\n",
        "diff --git a/b.txt b/b.txt\ndeleted file mode 100644\nindex 3e75765..0000000\n\
         --- a/b.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-new\n",
    ];
    let expected = json!({
        "messageID": first,
        "snapshot": staged.snapshot,
        "diff": patches.concat().trim(),
        "files": [
            {"path": "a.txt", "status": "modified", "additions": 1, "deletions": 1, "patch": patches[0]},
            {"path": "b.txt", "status": "deleted", "additions": 0, "deletions": 1, "patch": patches[1]},
        ],
    });
    assert_eq!(json!(staged), expected);
    assert_eq!(
        world.f.payloads(&world.session, "revert.staged").await[0]["revert"],
        expected
    );
}

#[tokio::test]
async fn files_are_listed_as_the_steps_changed_them_even_if_unchanged_in_total() {
    let world = World::open().await;
    let changes = [("z.txt", Some("z\n")), ("gone.txt", Some("g\n"))];
    let first = world.turn("first", &changes).await;
    let changes = [("a.txt", Some("two\n")), ("gone.txt", None)];
    world.turn("then", &changes).await;
    let before = world.files();
    let staged = world.stage(&first).await;
    assert_eq!(
        changed(&staged),
        [
            "modified gone.txt +0 -0",
            "deleted z.txt +0 -1",
            "modified a.txt +1 -1"
        ]
    );
    assert_eq!(world.files(), is(&[("a.txt", "one\n")]));
    world.clear().await;
    assert_eq!(world.files(), before);
}

#[tokio::test]
async fn a_patch_that_is_too_long_is_omitted_and_its_file_is_reverted() {
    let world = World::open().await;
    let long = "long\n".repeat(120_000);
    let changes = [
        ("a.txt", Some("two\n")),
        ("b.txt", Some(&*long)),
        ("c.txt", Some("c\n")),
    ];
    let first = world.turn("change", &changes).await;
    let staged = world.stage(&first).await;
    let patches = staged.files.iter().flatten().map(|file| &file.patch);
    let has_patch: Vec<_> = patches.clone().map(|patch| !patch.is_empty()).collect();
    assert_eq!(has_patch, [true, false, true]);
    let all: String = patches.map(String::as_str).collect();
    assert_eq!(staged.diff.as_deref(), Some(all.trim()));
    assert_eq!(
        changed(&staged),
        [
            "modified a.txt +1 -1",
            "deleted b.txt +0 -120000",
            "deleted c.txt +0 -1"
        ]
    );
    assert_eq!(world.files(), is(&[("a.txt", "one\n")]));
    world.clear().await;
    assert_eq!(world.files()["b.txt"], long);
}

#[tokio::test]
async fn files_are_kept_if_the_caller_reverts_only_messages() {
    let (world, first, second) = two_turns().await;
    let before = world.files();
    let staged = world.try_stage(&first, None, false).await.unwrap();
    assert_eq!((world.files(), changed(&staged)), (before.clone(), vec![]));
    assert_eq!(staged.diff.as_deref(), Some(""));
    // Staging without files restores the files of the former staging.
    world.stage(&second).await;
    assert_eq!(world.files(), is(&[("a.txt", "two\n")]));
    world.try_stage(&first, None, false).await.unwrap();
    assert_eq!(world.files(), before);
    world.clear().await;
    assert_eq!(world.files(), before);
}

#[tokio::test]
async fn any_message_can_be_the_boundary() {
    let (world, ..) = two_turns().await;
    let messages = world.f.messages(&world.session).await;
    let id = |it| {
        json!(it)["id"]
            .as_str()
            .and_then(|id| MessageID::parse(id).ok())
    };
    let ids: Vec<_> = messages.iter().filter_map(id).collect();
    assert_eq!(ids.len(), 6);
    let only_b = is(&[("a.txt", "two\n")]);
    // The step that changed a, the text after it, the second prompt.
    for boundary in &ids[1..4] {
        world.stage(boundary).await;
        assert_eq!(world.files(), only_b);
    }
    // The step that added b, and the end.
    for boundary in &ids[4..] {
        let staged = world.stage(boundary).await;
        assert_eq!(changed(&staged), Vec::<String>::new());
        assert_eq!(world.files(), is(&[("a.txt", "two\n"), ("b.txt", "new\n")]));
    }
}

#[tokio::test]
async fn an_invalid_boundary_changes_nothing() {
    let (world, first, _) = two_turns().await;
    let before = world.files();
    let staged = world.stage(&first).await;
    let unknown_message = MessageID::parse("msg_nobody").unwrap();
    let refused = world.try_stage(&unknown_message, None, true).await;
    assert!(
        matches!(refused, Err(RuntimeError::MessageNotFound { .. })),
        "{refused:?}"
    );
    for part in ["c", "text-0"] {
        let refused = world.try_stage(&first, Some(part), true).await;
        assert!(
            matches!(refused, Err(RuntimeError::PartNotFound { .. })),
            "{refused:?}"
        );
    }
    assert_eq!(world.staged().await, Some(staged));
    world.clear().await;
    assert_eq!(world.files(), before);
}

#[tokio::test]
async fn a_session_in_a_folder_reverts_only_that_folder() {
    let world = World::with(
        |_| {},
        |f| {
            f.project.write("sub/c.txt", "c\n");
            f.project.git();
        },
        "sub",
    )
    .await;
    let changes = [("a.txt", Some("two\n")), ("sub/c.txt", Some("d\n"))];
    let first = world.turn("change both", &changes).await;
    let staged = world.stage(&first).await;
    assert_eq!(changed(&staged), ["modified sub/c.txt +1 -1"]);
    assert_eq!(
        world.files(),
        is(&[("a.txt", "two\n"), ("sub/c.txt", "c\n")])
    );
    world.clear().await;
    assert_eq!(
        world.files(),
        is(&[("a.txt", "two\n"), ("sub/c.txt", "d\n")])
    );
}

#[tokio::test]
async fn without_snapshots_only_messages_are_reverted() {
    let disabled = |f: &Fixture| {
        f.project.write("opencode.json", r#"{"snapshots": false}"#);
        f.project.git();
    };
    for world in [
        World::with(|_| {}, |_| {}, "").await,
        World::with(|_| {}, disabled, "").await,
    ] {
        let first = world.turn("change", &[("a.txt", Some("two\n"))]).await;
        let after = world.files();
        let staged = world.stage(&first).await;
        let expected = RevertState {
            message_id: first,
            part_id: None,
            snapshot: None,
            diff: None,
            files: None,
            conflicts: None,
        };
        assert_eq!((staged, world.files()), (expected, after.clone()));
        world.commit().await;
        assert_eq!(world.story().await, ["user: change"]);
        assert_eq!(world.files(), after);
    }
}

#[tokio::test]
async fn a_log_with_a_staged_revert_is_replayed_identically() {
    let (world, first, _) = two_turns().await;
    world.stage(&first).await;
    let lines = world.f.export(&world.session).await;
    let other = Fixture::open().await;
    let imported = other.import(&lines).await.unwrap();
    assert_eq!(imported.session.revert, world.staged().await);
    assert_eq!(other.export(&world.session).await, lines);
    // The export contains no snapshots, so only messages can be reverted, not files.
    let cleared = other.runtime().clear_revert(&world.session).await;
    assert!(
        matches!(cleared, Err(RuntimeError::Snapshot(_))),
        "{cleared:?}"
    );
    let committed = other.runtime().commit_revert(&world.session).await;
    committed.unwrap();
    assert_eq!(other.messages(&world.session).await.len(), 1);
}

#[tokio::test]
async fn a_revert_is_staged_again_after_a_move_to_another_worktree() {
    let (world, first, _) = two_turns().await;
    world.stage(&first).await;
    // Another clone of the same repository.
    let other = world.f.project.root().join("other");
    fs::create_dir(&other).unwrap();
    copy_repository(&world.f.project.path(".git"), &other.join(".git"));
    fs::write(other.join("b.txt"), "kept\n").unwrap();
    let before = world.files();
    let directory = other.to_string_lossy().into_owned();
    world.f.move_to(&world.session, directory).await;
    let staged = world.stage(&first).await;
    assert_eq!(staged.message_id, first);
    assert_eq!(fs::read_to_string(other.join("b.txt")).unwrap(), "kept\n");
    assert_eq!(world.files(), before);
    world.clear().await;
    assert_eq!(world.staged().await, None);
}

fn copy_repository(from: &Path, to: &Path) {
    fs::create_dir(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        match entry.file_type().unwrap().is_dir() {
            true => copy_repository(&entry.path(), &target),
            false => drop(fs::copy(entry.path(), target).unwrap()),
        }
    }
}
