//! Instructions near to the files that a session reads.
//!
//! What is stored is where tools read, together with the settlement of the call that did. What lies
//! there is looked at anew at every Safe Provider-Turn Boundary.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use opencode_location::location::Location;

/// The directories whose instructions concern whoever read in `explored`: those themselves and what
/// lies between them and the Location, outer ones first. The Location and what is above it are
/// looked at anyway.
pub(super) fn directories(location: &Location, explored: &[String]) -> Vec<PathBuf> {
    let root = Path::new(&location.directory);
    let nested: BTreeSet<&Path> = explored
        .iter()
        .flat_map(|directory| Path::new(directory).ancestors())
        .filter(|directory| !directory.as_os_str().is_empty())
        .collect();
    nested.into_iter().map(|below| root.join(below)).collect()
}
