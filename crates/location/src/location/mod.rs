//! One directory with its project, configuration and definitions.

mod all_secrets;
mod approvals;
mod known_secrets;
mod locations;
mod trust;

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use opencode_schema::location::{LocationInfo, ProjectRef};
use opencode_secrets::Redactor;

pub use all_secrets::AllSecrets;
pub use approvals::ApprovalPlace;
pub use locations::{IDLE_TIME, LearnSecrets, Locations, MAX_IDLE_LOCATIONS, Reloaded};
pub use trust::{AskTrust, Trust};

use crate::catalogue::Catalogue;
use crate::changed_documents::ChangedDocuments;
use crate::config::{Configuration, document_places};
use crate::definitions::agents::Agents;
use crate::definitions::commands::Commands;
use crate::definitions::mcp::McpServers;
use crate::definitions::references::References;
use crate::definitions::skills::Skills;
use crate::directory::DirectoryError;
use crate::environment::Environment;
use crate::guarded::GuardedFiles;
use crate::project::Project;

/// Data of one directory at the time when the Location was opened. Immutable.
pub struct Location {
    /// The directory, in normal form.
    pub directory: String,
    /// The project that contains it.
    pub project: Project,
    /// True if the host trusts the files of the project.
    pub is_trusted: bool,
    /// The name under which answers of `always` are saved.
    pub(crate) approvals: String,
    /// The configuration documents that apply here, and the diagnostics of the others.
    pub configuration: Configuration,
    /// The models that the configuration and the embedding program offer.
    pub catalogue: Catalogue,
    /// Number of changes of the program's providers when the catalogue was built.
    pub(crate) provider_changes: u64,
    /// Number of changes of the stored keys when the Location was read.
    pub(crate) key_changes: u64,
    /// Number of replacements of the list of models when the Location was read.
    pub(crate) list_changes: u64,
    /// The agents that configuration describes.
    pub agents: Agents,
    /// The commands.
    pub commands: Commands,
    /// The references.
    pub references: References,
    /// The files that decide what the host or Git does.
    pub guarded: Arc<GuardedFiles>,
    /// The directories of copies that the host downloads for all projects.
    pub copies: Arc<[PathBuf]>,
    /// The skills. They are read again at each use.
    pub skills: Skills,
    /// The servers of the Model Context Protocol.
    pub mcp: McpServers,
    /// Removes the secrets of configuration and environment from texts.
    pub secrets: Redactor,
    /// The home directory of the user, which is the meaning of `~`.
    pub home: Arc<Path>,
    /// The environment variables of processes that agents and clients start here.
    pub command_variables: Arc<BTreeMap<String, String>>,
}

/// Shows only the directory and the project, because other fields may contain secrets.
impl fmt::Debug for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Location")
            .field("directory", &self.directory)
            .field("project", &self.project)
            .finish_non_exhaustive()
    }
}

impl Location {
    /// The path of the directory relative to the root of its project. Empty at the root.
    pub fn subpath(&self) -> String {
        self.project.subpath(&self.directory)
    }

    /// The name under which answers of `always` are saved: see [`ApprovalPlace`].
    pub fn approvals(&self) -> &str {
        &self.approvals
    }

    /// The public description of the Location.
    pub fn info(&self) -> LocationInfo {
        LocationInfo {
            directory: self.directory.clone(),
            workspace_id: None,
            project: ProjectRef::from(&self.project),
        }
    }
}

/// The reason why a directory cannot be a Location.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LocationError {
    /// The path is not a valid directory path.
    #[error(transparent)]
    Directory(#[from] DirectoryError),
    /// The path does not exist.
    #[error("The directory {directory} does not exist; create it first or give another one")]
    Missing {
        /// The directory, in normal form.
        directory: String,
    },
    /// The path exists but is not a directory.
    #[error("{directory} is not a directory; give the directory that holds it")]
    NotADirectory {
        /// The path that was given, in normal form.
        directory: String,
    },
    /// The directory cannot be accessed.
    #[error("The directory {directory} cannot be opened: {message}")]
    Unreadable {
        /// The directory, in normal form.
        directory: String,
        /// The error message of the operating system.
        message: String,
    },
}

/// Fails unless the path is a directory. Blocks on disk access.
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

/// Trusts the documents of a directory that a tool changed as they are now. Blocks on disk access.
fn confirm_changes(
    environment: &Environment,
    project: &Project,
    directory: &str,
) -> Result<(), LocationError> {
    let places = document_places(environment, project, directory);
    let confirmed = ChangedDocuments::of(environment).confirm(&places);
    confirmed.map_err(|error| LocationError::Unreadable {
        directory: directory.to_owned(),
        message: format!("the changes of its documents cannot be confirmed: {error}"),
    })
}
