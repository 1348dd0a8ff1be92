//! Refused names, results of writes, and links that are never followed.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::{
    collections::BTreeMap,
    fs::{self, Permissions},
    io::{ErrorKind, Read},
    os::unix::{
        ffi::OsStrExt,
        fs::{PermissionsExt, symlink},
        net::UnixListener,
    },
    path::{Path, PathBuf},
};

use opencode_handles::{Child, Directory, Kind, is_absent, is_temporary};
use tempfile::TempDir;

/// A folder `in` with a file, a folder, links and a socket, and a folder `out` with files of the
/// same names.
struct Tree {
    _temp: TempDir,
    root: PathBuf,
}

impl Tree {
    fn new() -> Self {
        let temp = tempfile::tempdir().unwrap();
        let root = temp.path().canonicalize().unwrap();
        for side in ["in", "out"] {
            fs::create_dir_all(root.join(side).join("folder")).unwrap();
            fs::write(root.join(side).join("file"), side).unwrap();
            fs::write(root.join(side).join("folder/file"), side).unwrap();
        }
        symlink("../out", root.join("in/link")).unwrap();
        symlink("../out/file", root.join("in/file-link")).unwrap();
        drop(UnixListener::bind(root.join("in/socket")).unwrap());
        Self { _temp: temp, root }
    }

    fn held(&self) -> Directory {
        Directory::open(&self.root.join("in")).unwrap()
    }

    /// Returns the contents of the files in `out`, which must never change.
    fn outside(&self) -> [String; 2] {
        ["out/file", "out/folder/file"]
            .map(|path| fs::read_to_string(self.root.join(path)).unwrap())
    }

    fn mode(&self, path: &str) -> u32 {
        let found = fs::symlink_metadata(self.root.join(path)).unwrap();
        found.permissions().mode() & 0o7777
    }

    fn set_mode(&self, path: &str, mode: u32) {
        fs::set_permissions(self.root.join(path), Permissions::from_mode(mode)).unwrap();
    }
}

fn children(held: &Directory) -> BTreeMap<String, Kind> {
    let children = held.children().unwrap().map(Result::unwrap);
    children
        .map(|Child { name, kind }| (name.into_string().unwrap(), kind))
        .collect()
}

#[test]
fn only_a_single_name_is_accepted_as_a_name() {
    let tree = Tree::new();
    let held = tree.held();
    let file = held.open_file("file").unwrap().0;
    for name in [
        "",
        ".",
        "..",
        "/",
        "folder/file",
        "folder/",
        "./file",
        "../out/file",
    ] {
        for refused in [
            held.stat(name).map(drop),
            held.open_file(name).map(drop),
            held.open_seen_file(name, None).map(drop),
            held.open_file_to_change(name).map(drop),
            held.read_link(name).map(drop),
            held.create_file(name, b"x"),
            held.replace_file(name, b"x", &file),
            held.put_file(name, b"x", false),
            held.put_link(name, b"x"),
            held.remove(name),
            held.remove_directory(name),
        ] {
            assert_eq!(
                refused.unwrap_err().kind(),
                ErrorKind::InvalidInput,
                "{name:?}"
            );
        }
    }
    let nul = held.stat("a\0b").unwrap_err().kind();
    assert_eq!(nul, ErrorKind::InvalidInput);
    assert_eq!(children(&held).len(), 5);
    assert_eq!(tree.outside(), ["out", "out"]);
}

#[test]
fn directories_are_opened_without_following_links_or_leaving_the_root() {
    let tree = Tree::new();
    let held = tree.held();
    for (path, expected) in [
        ("", None),
        ("folder", None),
        ("folder/", None),
        ("link", Some(ErrorKind::NotADirectory)),
        ("link/folder", Some(ErrorKind::NotADirectory)),
        ("file", Some(ErrorKind::NotADirectory)),
        ("file/below", Some(ErrorKind::NotADirectory)),
        ("missing", Some(ErrorKind::NotFound)),
        ("..", Some(ErrorKind::InvalidInput)),
        ("folder/../folder", Some(ErrorKind::InvalidInput)),
        ("/", Some(ErrorKind::InvalidInput)),
        ("a\0b", Some(ErrorKind::InvalidInput)),
    ] {
        let below = held.below(path).map_err(|error| error.kind()).err();
        assert_eq!(below, expected, "{path:?}");
        let absolute = tree.root.join("in").join(path);
        if absolute != Path::new("/") {
            let opened = Directory::open(&absolute).map_err(|error| error.kind());
            assert_eq!(opened.err(), expected, "{absolute:?}");
        }
    }
    // Paths that are too long for one system call.
    let deep = "folder/".repeat(1000);
    for (path, expected) in [
        (format!("folder/{deep}"), ErrorKind::NotFound),
        (format!("link/{deep}"), ErrorKind::NotADirectory),
        (format!("file/{deep}"), ErrorKind::NotADirectory),
        (format!("{deep}.."), ErrorKind::NotFound),
    ] {
        assert_eq!(held.below(&path).unwrap_err().kind(), expected);
    }
    assert_eq!(
        Directory::open(Path::new("in")).unwrap_err().kind(),
        ErrorKind::InvalidInput
    );
}

#[test]
fn missing_directories_are_created_without_following_links() {
    let tree = Tree::new();
    let held = tree.held();
    held.prepare_below("folder/a/b")
        .unwrap()
        .create_file("file", b"new")
        .unwrap();
    Directory::prepare(&tree.root.join("in/folder/a/c/d")).unwrap();
    assert_eq!(
        fs::read(tree.root.join("in/folder/a/b/file")).unwrap(),
        b"new"
    );
    assert!(tree.root.join("in/folder/a/c/d").is_dir());
    for path in ["link/new", "file/new", "folder/file/new"] {
        assert!(is_absent(&held.prepare_below(path).unwrap_err()), "{path}");
        let absolute = tree.root.join("in").join(path);
        assert!(
            is_absent(&Directory::prepare(&absolute).unwrap_err()),
            "{path}"
        );
    }
    for path in ["folder/../../out/new", "fresh/../new", "fresh/.."] {
        let refused = held.prepare_below(path).unwrap_err().kind();
        assert_eq!(refused, ErrorKind::InvalidInput, "{path}");
    }
    assert_eq!(held.stat("fresh").unwrap(), None);
    assert_eq!(fs::read_dir(tree.root.join("out")).unwrap().count(), 2);
}

#[test]
fn only_regular_files_are_opened() {
    let tree = Tree::new();
    let held = tree.held();
    let mut text = String::new();
    let (mut file, stamp) = held.open_file("file").unwrap();
    file.read_to_string(&mut text).unwrap();
    assert_eq!(
        (text.as_str(), Some(stamp)),
        ("in", held.stat("file").unwrap())
    );
    for (name, expected) in [
        ("missing", ErrorKind::NotFound),
        ("folder", ErrorKind::NotADirectory),
        ("link", ErrorKind::NotADirectory),
        ("file-link", ErrorKind::NotADirectory),
        ("socket", ErrorKind::NotADirectory),
    ] {
        assert_eq!(held.open_file(name).unwrap_err().kind(), expected, "{name}");
        assert!(held.open_seen_file(name, None).is_err(), "{name}");
        let to_change = held.open_file_to_change(name).unwrap_err().kind();
        assert_eq!(to_change, expected, "{name}");
    }
    let device = Directory::open(Path::new("/dev")).unwrap();
    assert_eq!(
        device.open_file("null").unwrap_err().kind(),
        ErrorKind::NotADirectory
    );
}

#[test]
fn children_have_their_own_kind_and_not_that_of_a_link_target() {
    let tree = Tree::new();
    let odd = std::ffi::OsStr::from_bytes(b"line\nbreak \xff");
    fs::write(tree.root.join("in/folder").join(odd), "").unwrap();
    let held = tree.held();
    let expected = [
        ("file", Kind::File),
        ("file-link", Kind::Link),
        ("folder", Kind::Directory),
        ("link", Kind::Link),
        ("socket", Kind::Other),
    ];
    assert_eq!(
        children(&held),
        BTreeMap::from(expected.map(|(name, kind)| (name.to_owned(), kind)))
    );
    for (name, kind) in expected {
        assert_eq!(
            held.stat(name).unwrap().map(|stamp| stamp.kind),
            Some(kind),
            "{name}"
        );
    }
    let names = held.below("folder").unwrap();
    let names = names.children().unwrap().map(|child| child.unwrap().name);
    let mut names: Vec<_> = names.collect();
    names.sort();
    assert_eq!(names, [std::ffi::OsStr::new("file"), odd]);
}

#[test]
fn an_open_handle_keeps_its_file() {
    let tree = Tree::new();
    let held = tree.held();
    fs::rename(tree.root.join("in"), tree.root.join("moved")).unwrap();
    symlink("out", tree.root.join("in")).unwrap();
    held.put_file("file", b"put", false).unwrap();
    held.create_file("new", b"created").unwrap();
    held.remove("file-link").unwrap();
    held.below("folder").unwrap().remove("file").unwrap();
    held.remove_directory("folder").unwrap();
    assert!(Directory::open(&tree.root.join("in")).is_err());
    let left = children(&Directory::open(&tree.root.join("moved")).unwrap());
    let left: Vec<_> = left.keys().map(String::as_str).collect();
    assert_eq!(left, ["file", "link", "new", "socket"]);
    assert_eq!(fs::read(tree.root.join("moved/file")).unwrap(), b"put");
    assert_eq!(tree.outside(), ["out", "out"]);
}

#[test]
fn files_replace_others_and_keep_their_permissions() {
    let tree = Tree::new();
    let held = tree.held();
    let content = |name: &str| fs::read_to_string(tree.root.join("in").join(name)).unwrap();
    for (before, executable, after) in [
        (0o640, Some(false), 0o640),
        (0o640, Some(true), 0o750),
        (0o4755, Some(false), 0o644),
        (0o4755, None, 0o755),
        (0o600, None, 0o600),
    ] {
        tree.set_mode("in/file", before);
        let opened = held.open_file_to_change("file").unwrap();
        match executable {
            Some(executable) => held.put_file("file", b"put", executable),
            None => held.replace_file("file", b"put", &opened),
        }
        .unwrap();
        assert_eq!(tree.mode("in/file"), after, "{before:o} {executable:?}");
        assert_eq!(content("file"), "put");
        fs::write(tree.root.join("in/file"), "in").unwrap();
    }
    // The attributes come from the file that was read, not from the file that has its name now.
    tree.set_mode("in/file", 0o600);
    let opened = held.open_file_to_change("file").unwrap();
    held.remove("file").unwrap();
    held.replace_file("file", b"put", &opened).unwrap();
    assert_eq!(
        (tree.mode("in/file"), content("file").as_str()),
        (0o600, "put")
    );
    // The link is replaced and its target stays unchanged.
    held.put_file("file-link", b"put", false).unwrap();
    assert_eq!(held.stat("file-link").unwrap().unwrap().kind, Kind::File);
    held.put_link("file", b"elsewhere").unwrap();
    assert_eq!(held.read_link("file").unwrap(), b"elsewhere");
    assert_eq!(tree.outside(), ["out", "out"]);
}

#[test]
fn a_failure_leaves_no_temporary_file() {
    let tree = Tree::new();
    let held = tree.held();
    let before = children(&held);
    let file = held.open_file("file").unwrap().0;
    for taken in ["file", "folder", "link", "file-link", "socket"] {
        let created = held.create_file(taken, b"x").unwrap_err();
        assert_eq!(created.kind(), ErrorKind::AlreadyExists, "{taken}");
    }
    assert!(held.put_file("folder", b"x", true).is_err());
    assert!(held.put_link("folder", b"x").is_err());
    assert!(held.replace_file("folder", b"x", &file).is_err());
    assert_eq!(children(&held), before);
    assert_eq!(tree.outside(), ["out", "out"]);
}

#[test]
fn names_of_unfinished_files_are_recognised() {
    for (name, expected) in [
        (".opencode-1-0.tmp", true),
        (".opencode-.tmp", true),
        ("opencode-1-0.tmp", false),
        (".opencode-1-0", false),
    ] {
        assert_eq!(is_temporary(name), expected, "{name}");
    }
}
