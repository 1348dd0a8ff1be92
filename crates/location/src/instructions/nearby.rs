//! Instructions in directories below the one that is worked in.

use std::path::PathBuf;

use super::place::{Bound, Place, look};
use super::reading::Discovery;

/// The files of these directories that lie below the place, links followed.
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
                look(directory, Some(bound), &mut discovery);
            }
        }
        Err(failure) => discovery.fail(failure),
    }
    discovery
}
