use std::{
    fs,
    io::Read,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    process::Command,
};

use opencode_schema::file_system::FileSystemEntryType::{Directory as Folder, File as Regular};

use super::*;

/// Creates `a/b/file`, a FIFO, and links to the file and the directory.
fn tree() -> (tempfile::TempDir, PathBuf) {
    let temp = tempfile::tempdir().unwrap();
    let root = fs::canonicalize(temp.path()).unwrap();
    fs::create_dir_all(root.join("a/b")).unwrap();
    fs::write(root.join("a/b/file"), "inside").unwrap();
    symlink("b", root.join("a/link")).unwrap();
    symlink("b/file", root.join("a/file-link")).unwrap();
    let made = Command::new("mkfifo").arg(root.join("a/fifo")).status();
    assert!(made.unwrap().success());
    (temp, root)
}

fn content(mut file: File) -> String {
    let mut text = String::new();
    file.read_to_string(&mut text).unwrap();
    text
}

#[test]
fn files_are_opened_without_following_links() {
    let (_temp, root) = tree();
    let mut held = Directory::open(&root).unwrap();
    for (path, opens) in [
        ("a/b/file", true),
        ("a/link/file", false),
        ("a/file-link", false),
        ("a/fifo", false),
        ("a/b", false),
        ("a/missing", false),
        ("a/../a/b/file", false),
        ("..", false),
        ("", false),
    ] {
        let below = held.open_file(Path::new(path), None).map(content).ok();
        assert_eq!(below.as_deref(), opens.then_some("inside"), "{path}");
        let alone = open_file(&root.join(path)).map(content).ok();
        assert_eq!(alone.as_deref(), opens.then_some("inside"), "{path}");
    }
    assert!(held.open_file(&root.join("a/b/file"), None).is_err());
    assert!(open_file(Path::new("/dev/null")).is_err());
    assert!(open_file(Path::new("/")).is_err());
    assert!(open_file(Path::new("relative")).is_err());
}

#[test]
fn directories_are_opened_without_following_links() {
    let (_temp, root) = tree();
    for (path, opens) in [
        ("a/b", true),
        ("", true),
        ("a/link", false),
        ("a/b/file", false),
    ] {
        assert_eq!(Directory::open(&root.join(path)).is_ok(), opens, "{path}");
    }
    assert!(Directory::open(Path::new("/")).is_ok());
    assert!(Directory::open(Path::new("relative")).is_err());
}

#[test]
fn files_and_directories_have_their_kinds() {
    let (_temp, root) = tree();
    let mut held = Directory::open(&root).unwrap();
    for (path, kind) in [
        ("a/b/file", Some(Regular)),
        ("a/b", Some(Folder)),
        ("a", Some(Folder)),
        ("a/link", None),
        ("a/link/file", None),
        ("a/fifo", None),
        ("a/missing", None),
    ] {
        assert_eq!(held.kind(Path::new(path)), kind, "{path}");
    }
    let held = Directory::open(&root.join("a")).unwrap();
    let children = held.children().unwrap();
    let mut children: Vec<_> = children.map(|child| child.unwrap()).collect();
    children.sort_by(|left, right| left.name.cmp(&right.name));
    let expected = [
        ("b", Some(Folder)),
        ("fifo", None),
        ("file-link", None),
        ("link", None),
    ];
    let expected = expected.map(|(name, kind)| Child {
        name: name.into(),
        kind,
    });
    assert_eq!(children, expected);
}

#[test]
fn an_open_handle_keeps_its_file() {
    let (_temp, root) = tree();
    let outside = tempfile::tempdir().unwrap();
    fs::create_dir(outside.path().join("b")).unwrap();
    fs::write(outside.path().join("b/file"), "outside").unwrap();
    let mut held = Directory::open(&root.join("a")).unwrap();
    fs::rename(root.join("a"), root.join("moved")).unwrap();
    symlink(outside.path(), root.join("a")).unwrap();
    assert_eq!(
        content(held.open_file(Path::new("b/file"), None).unwrap()),
        "inside"
    );
    assert!(Directory::open(&root.join("a/b")).is_err());
    fs::rename(root.join("moved/b"), root.join("moved/away")).unwrap();
    symlink(outside.path().join("b"), root.join("moved/b")).unwrap();
    assert!(held.clone().open_file(Path::new("b/file"), None).is_err());
}
