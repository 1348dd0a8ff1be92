//! The store: shared, interrupted by a kill, damaged and swept.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod support;

use std::{
    collections::BTreeMap,
    fs::{self, FileTimes},
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use opencode_snapshots::{SnapshotError, Snapshots, SweepResult};
use support::{Project, plan};

const WEEK: Duration = Duration::from_secs(7 * 24 * 60 * 60);
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

fn object(project: &Project, id: &str) -> PathBuf {
    project
        .store()
        .join("objects")
        .join(&id[..2])
        .join(&id[2..])
}

/// Returns the paths of all objects of the store.
fn objects(project: &Project) -> Vec<PathBuf> {
    let folder = project.store().join("objects");
    support::everything(&folder)
        .into_keys()
        .map(|path| folder.join(path))
        .collect()
}

fn age(path: &Path, age: Duration) {
    let times = FileTimes::new().set_modified(SystemTime::now() - age);
    fs::File::open(path).unwrap().set_times(times).unwrap();
}

fn age_all(project: &Project, by: Duration) {
    objects(project).iter().for_each(|path| age(path, by));
}

/// Waits until a new file counts as settled, so that it is not read again.
async fn settled(project: &Project, path: &str) {
    let written = fs::metadata(project.root().join(path)).unwrap();
    let written = written.modified().unwrap();
    while written.elapsed().unwrap() < Duration::from_millis(100) {
        tokio::task::yield_now().await;
    }
}

/// Returns the list of files that a capture writes for the next process.
fn list(project: &Project) -> PathBuf {
    let entries = fs::read_dir(project.store())
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let is_list = |path: &PathBuf| {
        path.file_name()
            .unwrap()
            .to_str()
            .unwrap()
            .starts_with("files-")
    };
    entries.into_iter().find(is_list).unwrap()
}

#[tokio::test]
async fn git_reads_the_store() {
    let project = Project::new();
    project.write("dir/file", "content\n");
    let tree = project.snapshots().capture().await.unwrap().tree;
    if project.git(&["init"]).is_none() {
        return;
    }
    let alternates = format!("{}\n", project.store().join("objects").display());
    fs::create_dir_all(project.root().join(".git/objects/info")).unwrap();
    fs::write(
        project.root().join(".git/objects/info/alternates"),
        alternates,
    )
    .unwrap();
    let listed = project
        .git(&["ls-tree", "-r", "--name-only", &tree])
        .unwrap();
    assert_eq!(listed, "dir/file\n");
    project.git(&["fsck", "--strict"]).unwrap();
    let shown = project.git(&["show", &format!("{tree}:dir/file")]).unwrap();
    assert_eq!(shown, "content\n");
}

#[tokio::test]
async fn an_object_of_the_repository_is_stored_when_a_file_loses_it() {
    let project = Project::new();
    if project.git(&["init"]).is_none() {
        return;
    }
    for path in ["changes", "goes", "stays"] {
        project.write(path, path);
    }
    project.git(&["add", "."]);
    project.git(&["commit", "--quiet", "--message", "x"]);
    let snapshots = project.snapshots();
    let first = snapshots.capture().await.unwrap().tree;
    // Only the tree is stored.
    assert_eq!(objects(&project), [object(&project, &first)]);
    project.write("changes", "changed");
    project.remove("goes");
    let second = snapshots.capture().await.unwrap().tree;
    assert_eq!(objects(&project).len(), 5);
    // The repository loses all its objects.
    project.remove(".git");
    project.git(&["init"]);
    let files = snapshots.files(&first, &second).await.unwrap();
    snapshots
        .restore(&plan(&first, &files), &BTreeMap::new())
        .await
        .unwrap();
    assert_eq!(
        (project.read("changes"), project.read("goes")),
        ("changes".into(), "goes".into())
    );
}

#[tokio::test]
async fn a_killed_process_leaves_a_usable_store() {
    let project = Project::new();
    project.write("file", "1");
    let snapshots = project.snapshots();
    let tree = snapshots.capture().await.unwrap().tree;
    // Incomplete files: an object, a list of files, and a restored file.
    let half = project
        .store()
        .join("objects")
        .join(&tree[..2])
        .join("tmp_obj_1_1");
    fs::write(&half, "half").unwrap();
    let other_half = project.store().join("tmp_obj_1_2");
    fs::write(&other_half, "half").unwrap();
    project.write(".opencode-1-s0.tmp", "half");
    let again = project.snapshots();
    assert_eq!(again.capture().await.unwrap().tree, tree);
    assert_eq!(
        Snapshots::sweep(&project.store(), WEEK, &[]).await.unwrap(),
        SweepResult {
            removed: 0,
            bytes: 0,
            kept: 2
        }
    );
    age(&half, DAY);
    age(&other_half, DAY);
    assert_eq!(
        Snapshots::sweep(&project.store(), WEEK, &[]).await.unwrap(),
        SweepResult {
            removed: 2,
            bytes: 8,
            kept: 2
        }
    );
    assert_eq!(again.capture().await.unwrap().tree, tree);
}

#[tokio::test]
async fn a_damaged_list_of_files_is_created_again() {
    let project = Project::new();
    project.write("dir/file", "1");
    project.write("other", "2");
    settled(&project, "other").await;
    let tree = project.snapshots().capture().await.unwrap().tree;
    let list = list(&project);
    let whole = fs::read(&list).unwrap();
    let mut flipped = whole.clone();
    flipped[20] ^= 1;
    for damaged in [&b""[..], b"x", &whole[..whole.len() - 1], &flipped] {
        fs::write(&list, damaged).unwrap();
        assert_eq!(project.snapshots().capture().await.unwrap().tree, tree);
        assert_eq!(fs::read(&list).unwrap().len(), whole.len());
    }
}

#[tokio::test]
async fn the_next_process_reads_only_changed_files() {
    let project = Project::new();
    project.write("a", "1");
    project.write("b", "1");
    settled(&project, "b").await;
    let tree = project.snapshots().capture().await.unwrap().tree;
    let id = project
        .snapshots()
        .content(&tree, "a")
        .await
        .unwrap()
        .unwrap()
        .id;
    fs::remove_file(object(&project, &id)).unwrap();
    // If the file had been read, its object would be stored again.
    assert_eq!(project.snapshots().capture().await.unwrap().tree, tree);
    assert!(!object(&project, &id).exists());
    fs::remove_file(list(&project)).unwrap();
    assert_eq!(project.snapshots().capture().await.unwrap().tree, tree);
    assert!(object(&project, &id).exists());
}

#[tokio::test]
async fn a_damaged_object_is_reported_and_stored_again() {
    let project = Project::new();
    project.write("a", "1");
    let snapshots = project.snapshots();
    let tree = snapshots.capture().await.unwrap().tree;
    let id = snapshots.content(&tree, "a").await.unwrap().unwrap().id;
    project.write("a", "2");
    let later = snapshots.capture().await.unwrap().tree;
    for damage in [&b""[..], b"damaged"] {
        fs::remove_file(object(&project, &id)).unwrap();
        fs::write(object(&project, &id), damage).unwrap();
        let error = snapshots
            .diff(&tree, &later, &["a".to_owned()], usize::MAX)
            .await
            .unwrap_err();
        assert!(
            matches!(&error, SnapshotError::Missing(told) if *told == id),
            "{error:?}"
        );
        project.write("a", "1");
        assert_eq!(snapshots.capture().await.unwrap().tree, tree);
        assert_eq!(
            snapshots
                .diff(&tree, &later, &["a".to_owned()], usize::MAX)
                .await
                .unwrap()
                .len(),
            1
        );
        project.write("a", "2");
        assert_eq!(snapshots.capture().await.unwrap().tree, later);
    }
}

#[tokio::test]
async fn a_removed_object_is_stored_again() {
    let project = Project::new();
    project.write("dir/a", "1");
    let snapshots = project.snapshots();
    let tree = snapshots.capture().await.unwrap().tree;
    let before = objects(&project);
    for path in &before {
        fs::remove_file(path).unwrap();
        snapshots
            .restore(&plan(&tree, &["dir/a".to_owned()]), &BTreeMap::new())
            .await
            .unwrap_err();
        assert_eq!(snapshots.capture().await.unwrap().tree, tree);
        assert_eq!(objects(&project), before);
    }
}

#[tokio::test]
async fn a_sweep_keeps_needed_objects() {
    let project = Project::new();
    let snapshots = project.snapshots();
    let mut trees = Vec::new();
    for number in 0..4 {
        project.write("dir/file", format!("{number}"));
        trees.push(snapshots.capture().await.unwrap().tree);
    }
    let nothing = SweepResult {
        removed: 0,
        bytes: 0,
        kept: 12,
    };
    assert_eq!(
        Snapshots::sweep(&project.store(), WEEK, &[]).await.unwrap(),
        nothing
    );
    age_all(&project, WEEK + DAY);
    let named = [trees[0].clone(), "1".repeat(40), trees[3].clone()];
    let swept = Snapshots::sweep(&project.store(), WEEK, &named)
        .await
        .unwrap();
    assert_eq!((swept.removed, swept.kept), (6, 6));
    for (tree, stays) in trees.iter().zip([true, false, false, true]) {
        let found = project.snapshots().content(tree, "dir/file").await;
        assert_eq!(found.is_ok(), stays, "{found:?}");
    }
    // A reused object has a new time.
    age_all(&project, WEEK + DAY);
    project.write("dir/file", "0");
    assert_eq!(snapshots.capture().await.unwrap().tree, trees[0]);
    let swept = Snapshots::sweep(&project.store(), WEEK, &[]).await.unwrap();
    assert_eq!((swept.removed, swept.kept), (3, 3));
    snapshots
        .restore(&plan(&trees[0], &["dir/file".to_owned()]), &BTreeMap::new())
        .await
        .unwrap();
    assert_eq!(snapshots.capture().await.unwrap().tree, trees[0]);
}

#[tokio::test]
async fn the_store_of_a_removed_worktree_is_emptied() {
    let project = Project::new();
    project.write("dir/file", "1");
    project.snapshots().capture().await.unwrap();
    fs::remove_dir_all(project.root()).unwrap();
    let sweep = || async {
        let store = project.store();
        let swept = Snapshots::sweep(&store, WEEK, &[]).await.unwrap();
        (swept.removed, swept.kept)
    };
    assert_eq!(sweep().await, (0, 3));
    age_all(&project, WEEK + DAY);
    age(&list(&project), WEEK + DAY);
    assert_eq!(sweep().await, (4, 0));
    assert_eq!(objects(&project), Vec::<PathBuf>::new());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_processes_use_one_store_concurrently() {
    let project = Project::new();
    for number in 0..50 {
        project.write(
            &format!("dir{}/file{number}", number % 5),
            format!("{number}"),
        );
    }
    let expected = project.snapshots().capture().await.unwrap().tree;
    fs::remove_dir_all(project.store()).unwrap();
    let captures = (0..8).map(|_| {
        let (snapshots, store) = (project.snapshots(), project.store());
        tokio::spawn(async move {
            let tree = snapshots.capture().await.unwrap().tree;
            Snapshots::sweep(&store, WEEK, &[]).await.unwrap();
            (tree, snapshots.capture().await.unwrap().tree)
        })
    });
    let captures: Vec<_> = captures.collect();
    for capture in captures {
        assert_eq!(capture.await.unwrap(), (expected.clone(), expected.clone()));
    }
    let empty = Project::new().snapshots().capture().await.unwrap().tree;
    assert_eq!(empty, support::EMPTY);
}

#[tokio::test]
async fn a_locked_store_is_reported() {
    let project = Project::new();
    project.write("a", "1");
    let snapshots = project.snapshots();
    let tree = snapshots.capture().await.unwrap().tree;
    let lock = fs::File::open(project.store().join("lock")).unwrap();
    lock.lock().unwrap();
    let error = snapshots.capture().await.unwrap_err();
    assert!(matches!(error, SnapshotError::Busy(_)), "{error:?}");
    drop(lock);
    assert_eq!(snapshots.capture().await.unwrap().tree, tree);
}
