//! Instruction files: where they lie for a directory, and what they say.
//!
//! There are three kinds, looked for in this order; a file that one kind covers is no file of a
//! later one, whatever path leads to it.
//!
//! 1. General: `AGENTS.md` in the user's configuration directory, then in the directory and every
//!    one above it up to the project's root, nearest first.
//! 2. Configured: the paths and globs of configuration documents, in their order.
//! 3. Nearby: `AGENTS.md` in directories below, in the order in which they are given.
//!
//! A file that is not there is no file. A file that is there and cannot be read makes its whole kind
//! unreadable, with the reason: instructions are never left out in silence, and a model that knows
//! them keeps them. That holds for a directory of the name, a link that leads nowhere but to itself,
//! text that is not UTF-8 and whatever is larger than [`MAX_BYTES`].
//!
//! What belongs to a project has to lie in it, links followed: through one that leads out there is
//! nothing. Where [projects do not count](crate::environment::Environment::reads_projects), neither
//! do files below.
//!
//! Files of other programs' conventions, `CLAUDE.md` among them, and the former `CONTEXT.md` are not
//! looked for; who wants one names it in `instructions`.

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
    /// Its absolute path, links followed.
    pub path: String,
    /// What it says, unchanged.
    pub content: String,
}

/// Why instructions cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the instructions in {} cannot be read: {reason}", path.display())]
pub struct InstructionError {
    /// The file or directory in the way.
    pub path: PathBuf,
    /// What is the matter with it.
    pub reason: String,
}

/// The files of one kind, in order; none is a kind without files.
pub type Found = Result<Vec<InstructionFile>, InstructionError>;

/// The instruction files of a directory as they are at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Instructions {
    /// Those that hold without anybody naming them.
    pub general: Found,
    /// Those that configuration names.
    pub configured: Found,
    /// Those in directories below.
    pub nearby: Found,
}

/// What is looked for besides the general files.
#[derive(Debug, Clone, Copy, Default)]
pub struct Wanted<'a> {
    /// What configuration asks for. Addresses among it are not for the disk and are passed over.
    pub configured: &'a [InstructionEntry],
    /// Directories below the Location to look into.
    pub nearby: &'a [PathBuf],
}

impl Instructions {
    /// Looks for the files and reads them. Blocks on the disk.
    pub fn observe(place: &Place<'_>, wanted: Wanted<'_>) -> Self {
        let mut covered = reading::Covered::default();
        Self {
            general: covered.read(general::discover(place)),
            configured: covered.read(configured::discover(place, wanted.configured)),
            nearby: covered.read(nearby::discover(place, wanted.nearby)),
        }
    }
}
