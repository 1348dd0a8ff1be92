//! Which files a directory has authority over.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::reading::{Discovery, not_there};
use super::{FILE_NAME, InstructionError};
use crate::containment::{is_private, real_path};
use crate::environment::Environment;
use crate::location::Location;
use crate::project::Project;

/// A directory for which instructions are looked for.
#[derive(Clone, Copy)]
pub struct Place<'a> {
    /// The machine.
    pub environment: &'a Environment,
    /// The project around the directory.
    pub project: &'a Project,
    /// The directory, in normal form.
    pub directory: &'a str,
    /// Whether the host trusts the files of the project.
    pub is_trusted: bool,
}

impl<'a> Place<'a> {
    /// The place of a Location.
    pub fn of(location: &'a Location, environment: &'a Environment) -> Self {
        Self {
            environment,
            project: &location.project,
            directory: &location.directory,
            is_trusted: location.is_trusted,
        }
    }

    /// The directory, links followed.
    pub(super) fn root(&self) -> Result<PathBuf, InstructionError> {
        let directory = Path::new(self.directory);
        real_path(directory).map_err(|error| unreadable(directory, &error))
    }

    /// The directory that files of the project must not lead out of, links followed. None for a trusted
    /// project outside any repository, which has no root but that of the disk.
    pub(super) fn worktree(&self) -> Result<Option<PathBuf>, InstructionError> {
        let directory = match (self.is_trusted, &self.project.vcs) {
            (true, None) => return Ok(None),
            (true, Some(_)) => Path::new(&self.project.directory),
            (false, _) => {
                let home = &self.environment.home;
                self.project.worktree(Path::new(self.directory), home)
            }
        };
        let real = real_path(directory).map_err(|error| unreadable(directory, &error))?;
        Ok(Some(real))
    }
}

/// What files of the project must not lead out of.
#[derive(Clone, Copy)]
pub(super) struct Bound<'b> {
    /// The directory, links followed.
    pub root: &'b Path,
    /// Whether the host trusts the files.
    pub is_trusted: bool,
}

impl Bound<'_> {
    fn admits(&self, real: &Path) -> bool {
        real.starts_with(self.root) && (self.is_trusted || !is_private(real, self.root))
    }
}

/// Adds the instruction file of a directory, if there is one and it lies in `bound`.
pub(super) fn look(directory: &Path, bound: Option<Bound<'_>>, discovery: &mut Discovery) {
    follow(&directory.join(FILE_NAME), bound, discovery);
}

/// Adds a file, links followed, if it exists and lies in `bound`.
pub(super) fn follow(named: &Path, bound: Option<Bound<'_>>, discovery: &mut Discovery) {
    // Most directories have no such file, and asking for the name alone is the cheapest way to see.
    let real = fs::symlink_metadata(named).and_then(|_| real_path(named));
    match real {
        Ok(real) if bound.is_none_or(|bound| bound.admits(&real)) => discovery.add(real),
        Ok(real) => tracing::warn!(
            named = %named.display(),
            real = %real.display(),
            "instructions are passed over: they lie, or a link leads, where they may not"
        ),
        Err(error) if not_there(&error) => {}
        Err(error) => discovery.fail(unreadable(named, &error)),
    }
}

pub(super) fn unreadable(path: &Path, error: &io::Error) -> InstructionError {
    InstructionError {
        path: path.to_owned(),
        reason: error.to_string(),
    }
}
