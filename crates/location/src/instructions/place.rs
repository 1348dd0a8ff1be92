//! Which files a directory has authority over.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::reading::{Discovery, not_there};
use super::{FILE_NAME, InstructionError};
use crate::containment::real_path;
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

    /// The directory that files of the project must not lead out of, links followed: the root of the
    /// repository, or outside any repository the directory itself.
    pub(super) fn worktree(&self) -> Result<PathBuf, InstructionError> {
        let directory = self.project.worktree(Path::new(self.directory));
        real_path(directory).map_err(|error| unreadable(directory, &error))
    }
}

/// Adds the instruction file of a directory, if there is one and it lies in `bound`.
pub(super) fn look(directory: &Path, bound: Option<&Path>, discovery: &mut Discovery) {
    follow(&directory.join(FILE_NAME), bound, discovery);
}

/// Adds a file, links followed, if it exists and lies in `bound`.
pub(super) fn follow(named: &Path, bound: Option<&Path>, discovery: &mut Discovery) {
    // Most directories have no such file, and asking for the name alone is the cheapest way to see.
    let real = fs::symlink_metadata(named).and_then(|_| real_path(named));
    match real {
        Ok(real) if bound.is_none_or(|bound| real.starts_with(bound)) => discovery.add(real),
        Ok(real) => tracing::warn!(
            named = %named.display(),
            real = %real.display(),
            "instructions are passed over: a link leads out of where they may lie"
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
