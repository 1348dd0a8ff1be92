//! Instructions in the directories of files that a session reads.
//!
//! The store keeps the directories in which tools read, together with the settlement of the call. The
//! instructions in them are read again at every Safe Provider-Turn Boundary.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use opencode_location::location::Location;

/// Returns the directories with instructions for reads in `explored`: these directories and all
/// directories between them and the Location, outer ones first. The Location and the directories
/// above it are always read, so they are not included.
pub(super) fn directories(location: &Location, explored: &[String]) -> Vec<PathBuf> {
    let root = Path::new(&location.directory);
    let nested: BTreeSet<&Path> = explored
        .iter()
        .flat_map(|directory| Path::new(directory).ancestors())
        .filter(|directory| !directory.as_os_str().is_empty())
        .collect();
    nested.into_iter().map(|below| root.join(below)).collect()
}
