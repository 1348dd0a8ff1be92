//! Instructions in directories below the directory of the session.

use std::path::PathBuf;

use super::place::{Bound, Place, add_from};
use super::reading::Discovery;

/// Finds the files of these directories that are below the place after links are resolved.
pub(super) fn discover(place: &Place<'_>, directories: &[PathBuf]) -> Discovery {
    let mut discovery = Discovery::default();
    if directories.is_empty() || !place.environment.reads_projects() {
        return discovery;
    }
    match place.root() {
        Ok(root) => {
            for directory in directories {
                let bound = Bound {
                    root: &root,
                    is_trusted: place.is_trusted,
                };
                add_from(directory, Some(bound), &mut discovery);
            }
        }
        Err(failure) => discovery.fail(failure),
    }
    discovery
}
