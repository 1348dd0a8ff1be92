//! The files of a Location for clients: reading one, listing a directory, finding a path.
//!
//! Nobody is asked for permission here, so nothing outside of the directory is ever shown: no absolute
//! path, none that climbs out, and none that leaves through a symbolic link, not even one that comes
//! between the look and the opening.

mod find;
mod list;
mod rank;
mod read;

use std::path::Path;

use opencode_handles::is_open_database;
use opencode_schema::file_system::{FileSystemEntry, FileSystemEntryType};
use tokio_util::sync::CancellationToken;

use crate::containment::{ContainmentError, Target, TargetKind, resolve};
use crate::location::Location;
use crate::walk;

pub use find::{DEFAULT_FOUND, MAX_FOUND};
pub use list::MAX_CHILDREN;
pub use read::{FileContent, MAX_FILE_BYTES};

/// Why nothing of the Location is shown. The texts are the same whatever lies outside of it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FileSystemError {
    /// It does not start in the Location.
    #[error("The path {0} is absolute; give one relative to the Location")]
    Absolute(String),
    /// By its text it leaves the Location.
    #[error("The path {0} leaves the Location; give one that stays within it")]
    Escapes(String),
    /// Nothing is there, or a link leads out.
    #[error("The path {0} leads to nothing within the Location")]
    Missing(String),
    /// Something else than a regular file is there.
    #[error("{0} is not a file; give the path of one")]
    NotAFile(String),
    /// Something else than a directory is there.
    #[error("{0} is not a directory; give the path of one")]
    NotADirectory(String),
    /// The file has more bytes than are ever handed out.
    #[error("{path} is too large: of a file at most {MAX_FILE_BYTES} bytes are read")]
    TooLarge {
        /// The path as it was given.
        path: String,
    },
    /// The directory has more children than are ever listed.
    #[error("{path} has too many entries: at most {MAX_CHILDREN} are listed")]
    TooManyEntries {
        /// The path as it was given.
        path: String,
    },
    /// The operating system refuses.
    #[error("{path} cannot be read: {message}")]
    Unreadable {
        /// The path as it was given.
        path: String,
        /// What the operating system says.
        message: String,
    },
    /// The host shuts down.
    #[error("The host is closing")]
    Closing,
}

impl Location {
    /// The bytes of the regular file at a path relative to the directory, at most
    /// [`MAX_FILE_BYTES`].
    pub async fn read_file(&self, path: &str) -> Result<FileContent, FileSystemError> {
        let (directory, path) = (self.directory.clone(), path.to_owned());
        blocking(move || read::read(Path::new(&directory), &path)).await
    }

    /// The direct children of the directory at a path, directories first, each kind in the order that
    /// people expect. Hidden ones are listed, symbolic links are not. An empty path is the root.
    pub async fn list_files(&self, path: &str) -> Result<Vec<FileSystemEntry>, FileSystemError> {
        let (directory, path) = (self.directory.clone(), path.to_owned());
        blocking(move || list::list(Path::new(&directory), &path)).await
    }

    /// The files and directories whose path resembles `query`, the closest first: those of exactly
    /// that name, names that begin with it, names and then paths that contain it, paths with its
    /// characters in their order. Among equals those of the same case come first, then the shorter
    /// paths. Upper and lower case are the same otherwise, and a query with slashes is compared with
    /// as many names from the end of the path as it has. An empty one resembles everything.
    ///
    /// What ignore files exclude and `.git` are left out, hidden files are not. `limit` counts up to
    /// [`MAX_FOUND`], and is [`DEFAULT_FOUND`] where none is given.
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
        // Who no longer waits ends the walk.
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

/// Where a path leads within the Location.
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
        // What we say ourselves tells more than its kind.
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
