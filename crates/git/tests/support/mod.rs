//! Repositories for tests: those that Git writes, and packs that it never writes.
#![allow(dead_code, reason = "each test file uses its own part")]

use std::{
    fs,
    io::Write,
    path::{Path, PathBuf},
    process::Command,
};

use flate2::{Compression, write::ZlibEncoder};
use tempfile::TempDir;

/// A directory with repositories.
pub(crate) struct Folder(TempDir);

impl Folder {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub(crate) fn path(&self, below: &str) -> PathBuf {
        self.0.path().canonicalize().unwrap().join(below)
    }

    /// Creates a repository in the directory `below`.
    pub(crate) fn repository(&self, below: &str) -> Repository {
        self.repository_with(below, &[])
    }

    pub(crate) fn repository_with(&self, below: &str, options: &[&str]) -> Repository {
        let repository = Repository(self.path(below));
        fs::create_dir_all(&repository.0).unwrap();
        repository.git(&[&["init", "--quiet"], options].concat());
        repository
    }
}

/// A worktree with the path of its root.
pub(crate) struct Repository(pub(crate) PathBuf);

impl Repository {
    /// Runs Git at a fixed time, without the configuration of a user.
    pub(crate) fn git(&self, arguments: &[&str]) -> String {
        String::from_utf8(self.git_bytes(arguments))
            .unwrap()
            .trim()
            .to_owned()
    }

    pub(crate) fn git_bytes(&self, arguments: &[&str]) -> Vec<u8> {
        let output = Command::new("git")
            .args(["-c", "user.name=t", "-c", "user.email=t@t"])
            .args(["-c", "init.defaultBranch=main", "-c", "gc.auto=0"])
            .args(arguments)
            .current_dir(&self.0)
            .env_clear()
            .env("PATH", std::env::var("PATH").unwrap())
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_AUTHOR_DATE", "2026-01-01T00:00:00Z")
            .env("GIT_COMMITTER_DATE", "2026-01-01T00:00:00Z")
            .output()
            .unwrap();
        assert!(output.status.success(), "git {arguments:?}: {output:?}");
        output.stdout
    }

    /// Makes a commit without a change of files, and returns its id.
    pub(crate) fn commit(&self, message: &str) -> String {
        self.git(&["commit", "--quiet", "--allow-empty", "-m", message]);
        self.git(&["rev-parse", "HEAD"])
    }

    /// Begins another history with its own root commit, and returns that commit.
    pub(crate) fn orphan(&self, branch: &str) -> String {
        self.git(&["checkout", "--quiet", "--orphan", branch]);
        self.commit(branch)
    }

    pub(crate) fn merge(&self, branch: &str) {
        let options = ["merge", "--quiet", "--allow-unrelated-histories"];
        self.git(&[&options[..], &["-m", "merge", branch]].concat());
    }

    /// Returns a path in the git directory of the main worktree.
    pub(crate) fn below(&self, path: &str) -> PathBuf {
        self.0.join(".git").join(path)
    }

    /// Returns the path of a loose object.
    pub(crate) fn loose(&self, id: &str) -> PathBuf {
        self.below("objects").join(&id[..2]).join(&id[2..])
    }

    /// Writes a loose object under an id that it may not have.
    pub(crate) fn write_loose(&self, id: &str, object: &[u8]) {
        let path = self.loose(id);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let _ = fs::remove_file(&path);
        fs::write(path, deflate(object)).unwrap();
    }

    /// Writes a pack with entries in the order of their ids.
    pub(crate) fn write_pack(&self, entries: &[Entry]) {
        write_pack(&self.below("objects/pack"), entries);
    }
}

/// An entry of a pack.
pub(crate) struct Entry {
    pub(crate) id: [u8; 20],
    pub(crate) kind: u8,
    /// The id of the base, if the entry is a delta.
    pub(crate) base: Option<[u8; 20]>,
    pub(crate) size: u64,
    pub(crate) data: Vec<u8>,
}

impl Entry {
    /// Returns a delta that refers to its base by id.
    pub(crate) fn delta(id: [u8; 20], base: [u8; 20], data: Vec<u8>) -> Self {
        Self {
            id,
            kind: 7,
            base: Some(base),
            size: data.len() as u64,
            data,
        }
    }

    /// Returns a commit that is stored completely.
    pub(crate) fn commit(id: [u8; 20], data: &[u8]) -> Self {
        Self {
            id,
            kind: 1,
            base: None,
            size: data.len() as u64,
            data: data.to_vec(),
        }
    }

    fn encode(&self) -> Vec<u8> {
        let mut size = self.size >> 4;
        let mut bytes = vec![self.kind << 4 | (self.size & 15) as u8];
        while size > 0 {
            *bytes.last_mut().unwrap() |= 128;
            bytes.push((size & 127) as u8);
            size >>= 7;
        }
        bytes.extend(self.base.iter().flatten());
        bytes.extend(deflate(&self.data));
        bytes
    }
}

/// Writes a pack and its index. Its checksums are zero: nothing checks them when it reads.
pub(crate) fn write_pack(folder: &Path, entries: &[Entry]) {
    let count = u32::try_from(entries.len()).unwrap();
    let mut pack = [&b"PACK"[..], &2u32.to_be_bytes(), &count.to_be_bytes()].concat();
    let mut offsets = Vec::new();
    for entry in entries {
        offsets.extend(u32::try_from(pack.len()).unwrap().to_be_bytes());
        pack.extend(entry.encode());
    }
    pack.extend([0; 20]);
    let mut index = [&b"\xfftOc"[..], &2u32.to_be_bytes()].concat();
    for first in 0..=255 {
        let upto = entries.iter().filter(|entry| entry.id[0] <= first).count();
        index.extend(u32::try_from(upto).unwrap().to_be_bytes());
    }
    index.extend(entries.iter().flat_map(|entry| entry.id));
    index.extend(entries.iter().flat_map(|_| [0; 4]));
    index.extend(offsets);
    index.extend([0; 40]);
    fs::create_dir_all(folder).unwrap();
    let name = format!("pack-{}", "1".repeat(40));
    fs::write(folder.join(format!("{name}.pack")), pack).unwrap();
    fs::write(folder.join(format!("{name}.idx")), index).unwrap();
}

pub(crate) fn deflate(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// Returns a delta that copies its whole base of `size` bytes. The sizes must be below 128.
pub(crate) fn copy(size: u8) -> Vec<u8> {
    vec![size, size, 0x90, size]
}

/// Creates a FIFO. Opening one for reading blocks until another program opens it for writing.
#[cfg(unix)]
pub(crate) fn make_fifo(path: &Path) {
    use rustix::fs::{CWD, FileType, Mode, mknodat};

    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let _ = fs::remove_file(path);
    mknodat(CWD, path, FileType::Fifo, Mode::from_raw_mode(0o600), 0).unwrap();
}
