//! The files of a Location: for clients, reading one, listing a directory and finding a path; for tools
//! too, [`opening`] without following links, and the [`walk`] over everything below a directory.
//!
//! The operations for clients ask for no permission, so they never show anything outside of the directory: they
//! reject absolute paths, paths that leave the directory, and paths that leave it through a symbolic
//! link, even if the link is created between the check and the opening.

pub mod collation;
mod find;
mod list;
pub mod media_type;
pub mod opening;
mod rank;
mod read;
pub mod walk;

use std::path::Path;

use opencode_handles::is_open_database;
use opencode_schema::file_system::{FileSystemEntry, FileSystemEntryType};
use tokio_util::sync::CancellationToken;

use crate::directory::{ContainmentError, Target, TargetKind, resolve};
use crate::location::Location;

pub use find::{DEFAULT_FOUND, MAX_FOUND};
pub use list::MAX_CHILDREN;
pub use read::{FileContent, MAX_FILE_BYTES};

/// The reason why a request for files of the Location fails. The messages do not depend on what exists outside of it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FileSystemError {
    /// The path is absolute.
    #[error("The path {0} is absolute; give one relative to the Location")]
    Absolute(String),
    /// The path leaves the Location by its text.
    #[error("The path {0} leaves the Location; give one that stays within it")]
    Escapes(String),
    /// The path does not exist, or a link leads out of the Location.
    #[error("The path {0} leads to nothing within the Location")]
    Missing(String),
    /// The path is not a regular file.
    #[error("{0} is not a file; give the path of one")]
    NotAFile(String),
    /// The path is not a directory.
    #[error("{0} is not a directory; give the path of one")]
    NotADirectory(String),
    /// The file is larger than the limit.
    #[error("{path} is too large: of a file at most {MAX_FILE_BYTES} bytes are read")]
    TooLarge {
        /// The path that the caller gave.
        path: String,
    },
    /// The directory has more children than the limit.
    #[error("{path} has too many entries: at most {MAX_CHILDREN} are listed")]
    TooManyEntries {
        /// The path that the caller gave.
        path: String,
    },
    /// The operating system reports an error.
    #[error("{path} cannot be read: {message}")]
    Unreadable {
        /// The path that the caller gave.
        path: String,
        /// The message of the operating system.
        message: String,
    },
    /// The host shuts down.
    #[error("The host is closing")]
    Closing,
}

impl Location {
    /// Returns the bytes of the regular file at a path relative to the directory, at most
    /// [`MAX_FILE_BYTES`].
    pub async fn read_file(&self, path: &str) -> Result<FileContent, FileSystemError> {
        let (directory, path) = (self.directory.clone(), path.to_owned());
        blocking(move || read::read(Path::new(&directory), &path)).await
    }

    /// Returns the direct children of the directory at a path: directories first, and each kind in the order that users
    /// expect. Includes hidden entries, excludes symbolic links. An empty path is the root.
    pub async fn list_files(&self, path: &str) -> Result<Vec<FileSystemEntry>, FileSystemError> {
        let (directory, path) = (self.directory.clone(), path.to_owned());
        blocking(move || list::list(Path::new(&directory), &path)).await
    }

    /// Returns the files and directories whose path resembles `query`, the closest first: exact names,
    /// names that begin with the query, names and then paths that contain it, and paths that contain
    /// its characters in order. Among equal matches, those with the same case come first, then shorter
    /// paths. Otherwise the comparison ignores case. A query with slashes is compared with the same
    /// number of names at the end of the path. An empty query matches everything.
    ///
    /// Excludes paths that ignore files exclude, and `.git`. Includes hidden files. `limit` is at most
    /// [`MAX_FOUND`], and [`DEFAULT_FOUND`] if absent.
    pub async fn find_files(
        &self,
        query: &str,
        kind: Option<FileSystemEntryType>,
        limit: Option<u32>,
    ) -> Result<Vec<FileSystemEntry>, FileSystemError> {
        let (directory, query) = (self.directory.clone(), query.to_owned());
        let limit = limit.map_or(DEFAULT_FOUND, |limit| MAX_FOUND.min(limit as usize));
        let permit = walk::permit().await.ok_or(FileSystemError::Closing)?;
        let cancel = CancellationToken::new();
        // Dropping this future cancels the walk.
        let _ends = cancel.clone().drop_guard();
        blocking(move || {
            let _permit = permit;
            find::find(Path::new(&directory), &query, kind, limit, &cancel)
        })
        .await
    }
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, FileSystemError> + Send + 'static,
) -> Result<T, FileSystemError> {
    match opencode_log::spawn_blocking(work).await {
        Ok(outcome) => outcome,
        Err(error) => match error.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            Err(_) => Err(FileSystemError::Closing),
        },
    }
}

/// Resolves a path within the Location.
fn within(location: &Path, path: &str) -> Result<Target, FileSystemError> {
    if Path::new(path).has_root() {
        return Err(FileSystemError::Absolute(path.to_owned()));
    }
    let target = resolve(location, path, TargetKind::File).map_err(|error| match error {
        ContainmentError::RelativeEscape => FileSystemError::Escapes(path.to_owned()),
        _ => FileSystemError::Missing(path.to_owned()),
    })?;
    match target.external_directory {
        None => Ok(target),
        Some(_) => Err(FileSystemError::Absolute(path.to_owned())),
    }
}

fn unreadable(path: &str, error: &std::io::Error) -> FileSystemError {
    match error.kind() {
        std::io::ErrorKind::NotFound => FileSystemError::Missing(path.to_owned()),
        // The error texts of this crate are more specific than the error kind.
        kind if is_open_database(error) || kind == std::io::ErrorKind::Other => {
            FileSystemError::Unreadable {
                path: path.to_owned(),
                message: error.to_string(),
            }
        }
        kind => FileSystemError::Unreadable {
            path: path.to_owned(),
            message: kind.to_string(),
        },
    }
}
