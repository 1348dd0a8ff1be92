//! A project with a hand-made repository, so that the tests need no Git binary.
#![allow(dead_code, reason = "each test file uses its own part")]

use std::{
    collections::BTreeMap,
    fs,
    os::unix::fs::{PermissionsExt, symlink},
    path::{Path, PathBuf},
    process::Command,
};

use opencode_snapshots::{HeldTrees, Owner, SnapshotOptions, Snapshots};
use tempfile::TempDir;

/// The id of the empty tree.
pub(crate) const EMPTY: &str = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";

/// A database with this name.
pub(crate) fn owner(name: &str) -> Owner {
    Owner {
        name: name.to_owned(),
        is_lasting: true,
    }
}

pub(crate) struct Project {
    folder: TempDir,
}

/// The file at a path.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum TestFile {
    File(Vec<u8>),
    Executable(Vec<u8>),
    Link(String),
}

pub(crate) fn text(content: &str) -> TestFile {
    TestFile::File(content.as_bytes().to_vec())
}

impl Project {
    pub(crate) fn new() -> Self {
        let project = Self {
            folder: tempfile::tempdir().unwrap(),
        };
        for folder in ["objects", "refs", "info"] {
            fs::create_dir_all(project.root().join(".git").join(folder)).unwrap();
        }
        fs::write(project.root().join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
        project
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join("work")
    }

    pub(crate) fn store(&self) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join("store")
    }

    /// Returns a folder outside the worktree that must stay unchanged.
    pub(crate) fn outside(&self) -> PathBuf {
        let outside = self.folder.path().canonicalize().unwrap().join("outside");
        fs::create_dir_all(&outside).unwrap();
        outside
    }

    pub(crate) fn snapshots(&self) -> Snapshots {
        self.scoped("")
    }

    pub(crate) fn scoped(&self, scope: &str) -> Snapshots {
        Snapshots::new(self.options(scope))
    }

    pub(crate) fn options(&self, scope: &str) -> SnapshotOptions {
        SnapshotOptions {
            store: self.store(),
            worktree: self.root(),
            scope: scope.into(),
            private: Vec::new(),
            owner: owner("a"),
            held: HeldTrees::default(),
        }
    }

    pub(crate) fn write(&self, path: &str, content: impl AsRef<[u8]>) {
        let path = self.root().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    pub(crate) fn put(&self, path: &str, file: &TestFile) {
        let place = self.root().join(path);
        if place.symlink_metadata().is_ok() {
            self.remove(path);
        }
        match file {
            TestFile::File(content) => self.write(path, content),
            TestFile::Executable(content) => {
                self.write(path, content);
                self.chmod(path, 0o755);
            }
            TestFile::Link(target) => self.link(target, path),
        }
    }

    pub(crate) fn chmod(&self, path: &str, mode: u32) {
        fs::set_permissions(self.root().join(path), fs::Permissions::from_mode(mode)).unwrap();
    }

    pub(crate) fn link(&self, target: &str, path: &str) {
        let path = self.root().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        symlink(target, path).unwrap();
    }

    pub(crate) fn remove(&self, path: &str) {
        let path = self.root().join(path);
        if path.symlink_metadata().unwrap().is_dir() {
            fs::remove_dir_all(path).unwrap();
        } else {
            fs::remove_file(path).unwrap();
        }
    }

    pub(crate) fn read(&self, path: &str) -> String {
        fs::read_to_string(self.root().join(path)).unwrap()
    }

    /// Returns all files of the worktree without the repository.
    pub(crate) fn files(&self) -> BTreeMap<String, TestFile> {
        let mut files = everything(&self.root());
        files.retain(|path, _| path != ".git" && !path.starts_with(".git/"));
        files
    }

    /// Runs Git if it is installed, without any user configuration.
    pub(crate) fn git(&self, arguments: &[&str]) -> Option<String> {
        let output = Command::new("git")
            .args(arguments)
            .current_dir(self.root())
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_AUTHOR_NAME", "a")
            .env("GIT_AUTHOR_EMAIL", "a@example.com")
            .env("GIT_COMMITTER_NAME", "a")
            .env("GIT_COMMITTER_EMAIL", "a@example.com")
            .output()
            .ok()?;
        assert!(
            output.status.success(),
            "git {arguments:?}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        Some(String::from_utf8_lossy(&output.stdout).into_owned())
    }
}

/// Returns all files and links below a folder.
pub(crate) fn everything(folder: &Path) -> BTreeMap<String, TestFile> {
    let mut files = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            let metadata = path.symlink_metadata().unwrap();
            let name = path
                .strip_prefix(folder)
                .unwrap()
                .to_string_lossy()
                .into_owned();
            if metadata.is_dir() {
                folders.push(path);
            } else if metadata.is_symlink() {
                let target = fs::read_link(path).unwrap().to_string_lossy().into_owned();
                files.insert(name, TestFile::Link(target));
            } else if metadata.is_file() && metadata.permissions().mode() & 0o100 != 0 {
                files.insert(name, TestFile::Executable(fs::read(path).unwrap()));
            } else if metadata.is_file() {
                files.insert(name, TestFile::File(fs::read(path).unwrap()));
            }
        }
    }
    files
}

/// Returns a plan that takes all paths from one snapshot.
pub(crate) fn plan(tree: &str, paths: &[String]) -> BTreeMap<String, String> {
    paths
        .iter()
        .map(|path| (path.clone(), tree.to_owned()))
        .collect()
}

pub(crate) fn paths(files: &[&str]) -> Vec<String> {
    files.iter().map(|path| (*path).to_owned()).collect()
}
