//! Reads the discovered files.

use std::collections::HashSet;
use std::io;
use std::path::PathBuf;

use opencode_handles::read_file;

use super::place::unreadable;
use super::{Found, InstructionError, InstructionFile};

/// Maximum total size in bytes of all files of one kind.
pub const MAX_BYTES: u64 = 1024 * 1024;

/// The files of one kind that were discovered.
#[derive(Default)]
pub(super) struct Discovery {
    /// Absolute paths in order, after links are resolved.
    files: Vec<PathBuf>,
    /// The first failure of the discovery.
    failure: Option<InstructionError>,
}

impl Discovery {
    pub(super) fn add(&mut self, file: PathBuf) {
        self.files.push(file);
    }

    pub(super) fn fail(&mut self, failure: InstructionError) {
        self.failure.get_or_insert(failure);
    }
}

/// Files that belong to an earlier kind.
#[derive(Default)]
pub(super) struct Covered(HashSet<PathBuf>);

impl Covered {
    /// Reads the files that are not covered yet and marks them as covered, even if they cannot be read.
    pub(super) fn read(&mut self, discovery: Discovery) -> Found {
        let mut files = discovery.files;
        files.retain(|file| self.0.insert(file.clone()));
        match discovery.failure {
            Some(failure) => Err(failure),
            None => read_all(files),
        }
    }
}

fn read_all(paths: Vec<PathBuf>) -> Found {
    let mut left = MAX_BYTES;
    let mut files = Vec::with_capacity(paths.len());
    for path in paths {
        let failed = |reason: &str| InstructionError {
            path: path.clone(),
            reason: reason.to_owned(),
        };
        let bytes = read_file(&path, MAX_BYTES).map_err(|error| unreadable(&path, &error))?;
        // The file was deleted after its discovery.
        let Some(bytes) = bytes else { continue };
        left = left.checked_sub(bytes.len() as u64).ok_or_else(|| {
            failed(&format!(
                "with it they would have more than {MAX_BYTES} bytes"
            ))
        })?;
        let content = String::from_utf8(bytes).map_err(|_| failed("it is not UTF-8 text"))?;
        let path = path.to_string_lossy().into_owned();
        files.push(InstructionFile { path, content });
    }
    Ok(files)
}

/// True if the error means that the file does not exist. A parent that is a file has the same meaning.
pub(super) fn is_missing(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}
