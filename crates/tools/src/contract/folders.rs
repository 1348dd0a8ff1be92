//! The directories and files that decide what the path of a call means and how the call may use it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use opencode_location::directory::{TargetKind, resolve};
use opencode_location::guarded::GuardedFiles;
use opencode_schema::id::SessionID;

use crate::contract::output_owner;

/// The place of file tools: where paths begin, and which paths are special.
#[derive(Clone)]
pub struct FileScope {
    /// The absolute path of the Location's directory.
    pub directory: Arc<Path>,
    /// The home directory of the user, which is the meaning of `~`.
    pub home: Arc<Path>,
    /// Directories that the session shares with others.
    pub folders: SharedFolders,
    /// The files that decide what the host or Git does.
    pub guarded: Arc<GuardedFiles>,
}

/// The Managed Tool Output Files, from the view of one session.
#[derive(Clone, Debug)]
pub struct SessionOutputs {
    /// The directory of the files, which may not exist yet.
    pub directory: Arc<Path>,
    /// The root of the session tree. It decides which files the session may read without a question.
    pub root: SessionID,
}

impl SessionOutputs {
    /// True if the session tree wrote a file of the directory.
    #[must_use]
    pub fn wrote(&self, file: &Path) -> bool {
        output_owner::is_of(file, &self.root)
    }
}

/// Directories that a session shares with other sessions and projects. Without a question, tools only read there.
#[derive(Clone, Debug)]
pub struct SharedFolders {
    /// The Managed Tool Output Files.
    pub outputs: SessionOutputs,
    /// The directories of copies that the host downloads, such as clones of repositories. Tools never change them.
    pub copies: Arc<[PathBuf]>,
    /// The directories of the configured references.
    pub references: Arc<[PathBuf]>,
}

/// The shared directory that contains a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SharedFolder {
    /// The directory of Managed Tool Output Files, or a file there that the session tree wrote.
    Outputs,
    /// A file in this directory of another session tree.
    OutputOfOthers,
    /// A downloaded copy.
    Copy,
    /// A reference that is no downloaded copy.
    Reference,
}

impl SharedFolders {
    /// True if a canonical path is a Managed Tool Output File that another session tree wrote. Blocks on the disk.
    #[must_use]
    pub fn has_output_of_others(&self, path: &Path) -> bool {
        self.of(path) == Some(SharedFolder::OutputOfOthers)
    }

    /// Returns the shared directory that contains a canonical path. Blocks on the disk.
    pub(crate) fn of(&self, path: &Path) -> Option<SharedFolder> {
        let outputs = &self.outputs;
        if is_within(path, &outputs.directory) {
            let is_own = outputs.wrote(path) || path.is_dir();
            return Some(if is_own {
                SharedFolder::Outputs
            } else {
                SharedFolder::OutputOfOthers
            });
        }
        let is_in = |folders: &[PathBuf]| folders.iter().any(|folder| is_within(path, folder));
        if is_in(&self.copies) {
            return Some(SharedFolder::Copy);
        }
        is_in(&self.references).then_some(SharedFolder::Reference)
    }
}

fn is_within(path: &Path, directory: &Path) -> bool {
    let resolved = resolve(directory, &path.to_string_lossy(), TargetKind::File);
    resolved.map_or_else(
        // The directory does not exist yet.
        |_| path.starts_with(directory),
        |target| target.external_directory.is_none(),
    )
}
