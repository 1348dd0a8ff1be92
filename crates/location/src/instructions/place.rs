//! The files that can provide instructions for a directory.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::reading::{Discovery, is_missing};
use super::{FILE_NAME, InstructionError};
use crate::directory::{is_private, real_path};
use crate::environment::Environment;
use crate::location::Location;
use crate::project::Project;

/// A directory whose instructions are searched.
#[derive(Clone, Copy)]
pub struct Place<'a> {
    /// The description of the machine.
    pub environment: &'a Environment,
    /// The project that contains the directory.
    pub project: &'a Project,
    /// The directory, in normal form.
    pub directory: &'a str,
    /// True if the host trusts the files of the project.
    pub is_trusted: bool,
}

impl<'a> Place<'a> {
    /// Returns the place of a Location.
    pub fn of(location: &'a Location, environment: &'a Environment) -> Self {
        Self {
            environment,
            project: &location.project,
            directory: &location.directory,
            is_trusted: location.is_trusted,
        }
    }

    /// The directory, after links are resolved.
    pub(super) fn root(&self) -> Result<PathBuf, InstructionError> {
        let directory = Path::new(self.directory);
        real_path(directory).map_err(|error| unreadable(directory, &error))
    }

    /// The directory that files of the project must not lead out of, after links are resolved. `None`
    /// for a trusted project outside of any repository: its only root is the root of the disk.
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

/// The limit for files of the project.
#[derive(Clone, Copy)]
pub(super) struct Bound<'b> {
    /// The directory that they must not lead out of, after links are resolved.
    pub root: &'b Path,
    /// True if the host trusts the files.
    pub is_trusted: bool,
}

impl Bound<'_> {
    fn admits(&self, real: &Path) -> bool {
        real.starts_with(self.root) && (self.is_trusted || !is_private(real, self.root))
    }
}

/// Adds the instruction file of a directory if it exists and is inside `bound`.
pub(super) fn add_from(directory: &Path, bound: Option<Bound<'_>>, discovery: &mut Discovery) {
    follow(&directory.join(FILE_NAME), bound, discovery);
}

/// Resolves the links of a file and adds it if it exists and is inside `bound`.
pub(super) fn follow(named: &Path, bound: Option<Bound<'_>>, discovery: &mut Discovery) {
    // Most directories have no such file, and a check of the name alone is the cheapest test.
    let real = fs::symlink_metadata(named).and_then(|_| real_path(named));
    match real {
        Ok(real) if bound.is_none_or(|bound| bound.admits(&real)) => discovery.add(real),
        Ok(real) => tracing::warn!(
            named = %named.display(),
            real = %real.display(),
            "instructions are passed over: they lie, or a link leads, where they may not"
        ),
        Err(error) if is_missing(&error) => {}
        Err(error) => discovery.fail(unreadable(named, &error)),
    }
}

pub(super) fn unreadable(path: &Path, error: &io::Error) -> InstructionError {
    InstructionError {
        path: path.to_owned(),
        reason: error.to_string(),
    }
}
