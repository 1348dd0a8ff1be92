#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::{
    fs,
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, Instant},
};

use tempfile::TempDir;

use crate::engine::Engine;
use crate::held::HeldTrees;
use crate::options::SnapshotOptions;
use crate::owner::Owner;

/// A project that is large enough to be watched, with an outside hard link to one of its files.
struct Watched {
    folder: TempDir,
    engine: Engine,
}

impl Watched {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let worktree = folder.path().canonicalize().unwrap().join("work");
        fs::create_dir_all(worktree.join(".git/objects")).unwrap();
        for number in 0..1000 {
            let below = worktree.join(format!("d{}", number % 40));
            fs::create_dir_all(&below).unwrap();
            fs::write(below.join(format!("f{number}")), "before").unwrap();
        }
        let options = SnapshotOptions {
            store: folder.path().join("store"),
            worktree,
            scope: PathBuf::new(),
            private: Vec::new(),
            owner: Owner {
                name: "a".to_owned(),
                is_lasting: true,
            },
            held: HeldTrees::default(),
        };
        let engine = Engine::new(options, Arc::default());
        Self { folder, engine }
    }

    fn link(&self) -> PathBuf {
        let outside = self.folder.path().join("outside");
        fs::hard_link(self.folder.path().join("work/d7/f7"), &outside).unwrap();
        outside
    }

    fn capture(&mut self) -> String {
        self.engine.capture().unwrap().tree
    }

    /// Captures until no file is so new that each survey checks it.
    fn settle(&mut self) {
        let now = Instant::now();
        while now.elapsed() < Duration::from_millis(100) {
            self.capture();
        }
        self.capture();
    }

    /// Returns the snapshot of an engine without earlier state.
    fn anew(&self) -> String {
        let mut engine = Engine::new(self.engine.options.clone(), Arc::default());
        engine.capture().unwrap().tree
    }
}

fn write(path: &Path, text: &str) {
    fs::write(path, text).unwrap();
}

#[test]
fn a_file_with_a_second_name_is_read_at_each_capture() {
    let mut project = Watched::new();
    let outside = project.link();
    project.settle();
    project.engine.review(|| false);
    let before = project.capture();
    write(&outside, "after");
    let after = project.capture();
    assert_ne!(before, after);
    assert_eq!(after, project.anew());
}

#[test]
fn unreported_changes_are_found_by_a_review_and_used_by_the_next_capture() {
    let mut project = Watched::new();
    project.settle();
    project.engine.review(|| false);
    assert!(!project.engine.is_review_due());
    let before = project.capture();
    write(&project.link(), "after");
    // A capture never waits for a full review, even if one is due.
    assert_eq!(project.capture(), before);
    project.engine.review(|| true);
    assert_eq!(project.capture(), before);
    project.engine.review(|| false);
    assert_eq!(project.capture(), project.anew());
    assert_ne!(project.capture(), before);
}

#[test]
fn a_stopped_review_has_no_effect() {
    let mut project = Watched::new();
    project.capture();
    project.engine.review(|| true);
    assert!(project.engine.is_review_due());
}
