//! Finds definition files in a directory with unverified content.

use std::collections::HashSet;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use opencode_handles::read_file;

use super::listing::{Entry, Kind, Listings};
use crate::config::{Diagnostic, DiagnosticKind};
use crate::directory::is_project_text;

/// Maximum size of a definition file in bytes.
pub(crate) const MAX_FILE_BYTES: u64 = 1024 * 1024;

/// Maximum depth of searched directories.
const MAX_DEPTH: usize = 16;

/// Limits for the search for definitions, shared by all directories. If a search exceeds them, the
/// configuration probably names a wrong directory.
pub(crate) struct ReadBudget {
    /// Number of names that can still be checked.
    names: usize,
    /// Number of files that can still be found.
    files: usize,
    /// Number of bytes that can still be read.
    bytes: u64,
    /// True if the search has ended. The place where it ended has been reported.
    used_up: bool,
}

impl Default for ReadBudget {
    fn default() -> Self {
        Self {
            names: 20_000,
            files: 1_000,
            bytes: 32 * 1024 * 1024,
            used_up: false,
        }
    }
}

impl ReadBudget {
    /// Subtracts the bytes of a file. Fails if not enough are left.
    pub(crate) fn take(&mut self, bytes: u64) -> io::Result<()> {
        let left = self.bytes.checked_sub(bytes);
        self.bytes = left.ok_or_else(|| {
            io::Error::other("there are more bytes of definitions than a Location reads")
        })?;
        Ok(())
    }

    /// Same as [`Self::read`], for a file that must be inside `bound` after links are resolved.
    pub(crate) fn read_below(
        &mut self,
        file: &Path,
        bound: Option<&Path>,
    ) -> io::Result<Option<Vec<u8>>> {
        let exists = || fs::symlink_metadata(file).is_ok();
        if bound.is_some_and(|root| exists() && !is_project_text(file, root)) {
            return Err(io::Error::other(
                "it leads out of the project or to a private file, and the host does not trust the project",
            ));
        }
        self.read(file)
    }

    /// Reads the bytes of a file within its limit. `None` if the file no longer exists.
    pub(crate) fn read(&mut self, file: &Path) -> io::Result<Option<Vec<u8>>> {
        match read_file(file, MAX_FILE_BYTES)? {
            Some(bytes) => {
                self.take(bytes.len() as u64)?;
                Ok(Some(bytes))
            }
            None if fs::symlink_metadata(file).is_ok() => {
                Err(io::Error::other("it is a link to nothing"))
            }
            None => Ok(None),
        }
    }
}

/// A file that was found.
#[derive(Debug, PartialEq)]
pub(crate) struct Found {
    /// Its path.
    pub path: PathBuf,
    /// The path relative to the searched directory, with `/` between the names.
    pub name: String,
}

/// A file or directory that could not be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct UnreadablePath {
    /// The path.
    pub path: PathBuf,
    /// The reason.
    pub message: String,
}

/// The files to search.
#[derive(Clone, Copy)]
pub(crate) struct FileFilter {
    /// True if subdirectories are searched too.
    pub below: bool,
    /// True for wanted files. The argument is the path relative to the searched directory.
    pub name: fn(&str) -> bool,
}

/// Returns the wanted files of a directory, sorted by name. `None` if the directory does not exist.
///
/// Follows links, but each directory only once, so that a cycle of links ends, and never out of `bound`. An entry with
/// a wanted name that is not a regular file is also returned: the attempt to read it reports why it cannot be used.
pub(crate) fn find(
    root: &Path,
    wanted: FileFilter,
    bound: Option<&Path>,
    listings: &mut Listings,
    allowance: &mut ReadBudget,
    obstacles: &mut Vec<UnreadablePath>,
) -> Option<Vec<Found>> {
    let real = match fs::canonicalize(root) {
        Ok(real) => real,
        Err(error) => {
            // A parent that is a file has the same meaning as a missing directory: the path does not exist.
            let absent = [io::ErrorKind::NotFound, io::ErrorKind::NotADirectory];
            if !absent.contains(&error.kind()) {
                obstacles.push(UnreadablePath::new(root, &error));
            }
            return None;
        }
    };
    let bound = bound.map(|bound| fs::canonicalize(bound).unwrap_or_else(|_| bound.to_owned()));
    let mut search = Search {
        wanted,
        bound,
        listings,
        allowance,
        obstacles,
        seen: HashSet::new(),
        found: Vec::new(),
    };
    search.directory(&Directory {
        path: root.to_owned(),
        real,
        prefix: String::new(),
        depth: 0,
    });
    let mut found = search.found;
    found.sort_unstable_by(|a, b| a.name.cmp(&b.name));
    Some(found)
}

impl UnreadablePath {
    fn new(path: &Path, reason: impl std::fmt::Display) -> Self {
        Self {
            path: path.to_owned(),
            message: format!(
                "It is left out of what defines agents, commands and skills: {reason}"
            ),
        }
    }

    /// Returns the obstacle as a diagnostic without logging it.
    pub(crate) fn diagnostic(&self) -> Diagnostic {
        let origin = self.path.display().to_string();
        Diagnostic::new(&origin, DiagnosticKind::Io, self.message.clone(), None)
    }
}

struct Search<'s> {
    wanted: FileFilter,
    /// The directory that links must not lead out of, as a real path.
    bound: Option<PathBuf>,
    listings: &'s mut Listings,
    allowance: &'s mut ReadBudget,
    obstacles: &'s mut Vec<UnreadablePath>,
    /// Real paths of the directories that were searched.
    seen: HashSet<OsString>,
    found: Vec<Found>,
}

struct Directory {
    path: PathBuf,
    /// The real path.
    real: PathBuf,
    /// The prefix of the names of its files.
    prefix: String,
    depth: usize,
}

impl Search<'_> {
    fn directory(&mut self, directory: &Directory) {
        if self.allowance.used_up || !self.seen.insert(directory.real.clone().into()) {
            return;
        }
        if self
            .bound
            .as_ref()
            .is_some_and(|bound| !directory.real.starts_with(bound))
        {
            let reason = "a link leads out of the project, which the host does not trust";
            self.obstacles
                .push(UnreadablePath::new(&directory.path, reason));
            return;
        }
        if directory.depth > MAX_DEPTH {
            let reason = format!("it lies more than {MAX_DEPTH} directories deep");
            self.obstacles
                .push(UnreadablePath::new(&directory.path, reason));
            return;
        }
        match self.listings.list(&directory.path, self.allowance.names) {
            Ok(entries) => {
                self.allowance.names -= entries.len();
                for entry in &*entries {
                    self.entry(directory, entry);
                }
            }
            Err(error) if error.kind() == io::ErrorKind::QuotaExceeded => {
                self.allowance.used_up = true;
                let reason = "it and what follows, because there are more files around than a Location looks at";
                self.obstacles
                    .push(UnreadablePath::new(&directory.path, reason));
            }
            Err(error) => self
                .obstacles
                .push(UnreadablePath::new(&directory.path, &error)),
        }
    }

    fn entry(&mut self, parent: &Directory, entry: &Entry) {
        let path = parent.path.join(&entry.name);
        let Some(own_name) = entry.name.to_str() else {
            let reason = "its name is not Unicode";
            return self.obstacles.push(UnreadablePath::new(&path, reason));
        };
        let name = format!("{}{own_name}", parent.prefix);
        let real = match entry.kind {
            Kind::Directory => Some(parent.real.join(own_name)),
            Kind::Link if path.is_dir() => fs::canonicalize(&path).ok(),
            Kind::Link | Kind::Other => None,
        };
        match real {
            Some(real) if self.wanted.below => self.directory(&Directory {
                path,
                real,
                prefix: name + "/",
                depth: parent.depth + 1,
            }),
            Some(_) => {}
            None if (self.wanted.name)(&name) => self.file(path, name),
            None => {}
        }
    }

    fn file(&mut self, path: PathBuf, name: String) {
        if self.allowance.used_up {
            return;
        }
        // User interfaces show the name in line-based lists, and models receive it.
        if name.contains(char::is_control) {
            let reason = "its name has a control character";
            return self.obstacles.push(UnreadablePath::new(&path, reason));
        }
        match self.allowance.files.checked_sub(1) {
            Some(left) => {
                self.allowance.files = left;
                self.found.push(Found { path, name });
            }
            None => {
                self.allowance.used_up = true;
                let reason = "it and what follows, because there are more files of definitions than a Location reads";
                self.obstacles.push(UnreadablePath::new(&path, reason));
            }
        }
    }
}
