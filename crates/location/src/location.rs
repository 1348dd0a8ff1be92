//! One directory, with everything that follows from it.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::io;
use std::sync::Arc;

use opencode_llm::redact::Redactor;
use opencode_schema::location::{LocationInfo, ProjectRef};

use crate::agents::Agents;
use crate::catalogue::Catalogue;
use crate::commands::Commands;
use crate::config::Configuration;
use crate::directory::DirectoryError;
use crate::project::Project;
use crate::references::References;
use crate::skills::Skills;

/// What belongs to one directory, as it was when the Location was opened. Never changes.
pub struct Location {
    /// The directory, in normal form.
    pub directory: String,
    /// The project around it.
    pub project: Project,
    /// Whether the host trusts the files of the project.
    pub is_trusted: bool,
    /// Under which name answers of `always` are saved.
    pub(crate) approvals: String,
    /// The configuration documents that hold here, and what is wrong with the others.
    pub configuration: Configuration,
    /// The models on offer.
    pub catalogue: Catalogue,
    /// The agents that configuration describes.
    pub agents: Agents,
    /// The commands.
    pub commands: Commands,
    /// The references.
    pub references: References,
    /// The skills, which are looked at anew each time.
    pub skills: Skills,
    /// Removes from texts what configuration and environment hold of secrets.
    pub secrets: Redactor,
    /// The variables of processes that agents and clients start here.
    pub command_variables: Arc<BTreeMap<String, String>>,
}

/// Shows where it is; what is known of it may hold secrets.
impl fmt::Debug for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Location")
            .field("directory", &self.directory)
            .field("project", &self.project)
            .finish_non_exhaustive()
    }
}

impl Location {
    /// Where the directory lies within its project; empty at the project's root.
    pub fn subpath(&self) -> String {
        self.project.subpath(&self.directory)
    }

    /// Under which name answers of `always` are saved. A repository can claim to be any project, so those
    /// of an untrusted one count for its worktree alone.
    pub fn approvals(&self) -> &str {
        &self.approvals
    }

    /// The public description.
    pub fn info(&self) -> LocationInfo {
        LocationInfo {
            directory: self.directory.clone(),
            workspace_id: None,
            project: ProjectRef::from(&self.project),
        }
    }
}

/// Why a directory cannot be a Location.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LocationError {
    /// Its name is not one of a directory.
    #[error(transparent)]
    Directory(#[from] DirectoryError),
    /// There is nothing of this name.
    #[error("The directory {directory} does not exist; create it first or give another one")]
    Missing {
        /// The directory, in normal form.
        directory: String,
    },
    /// There is something else of this name.
    #[error("{directory} is not a directory; give the directory that holds it")]
    NotADirectory {
        /// What was given, in normal form.
        directory: String,
    },
    /// It cannot be looked at.
    #[error("The directory {directory} cannot be opened: {message}")]
    Unreadable {
        /// The directory, in normal form.
        directory: String,
        /// What the operating system says.
        message: String,
    },
}

/// Checks that the directory is one. Blocks on the disk.
pub(crate) fn check(directory: &str) -> Result<(), LocationError> {
    let named = || directory.to_owned();
    match fs::metadata(directory) {
        Ok(metadata) if metadata.is_dir() => Ok(()),
        Ok(_) => Err(LocationError::NotADirectory { directory: named() }),
        Err(error) => Err(match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => {
                LocationError::Missing { directory: named() }
            }
            _ => LocationError::Unreadable {
                directory: named(),
                message: error.to_string(),
            },
        }),
    }
}
