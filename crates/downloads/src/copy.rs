//! The description of a copy, and the services that its maker uses.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use url::Url;

use opencode_net::Fetch;

/// The place that a copy is made of.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Origin {
    /// A Git repository.
    Repository {
        /// The address, in a form that Git understands. It may contain a secret.
        address: String,
        /// The branch or tag. `None` for the default branch.
        branch: Option<String>,
    },
    /// A list of skills: the address of the folder that contains `index.json`.
    Skills {
        /// The address. It may contain a secret.
        address: Url,
    },
}

/// A directory that contains a copy.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Copy {
    /// The place that it is made of.
    pub origin: Origin,
    /// The directory. No other copy has it.
    pub directory: PathBuf,
    /// The folder for records, and for copies that are not complete. It is on the file system of the directory, and the
    /// directory is not in it.
    pub work: PathBuf,
}

/// The access of the makers of copies.
pub(crate) struct Access {
    pub(crate) fetch: Arc<dyn Fetch>,
    /// Variables of the programs that make copies.
    pub(crate) variables: BTreeMap<String, String>,
}

/// The effect of an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Made {
    /// The directory has new content.
    Replaced,
    /// Nothing has changed.
    Kept,
}
