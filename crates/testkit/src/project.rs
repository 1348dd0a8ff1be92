//! A simulated machine for one test: a project folder and the folders of a user beside it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use opencode_location::environment::Environment;
use tempfile::TempDir;

/// A folder with files. Dropping the value removes it.
pub struct TempProject {
    /// Keeps the folder on the disk. Its path may contain a symbolic link.
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

    /// The folder around the project, for files that must be outside the project.
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

    /// Makes the project a Git repository with one commit of all its files.
    pub fn git(&self) {
        make_repository(&self.path(""));
    }

    /// The environment of the project. It contains only `PATH`, so that Git is found, and the time zone.
    pub fn environment(&self) -> Environment {
        Environment {
            home: self.root.join("home"),
            data: self.root.join("data"),
            config: self.root.join("config"),
            cache: self.root.join("cache"),
            // `PATH` locates Git. `TZ` is the time zone of the machine.
            variables: std::env::var("PATH")
                .map(|path| ("PATH".to_owned(), path))
                .into_iter()
                .chain([("TZ".to_owned(), "UTC".to_owned())])
                .collect(),
        }
    }
}

/// Date of every first commit.
const DATE: &str = "2024-01-01T00:00:00Z";

/// Makes a directory a Git repository with one commit of all its files. Equal contents give the
/// same commit, and therefore the same project.
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
