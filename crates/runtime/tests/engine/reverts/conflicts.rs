//! Files that another program changed stay unchanged and are listed as conflicts.

use std::fs;

use super::{World, changed, is};

#[tokio::test]
async fn a_file_that_another_program_changed_is_kept_and_listed() {
    let world = World::open().await;
    let changes = [
        ("a.txt", Some("two\n")),
        ("b.txt", Some("b\n")),
        ("c.txt", Some("c\n")),
    ];
    let first = world.turn("change", &changes).await;
    world.f.project.write("a.txt", "mine\n");
    fs::remove_file(world.f.project.path("c.txt")).unwrap();
    let after = world.files();
    let staged = world.stage(&first).await;
    assert_eq!(staged.conflicts, Some(vec!["a.txt".into(), "c.txt".into()]));
    assert_eq!(changed(&staged), ["deleted b.txt +0 -1"]);
    assert_eq!(world.files(), is(&[("a.txt", "mine\n")]));
    assert_eq!(world.staged().await, Some(staged));
    world.clear().await;
    assert_eq!(world.files(), after);
}

#[tokio::test]
async fn a_file_that_another_program_changed_during_a_staged_revert_is_kept() {
    let world = World::open().await;
    let first = world.turn("one", &[("a.txt", Some("two\n"))]).await;
    let second = world.turn("two", &[("b.txt", Some("b\n"))]).await;
    world.stage(&first).await;
    world.f.project.write("a.txt", "mine\n");
    // Neither another staging nor clearing changes the file.
    let staged = world.stage(&second).await;
    assert_eq!(staged.conflicts, Some(vec!["a.txt".into()]));
    assert_eq!(changed(&staged), ["deleted b.txt +0 -1"]);
    assert_eq!(world.files(), is(&[("a.txt", "mine\n")]));
    world.clear().await;
    assert_eq!(world.files(), is(&[("a.txt", "mine\n"), ("b.txt", "b\n")]));
    world.stage(&first).await;
    world.f.project.write("b.txt", "mine, too\n");
    world.clear().await;
    assert_eq!(
        world.files(),
        is(&[("a.txt", "mine\n"), ("b.txt", "mine, too\n")])
    );
}

#[tokio::test]
async fn files_outside_of_the_new_location_are_kept() {
    let world = World::open().await;
    let changes = [("a.txt", Some("two\n")), ("sub/c.txt", Some("c\n"))];
    let first = world.turn("change", &changes).await;
    let after = world.files();
    let sub = world.f.project.path("sub").to_string_lossy().into_owned();
    world.f.move_to(&world.session, sub).await;
    let staged = world.stage(&first).await;
    assert_eq!(staged.conflicts, Some(vec!["a.txt".into()]));
    assert_eq!(changed(&staged), ["deleted sub/c.txt +0 -1"]);
    assert_eq!(world.files(), is(&[("a.txt", "two\n")]));
    // The session moves back. The base is the snapshot of the folder.
    world
        .f
        .move_to(&world.session, world.f.project.directory())
        .await;
    world.stage(&first).await;
    assert_eq!(world.files(), is(&[("a.txt", "two\n")]));
    world.clear().await;
    assert_eq!(world.files(), after);
}

#[tokio::test]
async fn files_without_snapshots_are_kept_and_messages_are_reverted() {
    let mut world = World::open().await;
    // The file is not in the repository.
    world.turn("write", &[("b.txt", Some("one\n"))]).await;
    let second = world.turn("change", &[("b.txt", Some("two\n"))]).await;
    let stores = world.f.project.root().join("data/embedded/snapshot");
    fs::remove_dir_all(stores).unwrap();
    world.f.reopen().await;
    let staged = world.stage(&second).await;
    assert_eq!(
        (changed(&staged), staged.conflicts),
        (vec![], Some(vec!["b.txt".into()]))
    );
    world.commit().await;
    assert_eq!(world.story().await.last().unwrap(), "user: change");
    assert_eq!(world.files()["b.txt"], "two\n");
}

#[tokio::test]
async fn files_that_no_step_changed_are_kept() {
    let world = World::open().await;
    let first = world.turn("change", &[("a.txt", Some("two\n"))]).await;
    world.f.project.write("mine.txt", "mine\n");
    let staged = world.stage(&first).await;
    assert_eq!(staged.conflicts, None);
    assert_eq!(
        world.files(),
        is(&[("a.txt", "one\n"), ("mine.txt", "mine\n")])
    );
    world.f.project.write("mine.txt", "more\n");
    world.clear().await;
    assert_eq!(
        world.files(),
        is(&[("a.txt", "two\n"), ("mine.txt", "more\n")])
    );
}

#[tokio::test]
async fn a_folder_in_place_of_a_file_is_kept_and_listed() {
    let world = World::open().await;
    let first = world.turn("remove", &[("a.txt", None)]).await;
    world.f.project.write("a.txt/mine.txt", "mine\n");
    let staged = world.stage(&first).await;
    assert_eq!(
        (changed(&staged), staged.conflicts.clone()),
        (vec![], Some(vec!["a.txt".into()]))
    );
    assert_eq!(world.staged().await, Some(staged));
    assert_eq!(world.files(), is(&[("a.txt/mine.txt", "mine\n")]));
}

#[cfg(unix)]
#[tokio::test]
async fn modes_and_links_are_restored() {
    use opencode_testkit::{Reply, output};
    use serde_json::json;
    use std::os::unix::fs::{PermissionsExt, symlink};

    let world = World::open().await;
    let root = world.f.project.path("");
    let (script, link) = (root.join("a.txt"), root.join("link"));
    let (in_tool, link_in_tool) = (script.clone(), link.clone());
    world.f.tool("mode", move |_, _| {
        fs::set_permissions(&in_tool, fs::Permissions::from_mode(0o755)).unwrap();
        symlink("a.txt", &link_in_tool).unwrap();
        async { output(json!({})) }
    });
    let mode = || fs::metadata(&script).unwrap().permissions().mode() & 0o777;
    let before = mode();
    world.f.model.reply(Reply::calls("m", "mode", json!({})));
    world.f.model.reply(Reply::says("Done."));
    let first = world.f.ask(&world.session, "mode").await.id;
    let staged = world.stage(&first).await;
    assert_eq!(
        changed(&staged),
        ["modified a.txt +0 -0", "deleted link +0 -1"]
    );
    assert_eq!((mode(), link.symlink_metadata().is_ok()), (before, false));
    world.clear().await;
    assert_eq!(mode(), 0o755);
    assert_eq!(fs::read_link(&link).unwrap().to_str(), Some("a.txt"));
}
