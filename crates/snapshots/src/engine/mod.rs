//! The operations, which run one at a time. `capture`, `contents` and `restore` have separate files.

mod capture;
pub(crate) mod contents;
mod ignored;
mod restore;

use std::{
    io::{self, Read},
    path::{Path, PathBuf},
    sync::{Arc, atomic::AtomicBool},
    time::Instant,
};

use git2::{ObjectType, Oid};
use opencode_handles::{Directory, Kind, is_absent};

use crate::engine::capture::{Refusal, WorktreeState};
use crate::engine::ignored::Ignored;
use crate::entry::Mode;
use crate::error::SnapshotError;
use crate::objects::{self, MAX_BYTES, Objects};
use crate::options::SnapshotOptions;
use crate::repository::Repository;
use crate::tree::{self, Trees};
use crate::{compare, path};

/// A scope of a worktree with its known state.
pub(crate) struct Engine {
    pub(crate) options: SnapshotOptions,
    pub(crate) known: Option<WorktreeState>,
    pub(crate) refused: Option<Refusal>,
    /// Time at which the mark of the database was renewed.
    pub(crate) marked: Option<Instant>,
    /// Set when the host closes.
    ended: Arc<AtomicBool>,
}

impl Engine {
    pub(crate) fn new(options: SnapshotOptions, ended: Arc<AtomicBool>) -> Self {
        Self {
            options,
            known: None,
            refused: None,
            marked: None,
            ended,
        }
    }

    /// Makes the next capture check that the objects it reuses still exist.
    pub(crate) fn recheck_objects(&mut self) {
        self.known
            .iter_mut()
            .for_each(WorktreeState::recheck_objects);
    }

    pub(crate) fn files(&mut self, from: &str, to: &str) -> Result<Vec<String>, SnapshotError> {
        let repository = self.repository()?;
        let objects = self.objects(&repository);
        let scope = self.scope()?;
        let (from, to) = (tree::id(from)?, tree::id(to)?);
        let mut trees = Trees::new(&objects);
        let from = trees.find(from, &scope)?;
        let to = trees.find(to, &scope)?;
        let mut paths = compare::paths(&objects, &scope, from, to)?;
        if !paths.is_empty() {
            let root = self.root()?;
            let mut ignored = Ignored::new(&root, &repository);
            paths.retain(|path| !ignored.ignores(path));
        }
        Ok(paths)
    }

    pub(crate) fn root(&self) -> Result<Directory, SnapshotError> {
        let worktree = &self.options.worktree;
        Directory::open(worktree).map_err(SnapshotError::io(worktree.display().to_string()))
    }

    pub(crate) fn repository(&self) -> Result<Repository, SnapshotError> {
        Repository::of(&self.options.worktree)
    }

    pub(crate) fn objects(&self, repository: &Repository) -> Objects {
        let directory = self.options.store.join("objects");
        Objects::new(directory, repository.objects(), Arc::clone(&self.ended))
    }

    /// Returns the paths that are never captured, in the form of snapshot paths.
    pub(crate) fn private(&self) -> Vec<String> {
        let SnapshotOptions {
            store,
            worktree,
            private,
            ..
        } = &self.options;
        let within = |path: &PathBuf| {
            // The worktree path contains no links. The other paths can.
            let folder = path.parent()?;
            let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
            relative(folder.join(path.file_name()?).strip_prefix(worktree).ok()?)
        };
        private.iter().chain([store]).filter_map(within).collect()
    }

    /// Returns the scope in the form of snapshot paths.
    pub(crate) fn scope(&self) -> Result<String, SnapshotError> {
        let scope = &self.options.scope;
        let invalid = || SnapshotError::InvalidPath(scope.display().to_string());
        let joined = relative(scope).ok_or_else(invalid)?;
        if !joined.is_empty() {
            path::check(&joined)?;
        }
        Ok(joined)
    }
}

/// Returns a relative path with slashes, or `None` if it is not UTF-8.
fn relative(path: &Path) -> Option<String> {
    let names: Option<Vec<_>> = path.iter().map(|name| name.to_str()).collect();
    names.map(|names| names.join("/"))
}

/// Returns mode and id of a file in the worktree. Returns `None` if there is no file, or if a link
/// is on the way.
pub(crate) fn current(root: &Directory, path: &str) -> io::Result<Option<(Mode, Oid)>> {
    let (directory, name) = path::split(path);
    let read = || {
        let held = root.below(directory)?;
        let Some(stamp) = held.stat(name)? else {
            return Ok(None);
        };
        let (mode, content) = match stamp.kind {
            Kind::Directory | Kind::Other => return Ok(None),
            Kind::Link => (Mode::Link, Some(held.read_link(name)?)),
            Kind::Executable => (Mode::Executable, regular(&held, name)?),
            Kind::File => (Mode::File, regular(&held, name)?),
        };
        let hash = |content: Vec<u8>| objects::hash(ObjectType::Blob, &content);
        let id = content.map_or(Ok(Oid::ZERO_SHA1), hash);
        Ok(Some((mode, id.map_err(io::Error::other)?)))
    };
    match read() {
        Err(error) if is_absent(&error) => Ok(None),
        read => read,
    }
}

/// Returns the content of a regular file, or `None` if no snapshot can contain it.
fn regular(held: &Directory, name: &str) -> io::Result<Option<Vec<u8>>> {
    let (file, stamp) = match held.open_file(name) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => return Ok(None),
        opened => opened?,
    };
    if stamp.size > MAX_BYTES {
        return Ok(None);
    }
    let mut content = Vec::new();
    // The file can grow during the read.
    file.take(MAX_BYTES + 1).read_to_end(&mut content)?;
    Ok((content.len() as u64 <= MAX_BYTES).then_some(content))
}
