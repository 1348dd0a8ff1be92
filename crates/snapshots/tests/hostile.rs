//! Files that no snapshot can or should contain, and requests that are refused.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod support;

use std::{collections::BTreeMap, fs, io::Write};

use flate2::{Compression, write::ZlibEncoder};
use opencode_snapshots::{
    HeldTrees, Mode, SkipReason, Skipped, SnapshotError, SnapshotOptions, Snapshots,
};
use support::{EMPTY, Project, owner, paths};

#[tokio::test]
async fn only_files_are_captured() {
    use std::os::unix::{ffi::OsStrExt, net::UnixListener};

    let project = Project::new();
    project.write("a", "1");
    project.write("nested/.git/HEAD", "ref: refs/heads/main\n");
    project.write("nested/file", "1");
    project.write("module/.git", "gitdir: ../elsewhere\n");
    project.write("module/deep/file", "1");
    project.write("line\nbreak", "1");
    let _socket = UnixListener::bind(project.root().join("socket")).unwrap();
    rustix::fs::mknodat(
        rustix::fs::CWD,
        project.root().join("fifo"),
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::from_raw_mode(0o600),
        0,
    )
    .unwrap();
    fs::write(
        project.root().join(std::ffi::OsStr::from_bytes(b"bad\xff")),
        "1",
    )
    .unwrap();
    let snapshots = project.snapshots();
    let capture = snapshots.capture().await.unwrap();
    let skipped = |path: &str, reason| Skipped {
        path: path.to_owned(),
        reason,
    };
    assert_eq!(
        capture.skipped,
        [
            skipped("bad\u{fffd}", SkipReason::Name),
            skipped("fifo", SkipReason::Special),
            skipped("module", SkipReason::Repository),
            skipped("nested", SkipReason::Repository),
            skipped("socket", SkipReason::Special),
        ]
    );
    let files = snapshots.files(EMPTY, &capture.tree).await.unwrap();
    assert_eq!(files, paths(&["a", "line\nbreak"]));

    project.remove("module/.git");
    let later = snapshots.capture().await.unwrap().tree;
    let files = snapshots.files(&capture.tree, &later).await.unwrap();
    assert_eq!(files, paths(&["module/deep/file"]));
}

#[tokio::test]
async fn large_files_are_omitted_unless_git_tracks_them_or_they_grew() {
    const LIMIT: usize = 2 * 1024 * 1024;
    let project = Project::new();
    project.write("exact", vec![b'a'; LIMIT]);
    project.write("over", vec![b'a'; LIMIT + 1]);
    project.write("grows", "small");
    let has_git = project.git(&["init"]).is_some();
    if has_git {
        project.write("tracked", vec![b'b'; LIMIT + 1]);
        project.git(&["add", "tracked"]);
    }
    let snapshots = project.snapshots();
    let capture = snapshots.capture().await.unwrap();
    let over = Skipped {
        path: "over".into(),
        reason: SkipReason::TooLarge,
    };
    assert_eq!(capture.skipped, [over]);
    project.write("grows", vec![b'c'; LIMIT + 1]);
    let later = snapshots.capture().await.unwrap().tree;
    let mut expected = paths(&["exact", "grows"]);
    expected.extend(has_git.then(|| "tracked".to_owned()));
    assert_eq!(snapshots.files(EMPTY, &later).await.unwrap(), expected);
    assert_eq!(
        snapshots.files(&capture.tree, &later).await.unwrap(),
        ["grows"]
    );
}

#[tokio::test]
async fn invalid_ids_and_paths_are_reported() {
    let project = Project::new();
    project.write("a", "1");
    let snapshots = project.snapshots();
    let tree = snapshots.capture().await.unwrap().tree;
    for id in ["", "abc", &"g".repeat(40), &tree[1..]] {
        let error = snapshots.files(id, &tree).await.unwrap_err();
        assert!(
            matches!(&error, SnapshotError::InvalidId(told) if told == id),
            "{error:?}"
        );
    }
    let missing = "1".repeat(40);
    let error = snapshots.files(&missing, &tree).await.unwrap_err();
    assert!(
        matches!(&error, SnapshotError::Missing(told) if *told == missing),
        "{error:?}"
    );
    for path in [
        "",
        "/a",
        "../a",
        "a/../b",
        ".git/config",
        "x/.GIT/y",
        "a//b",
        "./a",
        "a\0",
    ] {
        let refused = |error: SnapshotError| {
            assert!(
                matches!(&error, SnapshotError::InvalidPath(told) if told == path),
                "{path:?}"
            );
        };
        refused(snapshots.current(path).await.unwrap_err());
        refused(snapshots.content(&tree, path).await.unwrap_err());
        refused(
            snapshots
                .diff(&tree, &tree, &paths(&[path]), usize::MAX)
                .await
                .unwrap_err(),
        );
        let plan = support::plan(&tree, &paths(&[path]));
        refused(
            snapshots
                .restore(&plan, &BTreeMap::new())
                .await
                .unwrap_err(),
        );
    }
    let folder = tempfile::tempdir().unwrap();
    let options = SnapshotOptions {
        store: project.store(),
        worktree: folder.path().canonicalize().unwrap(),
        scope: "".into(),
        private: Vec::new(),
        owner: owner("a"),
        held: HeldTrees::default(),
    };
    let error = Snapshots::new(options).capture().await.unwrap_err();
    assert!(
        matches!(error, SnapshotError::NotARepository(_)),
        "{error:?}"
    );
}

#[tokio::test]
async fn files_of_the_host_in_the_worktree_are_not_captured() {
    let project = Project::new();
    project.write("file", "1");
    project.write("data/embedded/opencode.db", "1");
    project.write("data/other", "1");
    let snapshots = Snapshots::new(SnapshotOptions {
        store: project.root().join("store"),
        worktree: project.root(),
        scope: "".into(),
        private: vec![project.root().join("data/embedded")],
        owner: owner("a"),
        held: HeldTrees::default(),
    });
    let tree = snapshots.capture().await.unwrap().tree;
    assert_eq!(snapshots.capture().await.unwrap().tree, tree);
    let files = snapshots.files(EMPTY, &tree).await.unwrap();
    assert_eq!(files, paths(&["data/other", "file"]));
}

#[tokio::test]
async fn a_tree_that_is_nested_too_deep_is_refused_for_a_while() {
    let project = Project::new();
    project.write(&format!("{}file", "a/".repeat(200)), "1");
    let tree = project.snapshots().capture().await.unwrap().tree;
    assert_ne!(tree, EMPTY);
    project.write(&format!("{}file", "a/".repeat(201)), "1");
    let snapshots = project.snapshots();
    let refused = |error: SnapshotError| {
        let told = "directories are nested over 200 deep";
        assert!(
            matches!(error, SnapshotError::TooLarge(reason) if reason == told),
            "{error:?}"
        );
    };
    refused(snapshots.capture().await.unwrap_err());
    project.remove("a");
    // A refused project is not walked through again for each step.
    refused(snapshots.capture().await.unwrap_err());
    assert_eq!(project.snapshots().capture().await.unwrap().tree, EMPTY);
}

#[tokio::test]
async fn paths_longer_than_the_limit_of_the_system_are_captured() {
    let project = Project::new();
    let snapshots = project.snapshots();
    // Over 4096 bytes in total, created step by step.
    let name = "n".repeat(200);
    let mut here = rustix::fs::open(
        project.root(),
        rustix::fs::OFlags::DIRECTORY,
        rustix::fs::Mode::empty(),
    )
    .unwrap();
    for _ in 0..30 {
        let all = rustix::fs::Mode::from_raw_mode(0o755);
        rustix::fs::mkdirat(&here, name.as_str(), all).unwrap();
        let flags = rustix::fs::OFlags::DIRECTORY;
        here = rustix::fs::openat(&here, name.as_str(), flags, all).unwrap();
    }
    let flags = rustix::fs::OFlags::CREATE | rustix::fs::OFlags::WRONLY;
    let mode = rustix::fs::Mode::from_raw_mode(0o644);
    rustix::fs::openat(&here, "file", flags, mode).unwrap();
    let tree = snapshots.capture().await.unwrap().tree;
    let path = format!("{}file", format!("{name}/").repeat(30));
    assert_eq!(
        snapshots.files(EMPTY, &tree).await.unwrap(),
        paths(&[&path])
    );
    assert_eq!(
        snapshots.current(&path).await.unwrap(),
        snapshots.content(&tree, &path).await.unwrap()
    );
    // Some tools cannot remove a path of this length.
    snapshots
        .restore(&support::plan(EMPTY, &[path]), &BTreeMap::new())
        .await
        .unwrap();
    assert_eq!(std::fs::read_dir(project.root()).unwrap().count(), 1);
}

#[tokio::test]
async fn a_huge_file_is_not_read() {
    let project = Project::new();
    project.write("huge", "");
    let huge = fs::File::options()
        .write(true)
        .open(project.root().join("huge"))
        .unwrap();
    let snapshots = project.snapshots();
    let tree = snapshots.capture().await.unwrap().tree;
    huge.set_len(1 << 40).unwrap();
    // The file was captured while it was small, but is now too large.
    let capture = snapshots.capture().await.unwrap();
    assert_eq!(capture.tree, EMPTY);
    let skipped = Skipped {
        path: "huge".to_owned(),
        reason: SkipReason::TooLarge,
    };
    assert_eq!(capture.skipped, [skipped]);
    let current = snapshots.current("huge").await.unwrap().unwrap();
    assert_eq!(current.id, "0".repeat(40));
    snapshots
        .restore(
            &support::plan(&tree, &["huge".to_owned()]),
            &BTreeMap::new(),
        )
        .await
        .unwrap();
    assert_eq!(snapshots.capture().await.unwrap().tree, tree);
}

#[tokio::test]
async fn an_unreadable_path_does_not_affect_the_others() {
    let project = Project::new();
    project.write("a", "1");
    let snapshots = project.snapshots();
    let tree = snapshots.capture().await.unwrap().tree;
    let wanted = paths(&["a", "../a", "gone"]);
    let contents = snapshots.contents(&tree, &wanted).await.unwrap();
    let currents = snapshots.currents(&wanted).await.unwrap();
    for looks in [contents, currents] {
        let modes = looks.into_iter().map(|look| {
            let mode = look.map(|entry| entry.map(|entry| entry.mode));
            mode.map_err(|error| error.to_string())
        });
        let refused = r#""../a" is not a path within the worktree"#.to_owned();
        let expected = [Ok(Some(Mode::File)), Err(refused), Ok(None)];
        assert_eq!(modes.collect::<Vec<_>>(), expected);
    }
}

/// Creates a FIFO.
fn make_fifo(path: &std::path::Path) {
    use rustix::fs::{CWD, FileType, Mode as FileMode, mknodat};

    fs::create_dir_all(path.parent().unwrap()).unwrap();
    mknodat(CWD, path, FileType::Fifo, FileMode::from_raw_mode(0o600), 0).unwrap();
}

/// Opening a FIFO would wait forever for its other side.
#[tokio::test]
async fn a_fifo_as_the_index_of_a_repository_blocks_no_capture() {
    let project = Project::new();
    let git = project.root().join(".git");
    make_fifo(&git.join("index"));
    project.write("a", "1");
    // Only for a large file the index decides if it is captured.
    project.write("large", vec![b'a'; 2 * 1024 * 1024 + 1]);
    let captured = project.snapshots().capture().await.unwrap();
    let files = project
        .snapshots()
        .files(EMPTY, &captured.tree)
        .await
        .unwrap();
    assert_eq!(files, paths(&["a"]));
}

#[tokio::test]
async fn a_fifo_among_the_objects_of_a_repository_blocks_no_capture() {
    let packed = format!("objects/pack/pack-{}.idx", "1".repeat(40));
    let beside = packed.replace(".idx", ".pack");
    for name in ["objects/info/alternates", &packed] {
        let project = Project::new();
        let git = project.root().join(".git");
        make_fifo(&git.join(name));
        fs::create_dir_all(git.join("objects/pack")).unwrap();
        fs::write(git.join(&beside), "").unwrap();
        project.write("a", "1");
        let snapshots = project.snapshots();
        let first = snapshots.capture().await.unwrap().tree;
        project.write("a", "2");
        let second = snapshots.capture().await.unwrap().tree;
        let changed = snapshots.files(&first, &second).await.unwrap();
        assert_eq!(changed, paths(&["a"]), "{name}");
    }
}

#[tokio::test]
async fn an_object_of_the_repository_that_is_a_fifo_is_stored_again() {
    let project = Project::new();
    project.write("a", "1");
    // The object of a file with the content `1`.
    let object = ".git/objects/56/a6051ca2b02b04ef92d5150c9ef600403cb1de";
    make_fifo(&project.root().join(object));
    let snapshots = project.snapshots();
    let first = snapshots.capture().await.unwrap().tree;
    project.write("a", "2");
    let second = snapshots.capture().await.unwrap().tree;
    let changed = snapshots.files(&first, &second).await.unwrap();
    assert_eq!(changed, paths(&["a"]));
}

/// Returns a pack with two deltas that are based on each other, and its index.
fn circular_pack(first: [u8; 20], second: [u8; 20]) -> (Vec<u8>, Vec<u8>) {
    // A delta that copies 100 bytes of a base with 100 bytes.
    let delta = [100, 100, 0x90, 100];
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(&delta).unwrap();
    let compressed = encoder.finish().unwrap();
    let entry = |base: [u8; 20]| [&[0x74][..], &base, &compressed].concat();
    let two = 2u32.to_be_bytes();
    let (of_first, of_second) = (entry(second), entry(first));
    let pack = [&b"PACK"[..], &two, &two, &of_first, &of_second, &[0; 20]].concat();
    let mut index = [&b"\xfftOc"[..], &two].concat();
    for byte in 0..=255 {
        let upto = [first, second].iter().filter(|id| id[0] <= byte).count();
        index.extend(u32::try_from(upto).unwrap().to_be_bytes());
    }
    index.extend([first, second].concat());
    index.extend([0; 8]);
    for offset in [12, 12 + of_first.len()] {
        index.extend(u32::try_from(offset).unwrap().to_be_bytes());
    }
    index.extend([0; 40]);
    (pack, index)
}

#[tokio::test]
async fn a_pack_whose_deltas_are_based_on_each_other_blocks_no_capture() {
    // The id of a file with the content `1`.
    let first =
        *b"\x56\xa6\x05\x1c\xa2\xb0\x2b\x04\xef\x92\xd5\x15\x0c\x9e\xf6\x00\x40\x3c\xb1\xde";
    let (pack, index) = circular_pack(first, [0x77; 20]);
    let project = Project::new();
    let name = format!(".git/objects/pack/pack-{}", "1".repeat(40));
    project.write(&format!("{name}.pack"), pack);
    project.write(&format!("{name}.idx"), index);
    project.write("a", "1");
    let snapshots = project.snapshots();
    let first = snapshots.capture().await.unwrap().tree;
    // The capture copies the former content from the repository, which claims to have it.
    project.write("a", "2");
    let second = snapshots.capture().await.unwrap().tree;
    let changed = snapshots.files(&first, &second).await.unwrap();
    assert_eq!(changed, paths(&["a"]));
    let plan = support::plan(&first, &changed);
    let error = snapshots
        .restore(&plan, &BTreeMap::new())
        .await
        .unwrap_err();
    assert!(matches!(error, SnapshotError::Missing(_)), "{error:?}");
}
