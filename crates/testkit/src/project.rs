//! A machine of its own for a test: a project folder, and the folders of a user beside it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use opencode_location::environment::Environment;
use tempfile::TempDir;

/// A folder with files, removed at the end.
pub struct TempProject {
    /// Keeps the folder; its path may lead through a link.
    _folder: TempDir,
    root: PathBuf,
}

impl Default for TempProject {
    fn default() -> Self {
        let folder = tempfile::tempdir().expect("the machine gives temporary folders");
        let root = folder
            .path()
            .canonicalize()
            .expect("the folder was just made");
        fs::create_dir(root.join("project")).expect("the folder is ours");
        Self {
            _folder: folder,
            root,
        }
    }
}

impl TempProject {
    /// An empty project outside any repository.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The folder around the project, for what must not lie in it.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The absolute path of the project's folder.
    pub fn directory(&self) -> String {
        self.path("").to_string_lossy().trim_end_matches('/').into()
    }

    /// A path in the project.
    pub fn path(&self, below: &str) -> PathBuf {
        self.root.join("project").join(below)
    }

    /// Writes a file of the project, with the folders around it.
    pub fn write(&self, below: &str, content: &str) {
        let path = self.path(below);
        let folder = path.parent().expect("a file has a folder");
        fs::create_dir_all(folder).expect("the folder is ours");
        fs::write(path, content).expect("the folder is ours");
    }

    /// Makes the project a git repository with one commit of everything in it.
    pub fn git(&self) {
        make_repository(&self.path(""));
    }

    /// The machine around the project, with nothing configured on it but the way to its programs.
    pub fn environment(&self) -> Environment {
        Environment {
            home: self.root.join("home"),
            data: self.root.join("data"),
            config: self.root.join("config"),
            cache: self.root.join("cache"),
            // Where git is found, and where the machine stands.
            variables: std::env::var("PATH")
                .map(|path| ("PATH".to_owned(), path))
                .into_iter()
                .chain([("TZ".to_owned(), "UTC".to_owned())])
                .collect(),
        }
    }
}

/// When every first commit was made.
const DATE: &str = "2024-01-01T00:00:00Z";

/// Makes a directory a git repository with one commit of everything in it. The same content always
/// makes the same commit, and so the same project.
pub fn make_repository(directory: &Path) {
    for arguments in [
        &["init", "--quiet"][..],
        &["add", "--all"],
        &["commit", "--quiet", "--allow-empty", "--message", "first"],
    ] {
        let status = Command::new("git")
            .args(["-c", "user.name=t", "-c", "user.email=t@t"])
            .args(["-c", "init.defaultBranch=main"])
            .args(arguments)
            .current_dir(directory)
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_AUTHOR_DATE", DATE)
            .env("GIT_COMMITTER_DATE", DATE)
            .status()
            .expect("git is installed");
        assert!(status.success(), "git {arguments:?}: {status}");
    }
}
