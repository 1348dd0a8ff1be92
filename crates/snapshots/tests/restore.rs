//! Restoring files, including conflicts.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod support;

use std::{collections::BTreeMap, fs, os::unix::fs::PermissionsExt};

use opencode_snapshots::{SnapshotError, Snapshots};
use support::{Project, TestFile, plan, text};

/// Restores all files that differ between the worktree and a snapshot.
async fn back(snapshots: &Snapshots, tree: &str) -> Result<(), SnapshotError> {
    let now = snapshots.capture().await?.tree;
    let files = snapshots.files(tree, &now).await?;
    snapshots
        .restore(&plan(tree, &files), &BTreeMap::new())
        .await
}

fn failed(error: SnapshotError) -> Vec<(String, String)> {
    let SnapshotError::Restore(failed) = error else {
        panic!("{error:?}");
    };
    failed
        .into_iter()
        .map(|(path, error)| (path, error.to_string()))
        .collect()
}

#[tokio::test]
async fn content_mode_and_kind_are_restored() {
    let project = Project::new();
    project.put("file", &text("1"));
    project.put("run", &TestFile::Executable(b"2".to_vec()));
    project.put("link", &TestFile::Link("file".into()));
    project.put("deep/er/file", &text("3"));
    project.put("becomes/a/file", &text("4"));
    project.put("becomes-a-directory", &text("5"));
    project.put("becomes-a-link/file", &text("6"));
    let snapshots = project.snapshots();
    let tree = snapshots.capture().await.unwrap().tree;
    let before = project.files();
    let outside = project.outside();
    fs::write(outside.join("file"), "outside").unwrap();
    project.put("file", &TestFile::Executable(b"changed".to_vec()));
    project.put("run", &text("2"));
    project.put("link", &text("no link"));
    project.remove("deep");
    project.remove("becomes");
    project.put("becomes", &text("a file"));
    project.remove("becomes-a-directory");
    project.put("becomes-a-directory/with/file", &text("new"));
    project.remove("becomes-a-link");
    project.put(
        "becomes-a-link",
        &TestFile::Link(outside.to_str().unwrap().into()),
    );
    project.put("new/deep/file", &text("new"));
    back(&snapshots, &tree).await.unwrap();
    assert_eq!(project.files(), before);
    assert!(!project.root().join("new").exists());
    assert_eq!(snapshots.capture().await.unwrap().tree, tree);
    assert_eq!(fs::read_to_string(outside.join("file")).unwrap(), "outside");
}

#[tokio::test]
async fn permissions_are_kept_except_the_executable_bit() {
    let project = Project::new();
    project.write("private", "1");
    project.chmod("private", 0o600);
    project.write("run", "1");
    project.chmod("run", 0o750);
    let snapshots = project.snapshots();
    let tree = snapshots.capture().await.unwrap().tree;
    project.write("private", "2");
    project.chmod("private", 0o700);
    project.write("run", "2");
    project.chmod("run", 0o640);
    back(&snapshots, &tree).await.unwrap();
    let mode = |path: &str| {
        let metadata = project.root().join(path).metadata().unwrap();
        metadata.permissions().mode() & 0o777
    };
    assert_eq!((mode("private"), mode("run")), (0o600, 0o750));
}

#[tokio::test]
async fn files_that_are_in_no_snapshot_are_not_removed() {
    let project = Project::new();
    project.write("file", "1");
    project.write(".gitignore", "*.log\n.env\n");
    project.write(".env", "secret");
    let snapshots = project.snapshots();
    let tree = snapshots.capture().await.unwrap().tree;
    project.remove("file");
    project.write("file/ignored.log", "kept");
    project.write("file/new", "new");
    project.write("gone/ignored.log", "kept");
    project.write("gone/new", "new");
    // If a step removes an ignore rule, existing files become visible.
    project.write(".gitignore", "*.log\n");
    let error = back(&snapshots, &tree).await.unwrap_err();
    let reason = "a directory that is not empty is in the way".to_owned();
    assert_eq!(failed(error), [("file".to_owned(), reason)]);
    let expected = [
        (".env", text("secret")),
        (".gitignore", text("*.log\n.env\n")),
        ("file/ignored.log", text("kept")),
        ("gone/ignored.log", text("kept")),
    ];
    let expected: BTreeMap<_, _> = expected
        .map(|(path, what)| (path.to_owned(), what))
        .into_iter()
        .collect();
    assert_eq!(project.files(), expected);
}

#[tokio::test]
async fn links_are_not_followed() {
    let project = Project::new();
    project.write("dir/file", "1");
    project.write("dir/gone", "1");
    let snapshots = project.snapshots();
    let with = snapshots.capture().await.unwrap().tree;
    project.remove("dir");
    let without = snapshots.capture().await.unwrap().tree;
    let outside = project.outside();
    fs::write(outside.join("gone"), "outside").unwrap();
    project.link(outside.to_str().unwrap(), "dir");
    let reason = "a file or a link is where a directory was".to_owned();
    let write = snapshots
        .restore(&plan(&with, &["dir/file".to_owned()]), &BTreeMap::new())
        .await;
    assert_eq!(
        failed(write.unwrap_err()),
        [("dir/file".to_owned(), reason)]
    );
    snapshots
        .restore(&plan(&without, &["dir/gone".to_owned()]), &BTreeMap::new())
        .await
        .unwrap();
    assert_eq!(snapshots.current("dir/gone").await.unwrap(), None);
    let expected = BTreeMap::from([("gone".to_owned(), text("outside"))]);
    assert_eq!(support::everything(&outside), expected);
}

#[tokio::test]
async fn nothing_is_changed_if_a_snapshot_is_missing() {
    let project = Project::new();
    project.write("a", "1");
    project.write("b", "1");
    let snapshots = project.snapshots();
    let first = snapshots.capture().await.unwrap().tree;
    project.write("a", "2");
    project.write("b", "2");
    let id = snapshots.content(&first, "b").await.unwrap().unwrap().id;
    // Both have the same content, so there is one object.
    fs::remove_file(
        project
            .store()
            .join("objects")
            .join(&id[..2])
            .join(&id[2..]),
    )
    .unwrap();
    let both = ["a".to_owned(), "b".to_owned()];
    let error = snapshots
        .restore(&plan(&first, &both), &BTreeMap::new())
        .await
        .unwrap_err();
    assert!(
        matches!(&error, SnapshotError::Missing(told) if *told == id),
        "{error:?}"
    );
    let expected = [("a", text("2")), ("b", text("2"))];
    assert_eq!(
        project.files(),
        expected.map(|(path, what)| (path.to_owned(), what)).into()
    );
}

#[tokio::test]
async fn unchanged_files_are_not_written() {
    let project = Project::new();
    project.write("a", "1");
    let snapshots = project.snapshots();
    let tree = snapshots.capture().await.unwrap().tree;
    let times = || {
        let metadata = project.root().join("a").metadata().unwrap();
        (
            metadata.modified().unwrap(),
            std::os::unix::fs::MetadataExt::ino(&metadata),
        )
    };
    let before = times();
    snapshots
        .restore(&plan(&tree, &["a".to_owned()]), &BTreeMap::new())
        .await
        .unwrap();
    assert_eq!(times(), before);
}

#[tokio::test]
async fn the_directory_of_a_scope_is_kept() {
    let project = Project::new();
    project.write("keep", "1");
    fs::create_dir_all(project.root().join("packages/app")).unwrap();
    let snapshots = project.scoped("packages/app");
    let tree = snapshots.capture().await.unwrap().tree;
    project.write("packages/app/a/b", "1");
    back(&snapshots, &tree).await.unwrap();
    assert!(project.root().join("packages/app").is_dir());
    assert!(!project.root().join("packages/app/a").exists());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_directory_that_is_replaced_during_a_restore_leads_to_no_outside_write() {
    use std::sync::atomic::{AtomicBool, Ordering};

    let project = Project::new();
    let outside = project.outside();
    for number in 0..20 {
        project.write(&format!("dir/sub/{number}"), "inside");
        fs::create_dir_all(outside.join("sub")).unwrap();
        fs::write(outside.join(format!("sub/{number}")), "outside").unwrap();
    }
    let snapshots = project.snapshots();
    let with = snapshots.capture().await.unwrap().tree;
    let paths: Vec<String> = (0..20).map(|number| format!("dir/sub/{number}")).collect();
    let empty = Project::new();
    let without = empty.snapshots().capture().await.unwrap().tree;
    fs::copy(
        empty
            .store()
            .join("objects")
            .join(&without[..2])
            .join(&without[2..]),
        {
            let folder = project.store().join("objects").join(&without[..2]);
            fs::create_dir_all(&folder).unwrap();
            folder.join(&without[2..])
        },
    )
    .unwrap();
    let before = support::everything(&outside);
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let root = project.root();
        let (stop, outside) = (&stop, &outside);
        scope.spawn(move || {
            while !stop.load(Ordering::Relaxed) {
                let _ = fs::rename(root.join("dir"), root.join("away"));
                let _ = std::os::unix::fs::symlink(outside, root.join("dir"));
                let _ = fs::remove_file(root.join("dir"));
                let _ = fs::rename(root.join("away"), root.join("dir"));
                let _ = fs::remove_file(root.join("file"));
                let _ = std::os::unix::fs::symlink(outside.join("sub/0"), root.join("file"));
                let _ = fs::remove_file(root.join("file"));
                let _ = fs::write(root.join("file"), "inside");
            }
        });
        let handle = tokio::runtime::Handle::current();
        let race = scope.spawn(move || {
            handle.block_on(async {
                for _ in 0..60 {
                    let _ = snapshots
                        .restore(&plan(&without, &paths), &BTreeMap::new())
                        .await;
                    let _ = snapshots
                        .restore(&plan(&with, &paths), &BTreeMap::new())
                        .await;
                    let tree = snapshots.capture().await.unwrap().tree;
                    for path in paths.iter().map(String::as_str).chain(["file"]) {
                        // The id of "outside", which the snapshot would contain after following a link.
                        let leaked = "797697c31229a5e8408381209f27b856d417922c";
                        let entry = snapshots.content(&tree, path).await.unwrap();
                        assert_ne!(entry.map(|entry| entry.id).as_deref(), Some(leaked));
                    }
                }
            });
        });
        let raced = race.join();
        stop.store(true, Ordering::Relaxed);
        raced.unwrap();
    });
    assert_eq!(support::everything(&outside), before);
}

#[tokio::test]
async fn a_file_that_changed_after_its_capture_is_kept() {
    let project = Project::new();
    project.write("new", "step");
    project.write("old", "step");
    let snapshots = project.snapshots();
    let step = snapshots.capture().await.unwrap().tree;
    project.remove("new");
    project.write("old", "before");
    let before = snapshots.capture().await.unwrap().tree;
    let paths = ["new".to_owned(), "old".to_owned()];
    let stepped = plan(&step, &paths);
    snapshots.restore(&stepped, &BTreeMap::new()).await.unwrap();
    let mut seen = BTreeMap::new();
    for path in &paths {
        seen.insert(path.clone(), snapshots.current(path).await.unwrap());
    }
    project.write("new", "somebody");
    project.chmod("old", 0o755);
    let theirs = project.files();
    let wanted = plan(&before, &paths);
    let error = snapshots.restore(&wanted, &seen).await;
    assert_eq!(
        error.unwrap_err().to_string(),
        "2 of the files could not be put back, the first is new: it was changed just now"
    );
    assert_eq!(project.files(), theirs);
    for path in &paths {
        seen.insert(path.clone(), snapshots.current(path).await.unwrap());
    }
    snapshots.restore(&wanted, &seen).await.unwrap();
    assert_eq!(
        project.files(),
        BTreeMap::from([("old".to_owned(), text("before"))])
    );
}
