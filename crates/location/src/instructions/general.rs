//! Instructions that apply without configuration: those of the user and those of the project.

use std::path::Path;

use super::InstructionError;
use super::place::{Bound, Place, add_from};
use super::reading::Discovery;

pub(super) fn discover(place: &Place<'_>) -> Discovery {
    let mut discovery = Discovery::default();
    let config = &place.environment.config;
    // An empty path means that the host does not use this directory.
    if !config.as_os_str().is_empty() {
        add_from(config, None, &mut discovery);
    }
    if place.environment.reads_projects()
        && let Err(failure) = search_upward(place, &mut discovery)
    {
        discovery.fail(failure);
    }
    discovery
}

/// Searches from the directory up to the root of the project. Finds nothing if the directory is not
/// inside its project. A link must not lead out of the repository. Outside of a repository, a link must
/// not lead out of the directory that contains it.
fn search_upward(place: &Place<'_>, discovery: &mut Discovery) -> Result<(), InstructionError> {
    let start = place.root()?;
    let worktree = place.worktree()?;
    let reaches = |ancestor: &&Path| match &worktree {
        Some(root) => ancestor.starts_with(root),
        None => true,
    };
    for directory in start.ancestors().take_while(reaches) {
        let bound = Bound {
            root: worktree.as_deref().unwrap_or(directory),
            is_trusted: place.is_trusted,
        };
        add_from(directory, Some(bound), discovery);
    }
    Ok(())
}
