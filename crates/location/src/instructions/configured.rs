//! Instructions that configuration names by paths and globs.

use super::InstructionError;
use super::glob::{Glob, MAX_NAMES};
use super::place::{Bound, Place, follow};
use super::reading::Discovery;
use crate::config::InstructionEntry;
use crate::directory::lexical;

/// The files of the entries, in the order in which they are written. What a document of the project
/// names has to lie in the project, links followed.
pub(super) fn discover(place: &Place<'_>, entries: &[InstructionEntry]) -> Discovery {
    let mut discovery = Discovery::default();
    let mut names_left = MAX_NAMES;
    for entry in entries {
        if entry.address().is_none()
            && let Err(failure) = add(place, entry, &mut names_left, &mut discovery)
        {
            discovery.fail(failure);
        }
    }
    discovery
}

fn add(
    place: &Place<'_>,
    entry: &InstructionEntry,
    names_left: &mut usize,
    discovery: &mut Discovery,
) -> Result<(), InstructionError> {
    let worktree = match entry.source.is_project() {
        true => place.worktree()?,
        false => None,
    };
    let bound = worktree.as_deref().map(|root| Bound {
        root,
        is_trusted: place.is_trusted,
    });
    let path = lexical(&place.environment.expand(&entry.base, &entry.text));
    // A name that looks like a glob may still be a name.
    let glob = if path.exists() { None } else { Glob::of(&path) };
    match glob {
        None => follow(&path, bound, discovery),
        Some(glob) => {
            for file in glob.files(names_left)? {
                follow(&file, bound, discovery);
            }
        }
    }
    Ok(())
}
