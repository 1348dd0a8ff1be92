//! Finding definition files in a directory somebody else filled.

use std::collections::HashSet;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::listing::{Entry, Kind, Listings};
use crate::bounded;
use crate::config::{Diagnostic, DiagnosticKind};
use crate::containment::is_project_text;

/// Largest definition file read, in bytes.
pub(crate) const MAX_FILE_BYTES: u64 = 1024 * 1024;

/// Most directories below each other that are looked into.
const MAX_DEPTH: usize = 16;

/// What looking for definitions may cost, all directories together. Whoever has more has named the
/// wrong directory.
pub(crate) struct Allowance {
    /// Names that may still be looked at.
    names: usize,
    /// Files that may still be found.
    files: usize,
    /// Bytes that may still be read.
    bytes: u64,
    /// Whether nothing more is looked for. Where that began has been told.
    used_up: bool,
}

impl Default for Allowance {
    fn default() -> Self {
        Self {
            names: 20_000,
            files: 1_000,
            bytes: 32 * 1024 * 1024,
            used_up: false,
        }
    }
}

impl Allowance {
    /// Takes the bytes of a file from the allowance.
    pub(crate) fn take(&mut self, bytes: u64) -> io::Result<()> {
        let left = self.bytes.checked_sub(bytes);
        self.bytes = left.ok_or_else(|| {
            io::Error::other("there are more bytes of definitions than a Location reads")
        })?;
        Ok(())
    }

    /// The same, for a file that must not lead out of a directory, links followed.
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

    /// The bytes of a file within its limit; none if it has gone.
    pub(crate) fn read(&mut self, file: &Path) -> io::Result<Option<Vec<u8>>> {
        match bounded::read(file, MAX_FILE_BYTES)? {
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
    /// The path from the directory that was searched, with `/` between the names.
    pub name: String,
}

/// Something that could not be looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Obstacle {
    /// Where.
    pub path: PathBuf,
    /// Why.
    pub message: String,
}

/// What is looked for.
#[derive(Clone, Copy)]
pub(crate) struct Wanted {
    /// Whether directories below are searched, too.
    pub below: bool,
    /// Which files are meant, by their path from the directory that is searched.
    pub name: fn(&str) -> bool,
}

/// The wanted files of a directory in the order of their names; none if there is no such directory.
///
/// Links are followed, each directory only once, so that a circle of them ends, and none out of
/// `bound`. Something of a wanted name that is no file is found like one: reading it tells why it
/// cannot be used.
pub(crate) fn find(
    root: &Path,
    wanted: Wanted,
    bound: Option<&Path>,
    listings: &mut Listings,
    allowance: &mut Allowance,
    obstacles: &mut Vec<Obstacle>,
) -> Option<Vec<Found>> {
    let real = match fs::canonicalize(root) {
        Ok(real) => real,
        Err(error) => {
            // A parent that is a file means the same as a missing directory: nothing is there.
            let absent = [io::ErrorKind::NotFound, io::ErrorKind::NotADirectory];
            if !absent.contains(&error.kind()) {
                obstacles.push(Obstacle::new(root, &error));
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

impl Obstacle {
    fn new(path: &Path, reason: impl std::fmt::Display) -> Self {
        Self {
            path: path.to_owned(),
            message: format!(
                "It is left out of what defines agents, commands and skills: {reason}"
            ),
        }
    }

    /// The obstacle as a diagnostic that is not logged yet.
    pub(crate) fn diagnostic(&self) -> Diagnostic {
        let origin = self.path.display().to_string();
        Diagnostic::new(&origin, DiagnosticKind::Io, self.message.clone(), None)
    }
}

struct Search<'s> {
    wanted: Wanted,
    /// The directory that links must not lead out of, itself without links.
    bound: Option<PathBuf>,
    listings: &'s mut Listings,
    allowance: &'s mut Allowance,
    obstacles: &'s mut Vec<Obstacle>,
    /// Real paths of directories that were searched.
    seen: HashSet<OsString>,
    found: Vec<Found>,
}

struct Directory {
    path: PathBuf,
    /// The path without links.
    real: PathBuf,
    /// What the names of its files begin with.
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
            self.obstacles.push(Obstacle::new(&directory.path, reason));
            return;
        }
        if directory.depth > MAX_DEPTH {
            let reason = format!("it lies more than {MAX_DEPTH} directories deep");
            self.obstacles.push(Obstacle::new(&directory.path, reason));
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
                self.obstacles.push(Obstacle::new(&directory.path, reason));
            }
            Err(error) => self.obstacles.push(Obstacle::new(&directory.path, &error)),
        }
    }

    fn entry(&mut self, parent: &Directory, entry: &Entry) {
        let path = parent.path.join(&entry.name);
        let Some(own_name) = entry.name.to_str() else {
            let reason = "its name is not Unicode";
            return self.obstacles.push(Obstacle::new(&path, reason));
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
        // A name is shown in lists of lines and given to models.
        if name.contains(char::is_control) {
            let reason = "its name has a control character";
            return self.obstacles.push(Obstacle::new(&path, reason));
        }
        match self.allowance.files.checked_sub(1) {
            Some(left) => {
                self.allowance.files = left;
                self.found.push(Found { path, name });
            }
            None => {
                self.allowance.used_up = true;
                let reason = "it and what follows, because there are more files of definitions than a Location reads";
                self.obstacles.push(Obstacle::new(&path, reason));
            }
        }
    }
}
