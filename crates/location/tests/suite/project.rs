//! The project of a directory.

use std::fs;
use std::path::Path;

use opencode_location::project::{Project, Projects, Vcs};

use crate::machine::{Machine, git};

async fn resolve(machine: &Machine, below: &str) -> Project {
    let projects = Projects::default();
    projects.resolve(&machine.text(below)).await
}

fn project(machine: &Machine, id: &str, directory: &str, store: &str) -> Project {
    Project {
        id: id.to_owned(),
        directory: machine.text(directory),
        vcs: Some(Vcs::Git {
            store: machine.text(store),
        }),
    }
}

/// Creates the parts of a git directory that the discovery checks.
fn fake_repository(machine: &Machine, below: &str, config: &str) {
    machine.write(&format!("{below}/HEAD"), "ref: refs/heads/main\n");
    machine.write(&format!("{below}/config"), config);
}

const ORIGIN: &str = "[core]\n\tbare = false\n[remote \"origin\"]\n\turl = git@GitHub.com:Owner/Repo.git\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n";

/// SHA-1 of `git-remote:github.com/Owner/Repo`.
const ORIGIN_ID: &str = "11f3c80b242022192a49fbe6fa3d06af97909468";

#[tokio::test]
async fn outside_any_repository_the_project_is_global() {
    let machine = Machine::new();
    machine.directory("a");
    assert_eq!(resolve(&machine, "a").await, Project::global());
    assert_eq!(
        resolve(&machine, "a/missing/below").await,
        Project::global()
    );
}

#[tokio::test]
async fn the_remote_identifies_every_directory_of_a_repository() {
    let machine = Machine::new();
    fake_repository(&machine, "r/.git", ORIGIN);
    machine.write("r/.git/opencode", "recorded");
    let expected = project(&machine, ORIGIN_ID, "r", "r/.git");
    machine.directory("r/a");
    for directory in ["r", "r/a", "r/a/missing", "r/.git/hooks"] {
        assert_eq!(resolve(&machine, directory).await, expected, "{directory}");
    }
}

#[tokio::test]
async fn the_nearest_repository_is_used() {
    let machine = Machine::new();
    fake_repository(&machine, "r/.git", ORIGIN);
    fake_repository(
        &machine,
        "r/inner/.git",
        "[remote \"origin\"]\nurl = https://h.example/inner\n",
    );
    let inner = resolve(&machine, "r/inner/a").await;
    assert_eq!(inner.directory, machine.text("r/inner"));
    assert_ne!(inner.id, ORIGIN_ID);
}

#[tokio::test]
async fn without_a_remote_the_recorded_identity_is_used() {
    let machine = Machine::new();
    fake_repository(
        &machine,
        "r/.git",
        "[remote \"origin\"]\nurl = file:///srv/repo.git\n",
    );
    machine.write("r/.git/opencode", " recorded-id \n");
    assert_eq!(
        resolve(&machine, "r").await,
        project(&machine, "recorded-id", "r", "r/.git")
    );
}

#[tokio::test]
async fn an_invalid_recorded_identity_is_ignored() {
    for content in ["", " \n", "two\nlines", "nul\0", &"x".repeat(300)] {
        let machine = Machine::new();
        fake_repository(&machine, "r/.git", "");
        machine.write("r/.git/opencode", content);
        let found = resolve(&machine, "r").await;
        assert_eq!(found, project(&machine, "global", "r", "r/.git"));
    }
}

#[tokio::test]
async fn hostile_repositories_have_no_identity() {
    for config in [
        vec![b'x'; 2 * 1024 * 1024],
        b"[remote \"origin\"]\nurl = \xff\xfe\n".to_vec(),
        b"[remote \"origin\"\n\\\"=\\".to_vec(),
        vec![0; 1000],
        b"[".repeat(100_000),
        b"[remote \"origin\"]\nurl = \"\\".to_vec(),
    ] {
        let machine = Machine::new();
        fake_repository(&machine, "r/.git", "");
        machine.write("r/.git/config", config);
        let found = resolve(&machine, "r").await;
        assert_eq!(found, project(&machine, "global", "r", "r/.git"));
    }
}

#[tokio::test]
async fn a_git_file_points_to_its_git_directory() {
    let machine = Machine::new();
    fake_repository(&machine, "main/.git", ORIGIN);
    machine.write("main/.git/worktrees/w/HEAD", "ref: refs/heads/w\n");
    machine.write("main/.git/worktrees/w/commondir", "../..\n");
    let target = machine.text("main/.git/worktrees/w");
    for pointer in [
        format!("gitdir: {target}\n"),
        format!("gitdir: {target}"),
        "gitdir: ../main/.git/worktrees/w\r\n".to_owned(),
    ] {
        machine.write("w/.git", pointer);
        assert_eq!(
            resolve(&machine, "w/below").await,
            project(&machine, ORIGIN_ID, "w", "main/.git")
        );
    }
}

#[tokio::test]
async fn a_submodule_has_its_own_identity() {
    let machine = Machine::new();
    fake_repository(&machine, "r/.git", ORIGIN);
    fake_repository(
        &machine,
        "r/.git/modules/sub",
        "[remote \"origin\"]\nurl = https://h.example/sub.git\n",
    );
    machine.write("r/sub/.git", "gitdir: ../.git/modules/sub\n");
    let found = resolve(&machine, "r/sub").await;
    assert_eq!(found.directory, machine.text("r/sub"));
    assert_ne!(found.id, ORIGIN_ID);
}

#[tokio::test]
async fn a_git_entry_without_a_target_hides_no_parent_repository() {
    let machine = Machine::new();
    fake_repository(&machine, "r/.git", ORIGIN);
    let expected = project(&machine, ORIGIN_ID, "r", "r/.git");
    machine.directory("r/empty/.git");
    assert_eq!(resolve(&machine, "r/empty").await, expected);
    for content in [
        "",
        "gitdir:",
        "gitdir: \n",
        "gitdir: /nowhere",
        "gitdir: .git",
        "gitdir: a\nb",
        "gitdir: \0",
        "something else",
        &"gitdir: /".repeat(2000),
    ] {
        machine.write("r/odd/.git", content);
        assert_eq!(resolve(&machine, "r/odd").await, expected, "{content:?}");
    }
}

fn commit(directory: &Path, message: &str) -> String {
    git(
        directory,
        &["commit", "--quiet", "--allow-empty", "-m", message],
    );
    git(directory, &["rev-parse", "HEAD"])
}

#[tokio::test]
async fn without_remote_and_record_the_first_root_commit_is_used() {
    let machine = Machine::new();
    machine.directory("r");
    let root = machine.path("r");
    git(&root, &["init", "--quiet"]);
    let projects = Projects::default();
    let directory = machine.text("r");

    let empty = projects.resolve(&directory).await;
    assert_eq!(empty, project(&machine, "global", "r", "r/.git"));

    let first = commit(&root, "one");
    commit(&root, "two");
    let found = projects.resolve(&directory).await;
    assert_eq!(found, project(&machine, &first, "r", "r/.git"));

    git(&root, &["checkout", "--quiet", "--orphan", "other"]);
    let second = commit(&root, "three");
    git(
        &root,
        &["merge", "--quiet", "--allow-unrelated-histories", "main"],
    );
    let fresh = resolve(&machine, "r").await;
    assert_eq!(fresh.id, first.min(second));
}

#[tokio::test]
async fn worktrees_share_the_identity_and_keep_their_directory() {
    let machine = Machine::new();
    machine.directory("r");
    let root = machine.path("r");
    git(&root, &["init", "--quiet"]);
    let first = commit(&root, "one");
    git(&root, &["worktree", "add", "--quiet", "../w"]);
    assert_eq!(
        resolve(&machine, "w").await,
        project(&machine, &first, "w", "r/.git")
    );
}

#[tokio::test]
async fn a_history_that_cannot_be_read_gives_no_identity() {
    let machine = Machine::new();
    fake_repository(&machine, "r/.git", "");
    machine.write("r/.git/refs/heads/main", "1".repeat(40));
    let found = resolve(&machine, "r").await;
    assert_eq!(found, project(&machine, "global", "r", "r/.git"));
}

#[tokio::test]
async fn a_history_is_read_once_per_repository() {
    let machine = Machine::new();
    machine.directory("r");
    let root = machine.path("r");
    git(&root, &["init", "--quiet"]);
    let first = commit(&root, "one");
    let projects = Projects::default();
    for below in ["r", "r/a"] {
        assert_eq!(projects.resolve(&machine.text(below)).await.id, first);
        fs::remove_dir_all(root.join(".git/objects")).unwrap_or_default();
    }
}

#[test]
fn subpaths_are_relative_to_the_project() {
    let repository = Project {
        directory: "/r".to_owned(),
        vcs: Some(Vcs::Git {
            store: "/r/.git".to_owned(),
        }),
        ..Project::global()
    };
    for (directory, subpath) in [("/r", ""), ("/r/a/b", "a/b"), ("/elsewhere", "")] {
        assert_eq!(repository.subpath(directory), subpath, "{directory}");
    }
    for (directory, subpath) in [("/", ""), ("/a/b", "a/b")] {
        assert_eq!(Project::global().subpath(directory), subpath, "{directory}");
    }
}
