//! Random changes in small projects and in one that is large enough to be watched.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod support;

use std::collections::{BTreeMap, BTreeSet};

use proptest::{collection, prelude::*, test_runner::Config};
use support::{Project, TestFile, plan};
use tokio::runtime::Runtime;

fn any_file() -> impl Strategy<Value = TestFile> {
    prop_oneof![
        4 => "[ab\n]{0,3}".prop_map(|content| TestFile::File(content.into_bytes())),
        1 => Just(TestFile::File(vec![0, 255])),
        1 => "[ab]{0,2}".prop_map(|content| TestFile::Executable(content.into_bytes())),
        1 => "[ab./]{1,3}".prop_map(TestFile::Link),
    ]
}

/// Generates files without conflicts between file and directory paths.
fn files() -> impl Strategy<Value = BTreeMap<String, TestFile>> {
    collection::btree_map("[abc](/[ab ](/[a\n])?)?", any_file(), 0..8).prop_map(|files| {
        let paths: BTreeSet<String> = files.keys().cloned().collect();
        let is_free = |path: &str| {
            let mut above = path.match_indices('/').map(|(end, _)| &path[..end]);
            above.all(|above| !paths.contains(above))
        };
        files
            .into_iter()
            .filter(|(path, _)| is_free(path))
            .collect()
    })
}

/// Gives a project exactly these files.
fn apply(project: &Project, files: &BTreeMap<String, TestFile>) {
    for (path, what) in project.files() {
        if files.get(&path) != Some(&what) {
            project.remove(&path);
            let parts: Vec<_> = path.match_indices('/').map(|(end, _)| end).collect();
            for end in parts.into_iter().rev() {
                let _ = std::fs::remove_dir(project.root().join(&path[..end]));
            }
        }
    }
    for (path, what) in files {
        if project.files().get(path) != Some(what) {
            project.put(path, what);
        }
    }
}

proptest! {
    #![proptest_config(Config { failure_persistence: None, cases: 40, ..Config::default() })]

    #[test]
    fn changed_files_are_restored(states in collection::vec(files(), 2..5)) {
        Runtime::new().unwrap().block_on(async {
            let project = Project::new();
            let snapshots = project.snapshots();
            let mut trees = Vec::new();
            for state in &states {
                apply(&project, state);
                trees.push(snapshots.capture().await.unwrap().tree);
                let other = Project::new();
                apply(&other, state);
                prop_assert_eq!(&other.snapshots().capture().await.unwrap().tree, &trees[trees.len() - 1]);
            }
            let last = states.len() - 1;
            for (state, tree) in states.iter().zip(&trees) {
                let changed: Vec<String> = state.keys().chain(states[last].keys())
                    .filter(|path| state.get(*path) != states[last].get(*path))
                    .cloned().collect::<BTreeSet<_>>().into_iter().collect();
                let files = snapshots.files(tree, &trees[last]).await.unwrap();
                prop_assert_eq!(&files, &changed);
                let diffs = snapshots.diff(tree, &trees[last], &files, usize::MAX).await.unwrap();
                prop_assert_eq!(diffs.into_iter().map(|diff| diff.path).collect::<Vec<_>>(), changed);
                snapshots.restore(&plan(tree, &files), &BTreeMap::new()).await.unwrap();
                prop_assert_eq!(&project.files(), state);
                prop_assert_eq!(&snapshots.capture().await.unwrap().tree, tree);
                snapshots.restore(&plan(&trees[last], &files), &BTreeMap::new()).await.unwrap();
                prop_assert_eq!(&project.files(), &states[last]);
            }
            Ok(())
        })?;
    }
}

/// A deterministic random generator.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % sides
    }
}

fn change(project: &Project, dice: &mut Dice, round: usize) {
    let root = project.root();
    let folder = format!("d{}", dice.roll(40));
    let inner = format!("{folder}/i{}", dice.roll(2));
    let other = format!("d{}", dice.roll(40));
    let file = format!("{inner}/f{}", dice.roll(14));
    let exists = |path: &str| root.join(path).exists();
    match dice.roll(9) {
        0 | 1 => project.write(&file, format!("{round}")),
        2 if exists(&file) => project.remove(&file),
        3 if exists(&folder) => project.remove(&folder),
        4 if exists(&folder) && !exists("moved") => {
            std::fs::rename(root.join(&folder), root.join("moved")).unwrap();
        }
        5 if exists("moved") && !exists(&other) => {
            std::fs::rename(root.join("moved"), root.join(&other)).unwrap();
        }
        // Two directories swap their paths.
        6 if exists(&folder) && exists(&other) && folder != other => {
            std::fs::rename(root.join(&folder), root.join("x")).unwrap();
            std::fs::rename(root.join(&other), root.join(&folder)).unwrap();
            std::fs::rename(root.join("x"), root.join(&other)).unwrap();
        }
        7 => project.write(
            &format!("{folder}/.gitignore"),
            format!("f{}\n", dice.roll(14)),
        ),
        8 if exists(&file) => project.chmod(&file, 0o755),
        _ => {}
    }
}

#[tokio::test]
async fn a_watched_project_has_the_same_snapshots_as_an_unwatched_one() {
    let project = Project::new();
    for number in 0..1120 {
        let (folder, inner) = (number % 40, number / 40 % 2);
        project.write(
            &format!("d{folder}/i{inner}/f{}", number / 80),
            format!("{number}"),
        );
    }
    let snapshots = project.snapshots();
    let mut dice = Dice(0x9e37_79b9_7f4a_7c15);
    let mut trees = BTreeSet::new();
    for round in 0..80 {
        for _ in 0..=dice.roll(3) {
            change(&project, &mut dice, round);
        }
        let tree = snapshots.capture().await.unwrap().tree;
        assert_eq!(
            tree,
            project.snapshots().capture().await.unwrap().tree,
            "round {round}"
        );
        trees.insert(tree);
    }
    assert!(trees.len() > 50, "{}", trees.len());
}

#[tokio::test]
async fn the_folder_of_a_watched_scope_may_be_replaced() {
    let project = Project::new();
    for number in 0..1100 {
        project.write(&format!("packages/app/d{}/f{number}", number % 20), "1");
        project.write(&format!("other/app/d{}/f{number}", number % 20), "2");
    }
    let snapshots = project.scoped("packages/app");
    let before = snapshots.capture().await.unwrap().tree;
    assert_eq!(snapshots.capture().await.unwrap().tree, before);
    let root = project.root();
    std::fs::rename(root.join("packages"), root.join("away")).unwrap();
    std::fs::rename(root.join("other"), root.join("packages")).unwrap();
    let after = snapshots.capture().await.unwrap().tree;
    assert_eq!(
        after,
        project.scoped("packages/app").capture().await.unwrap().tree
    );
    assert_eq!(snapshots.files(&before, &after).await.unwrap().len(), 1100);
}
