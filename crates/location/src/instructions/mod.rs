//! Instruction files of a directory and their content.
//!
//! There are three kinds, searched in this order. A file that belongs to one kind does not belong to a
//! later kind, even if another path leads to it.
//!
//! 1. General: `AGENTS.md` in the user's configuration directory, then in the directory and every
//!    directory above it up to the project's root, nearest first.
//! 2. Configured: the paths and globs of configuration documents, in their order.
//! 3. Nearby: `AGENTS.md` in directories below, in the given order.
//!
//! A missing file is ignored. If a file exists but cannot be read, its whole kind is unreadable, with the reason:
//! instructions are never left out silently, and a model that already received them keeps them. This applies to a
//! directory with the name of the file, a link to itself, text that is not UTF-8, and files that are together larger
//! than [`MAX_BYTES`].
//!
//! Files of a project must be inside the project after links are resolved. A link that leads out is
//! ignored. If [project files are turned off](crate::environment::Environment::reads_projects), files
//! below the directory are ignored too.
//!
//! Files of other programs' conventions, such as `CLAUDE.md`, and the former `CONTEXT.md` are not
//! searched. A user can name them in `instructions`.

mod configured;
mod general;
mod glob;
mod nearby;
mod place;
mod reading;

use serde::{Deserialize, Serialize};
use std::path::PathBuf;

pub use place::Place;
pub use reading::MAX_BYTES;

use crate::config::InstructionEntry;

/// The name of an instruction file.
pub const FILE_NAME: &str = "AGENTS.md";

/// An instruction file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InstructionFile {
    /// The absolute path, after links are resolved.
    pub path: String,
    /// The unchanged content.
    pub content: String,
}

/// The reason why instructions cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the instructions in {} cannot be read: {reason}", path.display())]
pub struct InstructionError {
    /// The file or directory that cannot be read.
    pub path: PathBuf,
    /// The reason.
    pub reason: String,
}

/// The files of one kind, in order. Empty if the kind has no files.
pub type Found = Result<Vec<InstructionFile>, InstructionError>;

/// The instruction files of a directory at one point in time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Instructions {
    /// Files that apply without configuration.
    pub general: Found,
    /// Files that the configuration names.
    pub configured: Found,
    /// Files in directories below.
    pub nearby: Found,
}

/// The files to search in addition to the general files.
#[derive(Debug, Clone, Copy, Default)]
pub struct InstructionQuery<'a> {
    /// The entries of the configuration. URLs among them are skipped, because they are not files on the disk.
    pub configured: &'a [InstructionEntry],
    /// Directories below the Location to search.
    pub nearby: &'a [PathBuf],
}

impl Instructions {
    /// Finds and reads the files. Blocks on disk access.
    pub fn observe(place: &Place<'_>, wanted: InstructionQuery<'_>) -> Self {
        let mut covered = reading::Covered::default();
        Self {
            general: covered.read(general::discover(place)),
            configured: covered.read(configured::discover(place, wanted.configured)),
            nearby: covered.read(nearby::discover(place, wanted.nearby)),
        }
    }
}
