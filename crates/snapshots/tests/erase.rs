//! Erasure of the snapshots that no session needs.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod support;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use opencode_snapshots::{Erased, Erasure, HeldTrees, SnapshotError, Snapshots};
use support::{Project, owner, plan};

const WEEK: Duration = Duration::from_secs(7 * 24 * 60 * 60);

fn erasure(held: &HeldTrees, needed: &[&str]) -> Erasure {
    Erasure {
        owner: owner("a"),
        needed: needed.iter().map(|it| (*it).to_owned()).collect(),
        noted: Arc::new(held.note()),
        retention: WEEK,
        is_stopped: Arc::new(|| false),
    }
}

async fn erase(project: &Project, held: &HeldTrees, needed: &[&str]) -> Erased {
    let erasure = Arc::new(erasure(held, needed));
    Snapshots::erase(&project.store(), erasure).await.unwrap()
}

/// Restores a snapshot and returns the content of a file.
async fn restored(project: &Project, snapshots: &Snapshots, tree: &str, path: &str) -> String {
    let plan = plan(tree, &[path.to_owned()]);
    snapshots.restore(&plan, &BTreeMap::new()).await.unwrap();
    project.read(path)
}

fn stored(project: &Project) -> Vec<String> {
    support::everything(&project.store().join("objects"))
        .into_keys()
        .collect()
}

#[tokio::test]
async fn only_the_objects_of_needed_snapshots_stay_and_captures_continue() {
    let project = Project::new();
    let options = project.options("");
    let held = options.held.clone();
    let snapshots = Snapshots::new(options);
    project.write("a/secret", "secret of the removed session");
    project.write("b/same", "same");
    let removed = snapshots.capture().await.unwrap().tree;
    project.write("a/secret", "kept");
    let kept = snapshots.capture().await.unwrap().tree;
    project.write("a/secret", "now");
    let now = snapshots.capture().await.unwrap().tree;
    assert_eq!(erase(&project, &held, &[&kept]).await, Erased::Whole);
    // Two trees of directories, the root, and two contents.
    assert_eq!(stored(&project).len(), 5);
    let gone = snapshots.content(&removed, "a/secret").await;
    assert!(matches!(gone, Err(SnapshotError::Missing(_))), "{gone:?}");
    // The files are the same as before, and their objects are stored again.
    assert_eq!(snapshots.capture().await.unwrap().tree, now);
    assert_eq!(
        restored(&project, &snapshots, &kept, "a/secret").await,
        "kept"
    );
    assert_eq!(
        restored(&project, &snapshots, &now, "a/secret").await,
        "now"
    );
    // So does the next process, whose list of files is gone.
    assert_eq!(erase(&project, &held, &[]).await, Erased::Whole);
    assert_eq!(stored(&project).len(), 0);
    let next = project.snapshots();
    assert_eq!(next.capture().await.unwrap().tree, now);
    project.write("a/secret", "other");
    assert_eq!(restored(&project, &next, &now, "a/secret").await, "now");
}

#[tokio::test]
async fn a_snapshot_stays_while_it_is_held() {
    let project = Project::new();
    let options = project.options("");
    let held = options.held.clone();
    let snapshots = Snapshots::new(options);
    project.write("file", "held");
    let capture = snapshots.capture().await.unwrap();
    erase(&project, &held, &[]).await;
    project.write("file", "other");
    assert_eq!(
        restored(&project, &snapshots, &capture.tree, "file").await,
        "held"
    );
    // It was held when the erasure began, so a session may name it meanwhile.
    let erasure = erasure(&held, &[]);
    let tree = capture.tree.clone();
    drop(capture);
    let erased = Snapshots::erase(&project.store(), Arc::new(erasure)).await;
    assert_eq!(erased.unwrap(), Erased::Whole);
    assert!(snapshots.content(&tree, "file").await.is_ok());
    erase(&project, &held, &[]).await;
    let gone = snapshots.content(&tree, "file").await;
    assert!(matches!(gone, Err(SnapshotError::Missing(_))), "{gone:?}");
}

#[tokio::test]
async fn the_objects_of_another_database_stay() {
    let project = Project::new();
    project.write("file", "1");
    let mut options = project.options("");
    options.owner = owner("b");
    let held = options.held.clone();
    let tree = Snapshots::new(options).capture().await.unwrap().tree;
    // The database of the erasure has never used the store.
    assert_eq!(erase(&project, &held, &[]).await, Erased::Whole);
    project.snapshots().capture().await.unwrap();
    assert_eq!(erase(&project, &held, &[]).await, Erased::Shared);
    let snapshots = project.snapshots();
    assert!(snapshots.content(&tree, "file").await.unwrap().is_some());
    // The mark of a database in memory goes with its host.
    let mut options = project.options("");
    options.owner = owner("c");
    options.owner.is_lasting = false;
    let memory = Snapshots::new(options);
    memory.capture().await.unwrap();
    let mark = project.store().join("user-c");
    assert!(mark.exists());
    memory.end().await;
    assert!(!mark.exists());
    let stopped = Erasure {
        owner: owner("b"),
        is_stopped: Arc::new(|| true),
        ..erasure(&held, &[])
    };
    std::fs::remove_file(project.store().join("user-a")).unwrap();
    let stopped = Snapshots::erase(&project.store(), Arc::new(stopped)).await;
    assert_eq!(stopped.unwrap(), Erased::Stopped);
}

#[tokio::test(flavor = "multi_thread")]
async fn captures_at_the_same_time_are_complete() {
    let project = Arc::new(Project::new());
    for n in 0..40 {
        project.write(&format!("d{n}/file"), format!("{n}"));
    }
    let options = project.options("");
    let held = options.held.clone();
    let snapshots = Snapshots::new(options);
    let (capturing, place) = (snapshots.clone(), Arc::clone(&project));
    let captures = tokio::spawn(async move {
        let mut captures = Vec::new();
        for n in 0..60 {
            // Contents return, so that captures reuse objects.
            place.write(&format!("d{}/file", n % 7), format!("content {}", n % 5));
            let capture = capturing.capture().await.unwrap();
            captures.push((n, capture));
        }
        captures
    });
    let mut erasures = 0;
    while !captures.is_finished() {
        assert_eq!(erase(&project, &held, &[]).await, Erased::Whole);
        erasures += 1;
    }
    assert!(erasures > 0);
    for (n, capture) in captures.await.unwrap() {
        for d in 0..40 {
            let path = format!("d{d}/file");
            let content = restored(&project, &snapshots, &capture.tree, &path).await;
            let changed = (0..=n).rev().find(|n| n % 7 == d);
            let expected = changed.map_or(format!("{d}"), |n| format!("content {}", n % 5));
            assert_eq!(content, expected, "{n} {path}");
        }
    }
}
