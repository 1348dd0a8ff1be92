//! The content of snapshots, and the unchanged state of the user's repository.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod support;

use std::{collections::BTreeMap, fs};

use opencode_snapshots::{Entry, Mode, SnapshotError};
use support::{EMPTY, Project, everything, paths, text};

#[tokio::test]
async fn equal_files_have_the_same_id_as_in_git() {
    let project = Project::new();
    let snapshots = project.snapshots();
    assert_eq!(snapshots.capture().await.unwrap().tree, EMPTY);
    project.write("a.txt", "one\n");
    project.write("dir/b.txt", "two\n");
    project.write("dir.txt", "three\n");
    project.write("dir0", "four\n");
    project.write("run.sh", "#!/bin/sh\n");
    project.chmod("run.sh", 0o755);
    project.link("a.txt", "link");
    fs::create_dir_all(project.root().join("empty/deep")).unwrap();
    let capture = snapshots.capture().await.unwrap();
    assert_eq!(capture.skipped, []);
    assert_eq!(capture.tree, "7690def5b6cce8b32f9e9dcce536b0171ad0e0ba");
    assert_eq!(snapshots.capture().await.unwrap(), capture);
    assert_eq!(project.snapshots().capture().await.unwrap(), capture);
    if project.git(&["add", "--all"]).is_some() {
        assert_eq!(project.git(&["write-tree"]).unwrap().trim(), capture.tree);
    }
}

#[tokio::test]
async fn all_kinds_of_changes_are_detected() {
    let project = Project::new();
    for path in ["a", "b", "c", "d/e", "d/f", "g/h"] {
        project.write(path, "0");
    }
    let snapshots = project.snapshots();
    let mut before = snapshots.capture().await.unwrap().tree;
    type Change = fn(&Project);
    let changes: [(Change, &[&str]); 9] = [
        (|project| project.write("a", "1"), &["a"]),
        (|project| project.chmod("b", 0o755), &["b"]),
        (|project| project.remove("c"), &["c"]),
        (|project| project.write("d/new/file", "1"), &["d/new/file"]),
        (
            |project| fs::rename(project.root().join("d"), project.root().join("x")).unwrap(),
            &["d/e", "d/f", "d/new/file", "x/e", "x/f", "x/new/file"],
        ),
        (
            |project| project.put("g/h", &support::TestFile::Link("../a".into())),
            &["g/h"],
        ),
        (
            |project| {
                project.remove("g");
                project.write("g", "a file");
            },
            &["g", "g/h"],
        ),
        (
            |project| {
                fs::remove_dir_all(project.root().join("x/new")).unwrap();
                project.link("../..", "x/new");
            },
            &["x/new", "x/new/file"],
        ),
        (|project| project.write("a", "2"), &["a"]),
    ];
    for (number, (change, expected)) in changes.into_iter().enumerate() {
        change(&project);
        let after = snapshots.capture().await.unwrap().tree;
        let files = snapshots.files(&before, &after).await.unwrap();
        assert_eq!(files, paths(expected), "change {number}");
        assert_eq!(
            project.snapshots().capture().await.unwrap().tree,
            after,
            "change {number}"
        );
        before = after;
    }
}

#[tokio::test]
async fn a_change_within_the_same_tick_is_detected() {
    let project = Project::new();
    let snapshots = project.snapshots();
    for number in 0..200 {
        project.write("file", format!("{number:04}"));
        let tree = snapshots.capture().await.unwrap().tree;
        let id = snapshots.content(&tree, "file").await.unwrap();
        assert_eq!(id, snapshots.current("file").await.unwrap(), "{number}");
    }
}

#[tokio::test]
async fn rules_apply_at_every_level_and_to_tracked_files() {
    let project = Project::new();
    project.write(".gitignore", "*.log\n/build/\n!keep.log\ntracked.txt\n");
    project.write(".git/info/exclude", "secret*\n");
    project.write("sub/.gitignore", "!again.log\ninner/\n");
    for path in [
        "a.log",
        "keep.log",
        "build/x",
        "sub/build/y",
        "sub/again.log",
        "sub/b.log",
        "sub/inner/z",
        "secret.txt",
        "sub/secrets/a",
        "tracked.txt",
        "plain",
    ] {
        project.write(path, "content");
    }
    project.git(&["add", "--force", "tracked.txt"]);
    let snapshots = project.snapshots();
    let tree = snapshots.capture().await.unwrap().tree;
    let all = snapshots.files(EMPTY, &tree).await.unwrap();
    let expected = [
        ".gitignore",
        "keep.log",
        "plain",
        "sub/.gitignore",
        "sub/again.log",
        "sub/build/y",
    ];
    assert_eq!(all, paths(&expected));

    project.write("sub/.gitignore", "");
    project.write(".git/info/exclude", "plain\n");
    let later = snapshots.capture().await.unwrap().tree;
    let files = snapshots.files(&tree, &later).await.unwrap();
    let expected = [
        "secret.txt",
        "sub/.gitignore",
        "sub/inner/z",
        "sub/secrets/a",
    ];
    assert_eq!(files, paths(&expected));
    assert_eq!(snapshots.content(&later, "plain").await.unwrap(), None);
    assert_eq!(
        snapshots.content(&later, "sub/again.log").await.unwrap(),
        None
    );
}

#[tokio::test]
async fn only_the_scope_is_captured() {
    let project = Project::new();
    project.write(".gitignore", "*.tmp\n");
    project.write("outside.txt", "1");
    project.write("packages/.gitignore", "*.out\n");
    project.write("packages/app/file", "1");
    project.write("packages/app/a.tmp", "1");
    project.write("packages/app/a.out", "1");
    project.write("packages/other/file", "1");
    let scoped = project.scoped("packages/app");
    let tree = scoped.capture().await.unwrap().tree;
    let all = project.snapshots();
    assert_eq!(
        all.files(EMPTY, &tree).await.unwrap(),
        ["packages/app/file"]
    );
    project.write("outside.txt", "2");
    assert_eq!(scoped.capture().await.unwrap().tree, tree);
    project.write(".gitignore", "");
    let later = scoped.capture().await.unwrap().tree;
    assert_eq!(
        scoped.files(&tree, &later).await.unwrap(),
        ["packages/app/a.tmp"]
    );
    project.write(".gitignore", "packages\n");
    assert_eq!(scoped.capture().await.unwrap().tree, EMPTY);
    // Snapshots of the whole worktree are compared within the scope.
    project.remove(".gitignore");
    let whole = all.capture().await.unwrap().tree;
    assert_eq!(
        scoped.files(&tree, &whole).await.unwrap(),
        ["packages/app/a.tmp"]
    );
}

#[tokio::test]
async fn entries_contain_content_and_mode() {
    let project = Project::new();
    project.write("dir/file", "hello\n");
    project.write("run", "");
    project.chmod("run", 0o700);
    project.link("nowhere", "link");
    let snapshots = project.snapshots();
    let tree = snapshots.capture().await.unwrap().tree;
    let entry = |id: &str, mode| {
        Some(Entry {
            id: id.to_owned(),
            mode,
        })
    };
    let expected = [
        (
            "dir/file",
            entry("ce013625030ba8dba906f756967f9e9ca394464a", Mode::File),
        ),
        (
            "run",
            entry("e69de29bb2d1d6434b8b29ae775ad8c2e48c5391", Mode::Executable),
        ),
        (
            "link",
            entry("e34bb27ff4a24cd3afb9ac5dc1bf1c2c8bbf0a4c", Mode::Link),
        ),
        ("dir", None),
        ("dir/file/below", None),
        ("link/file", None),
        ("missing", None),
    ];
    for (path, entry) in expected {
        if path != "link" {
            assert_eq!(
                snapshots.content(&tree, path).await.unwrap(),
                entry,
                "{path}"
            );
        }
        let current = snapshots.current(path).await.unwrap();
        assert_eq!(
            snapshots.content(&tree, path).await.unwrap(),
            current,
            "{path}"
        );
    }
}

#[tokio::test]
async fn the_repository_is_unchanged_byte_for_byte() {
    let project = Project::new();
    if project.git(&["init"]).is_none() {
        return;
    }
    project.write("a", "1\r\n");
    project.write("dir/b", "2");
    project.write(".gitattributes", "* text=auto eol=lf filter=broken\n");
    project.git(&["config", "core.autocrlf", "input"]);
    project.git(&["add", "."]);
    project.git(&["commit", "--quiet", "--message", "x"]);
    project.git(&["config", "filter.broken.clean", "false"]);
    project.git(&["config", "filter.broken.required", "true"]);
    project.git(&["gc", "--quiet"]);
    let times = || -> Vec<_> {
        let git = project.root().join(".git");
        let files = everything(&git).into_keys();
        files
            .map(|path| {
                (
                    path.clone(),
                    git.join(path).metadata().unwrap().modified().unwrap(),
                )
            })
            .collect()
    };
    let before = (everything(&project.root().join(".git")), times());
    let snapshots = project.snapshots();
    let first = snapshots.capture().await.unwrap().tree;
    project.write("a", "changed");
    project.remove("dir/b");
    project.write("new", "3");
    let second = snapshots.capture().await.unwrap().tree;
    let files = snapshots.files(&first, &second).await.unwrap();
    assert_eq!(files, ["a", "dir/b", "new"]);
    assert_eq!(
        snapshots
            .diff(&first, &second, &files, usize::MAX)
            .await
            .unwrap()
            .len(),
        3
    );
    snapshots
        .restore(&support::plan(&first, &files), &BTreeMap::new())
        .await
        .unwrap();
    opencode_snapshots::Snapshots::sweep(&project.store(), std::time::Duration::ZERO, &[first])
        .await
        .unwrap();
    assert_eq!((everything(&project.root().join(".git")), times()), before);
    let expected = [
        (".gitattributes", text("* text=auto eol=lf filter=broken\n")),
        ("a", text("1\r\n")),
        ("dir/b", text("2")),
    ];
    assert_eq!(
        project.files(),
        expected.map(|(path, what)| (path.to_owned(), what)).into()
    );
}

#[tokio::test]
async fn rules_have_the_same_meaning_as_in_git() {
    const RULES: &str = "\u{feff}bom\r\n# comment\n\\#hash\n\\!bang\n*.o\n!keep.o\n/rooted\n\
        dir/\nfoo/*\n!foo/keep\na/**/z\n**/deep\nq/**\ndoc/*.txt\n[!x]y\nb?d\nspace\\ \nspaced  \n\
        mid/dle\n!never/back\nnever/\n*.[ch]\n[0-9]*\n!/sub/5five\nempty//\n\\\\slash\n{a,b}brace\n";
    const PATHS: [&str; 50] = [
        "bom",
        "# comment",
        "#hash",
        "!bang",
        "x.o",
        "keep.o",
        "sub/keep.o",
        "rooted",
        "sub/rooted",
        "dir/file",
        "sub/dir/file",
        "other/dir",
        "foo/x",
        "foo/keep",
        "foo/sub/x",
        "sub/foo/x",
        "a/z",
        "a/b/z",
        "a/b/c/z",
        "sub/a/z",
        "deep",
        "sub/deep/x",
        "q/x",
        "q/r/x",
        "doc/a.txt",
        "doc/sub/a.txt",
        "sub/doc/a.txt",
        "xy",
        "ay",
        "bcd",
        "bd",
        "b-d",
        "space ",
        "spaced",
        "mid/dle",
        "sub/mid/dle",
        "never/back",
        "x.c",
        "x.cc",
        "sub/x.h",
        "1one",
        "sub/5five",
        "six6",
        "empty/x",
        "\\slash",
        "abrace",
        "{a,b}brace",
        "own/mine",
        "own/yours",
        "plain",
    ];
    let project = Project::new();
    for path in PATHS {
        project.write(path, "");
    }
    project.write(".gitignore", RULES);
    project.write("own/.gitignore", "*\n!mine\n");
    let snapshots = project.snapshots();
    let tree = snapshots.capture().await.unwrap().tree;
    let files = snapshots.files(EMPTY, &tree).await.unwrap();
    let Some(listed) = project.git(&["ls-files", "--others", "--exclude-standard", "-z"]) else {
        return;
    };
    let mut listed: Vec<&str> = listed.split_terminator('\0').collect();
    listed.sort_unstable();
    assert_eq!(files, listed);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_written_after_closing() {
    const FILES: usize = 5000;
    let project = Project::new();
    for number in 0..FILES {
        project.write(&format!("d{}/{number}", number % 50), number.to_string());
    }
    let snapshots = project.snapshots();
    let capturing = tokio::spawn({
        let snapshots = snapshots.clone();
        async move { snapshots.capture().await }
    });
    while stored(&project) == 0 {
        tokio::task::yield_now().await;
    }
    snapshots.end().await;
    let written = stored(&project);
    assert!(written < FILES);
    assert!(matches!(
        capturing.await.unwrap(),
        Err(SnapshotError::Ended)
    ));
    project.write("later", "later");
    let later = snapshots.capture().await;
    assert!(matches!(later, Err(SnapshotError::Ended)));
    assert_eq!(stored(&project), written);
}

/// Returns the number of objects in the store.
fn stored(project: &Project) -> usize {
    let Ok(folders) = fs::read_dir(project.store().join("objects")) else {
        return 0;
    };
    let files = |folder: fs::DirEntry| fs::read_dir(folder.path()).map_or(0, Iterator::count);
    folders.map(|folder| files(folder.unwrap())).sum()
}
