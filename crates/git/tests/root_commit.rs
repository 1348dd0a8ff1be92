//! The first root commit of repositories that Git writes.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod support;

use std::{
    fs, io,
    path::Path,
    process::Command,
    time::{Duration, Instant},
};

use opencode_git::first_root_commit;
use support::{Folder, Repository};

/// Returns the first root commit of a main worktree.
fn found(repository: &Repository) -> io::Result<Option<String>> {
    let git_dir = repository.below("");
    in_directories(&git_dir, &git_dir)
}

fn in_directories(git_dir: &Path, common: &Path) -> io::Result<Option<String>> {
    let deadline = Instant::now() + Duration::from_secs(60);
    let found = first_root_commit(git_dir, common, deadline)?;
    Ok(found.map(|id| id.to_string()))
}

/// Returns the answer of Git.
fn expected(repository: &Repository) -> Option<String> {
    let commits = repository.git(&["rev-list", "--max-parents=0", "HEAD"]);
    commits.lines().min().map(str::to_owned)
}

/// Makes a history with three root commits and a merge of two branches.
fn history(repository: &Repository) {
    repository.commit("one");
    repository.commit("two");
    for other in ["a", "b"] {
        repository.orphan(other);
        repository.git(&["checkout", "--quiet", "main"]);
        repository.merge(other);
    }
    repository.commit("last");
}

#[test]
fn a_repository_without_commits_has_none() {
    let folder = Folder::new();
    assert_eq!(found(&folder.repository("r")).unwrap(), None);
}

#[test]
fn the_first_of_several_root_commits_is_found_wherever_git_stores_them() {
    let folder = Folder::new();
    let repository = folder.repository("r");
    history(&repository);
    let first = expected(&repository);
    assert_eq!(found(&repository).unwrap(), first);
    // Packed objects and references, with loose ones above them.
    repository.git(&["gc", "--quiet"]);
    assert!(repository.below("packed-refs").exists());
    assert_eq!(found(&repository).unwrap(), first);
    repository.commit("later");
    repository.git(&["repack", "--quiet", "-d"]);
    repository.commit("loose");
    assert_eq!(found(&repository).unwrap(), first);
    repository.git(&["checkout", "--quiet", "--detach", "HEAD~1"]);
    assert_eq!(found(&repository).unwrap(), first);
}

#[test]
fn only_the_history_of_head_counts() {
    let folder = Folder::new();
    let repository = folder.repository("r");
    let first = repository.commit("one");
    let other = repository.orphan("other");
    assert_eq!(found(&repository).unwrap(), Some(other));
    repository.git(&["checkout", "--quiet", "main"]);
    assert_eq!(found(&repository).unwrap(), Some(first));
}

#[test]
fn a_linked_worktree_has_its_own_head() {
    let folder = Folder::new();
    let repository = folder.repository("r");
    let first = repository.commit("one");
    repository.git(&["worktree", "add", "--quiet", "../w"]);
    let linked = Repository(folder.path("w"));
    let git_dir = repository.below("worktrees/w");
    let common = repository.below("");
    let of_linked = || in_directories(&git_dir, &common).unwrap();
    assert_eq!(of_linked(), Some(first));
    let other = linked.orphan("other");
    assert_eq!(of_linked(), Some(other));
}

#[test]
fn a_shallow_clone_ends_at_its_last_commits() {
    let folder = Folder::new();
    let repository = folder.repository("r");
    history(&repository);
    let url = format!("file://{}", repository.0.display());
    repository.git(&["clone", "--quiet", "--depth=2", &url, "../c"]);
    let clone = Repository(folder.path("c"));
    assert!(clone.below("shallow").exists());
    assert_eq!(found(&clone).unwrap(), expected(&clone));
    assert_ne!(found(&clone).unwrap(), expected(&repository));
}

#[test]
fn borrowed_commits_are_read() {
    let folder = Folder::new();
    let repository = folder.repository("r");
    history(&repository);
    repository.git(&["clone", "--quiet", "--shared", ".", "../c"]);
    let clone = Repository(folder.path("c"));
    clone.commit("own");
    assert_eq!(found(&clone).unwrap(), expected(&repository));
    // A relative path begins at the object directory. Two that borrow from each other end.
    let alternates = "objects/info/alternates";
    fs::write(clone.below(alternates), "# r\n\n../../../r/.git/objects\n").unwrap();
    fs::write(repository.below(alternates), "../../../c/.git/objects\n").unwrap();
    assert_eq!(found(&clone).unwrap(), expected(&repository));
}

#[test]
fn the_ids_of_a_repository_may_be_made_with_sha_256() {
    let folder = Folder::new();
    let repository = folder.repository_with("r", &["--object-format=sha256"]);
    history(&repository);
    let first = expected(&repository);
    assert_eq!(first.as_ref().map(String::len), Some(64));
    assert_eq!(found(&repository).unwrap(), first);
    repository.git(&["gc", "--quiet"]);
    assert_eq!(found(&repository).unwrap(), first);
}

#[test]
fn references_in_tables_are_not_supported() {
    let folder = Folder::new();
    let repository = folder.repository_with("r", &["--ref-format=reftable"]);
    repository.commit("one");
    let error = found(&repository).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::Unsupported);
}

#[test]
fn deltas_of_commits_are_read() {
    let folder = Folder::new();
    let repository = folder.repository("r");
    let text = "a line that is the same in all messages\n".repeat(50);
    for number in 0..60 {
        repository.commit(&format!("{number}\n\n{text}"));
    }
    repository.git(&["repack", "--quiet", "-adf", "--depth=50", "--window=60"]);
    let deltas = repository.git(&[
        "cat-file",
        "--batch-all-objects",
        "--batch-check=%(deltabase)",
    ]);
    let full = "0".repeat(40);
    let count = deltas.lines().filter(|base| **base != full).count();
    assert!(count > 30, "{count}");
    assert_eq!(found(&repository).unwrap(), expected(&repository));
}

/// Runs itself in another process that cannot find programs, with the repository in a variable.
#[test]
fn no_git_program_is_needed() {
    const REPOSITORY: &str = "REPOSITORY_OF_TEST";
    let Some(path) = std::env::var_os(REPOSITORY) else {
        let folder = Folder::new();
        let repository = folder.repository("r");
        let first = repository.commit("one");
        let output = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "no_git_program_is_needed"])
            .arg("--nocapture")
            .env("PATH", "")
            .env(REPOSITORY, &repository.0)
            .output()
            .unwrap();
        let printed = String::from_utf8_lossy(&output.stdout);
        assert!(printed.contains(&first), "{output:?}");
        return;
    };
    assert!(Command::new("git").arg("--version").output().is_err());
    println!("{}", found(&Repository(path.into())).unwrap().unwrap());
}
