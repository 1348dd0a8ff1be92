//! Instructions that the configuration names by paths and globs.

use super::InstructionError;
use super::glob::{Glob, MAX_NAMES};
use super::place::{Bound, Place, follow};
use super::reading::Discovery;
use crate::config::InstructionEntry;
use crate::directory::lexical;

/// Finds the files of the entries, in their order. A file that a document of the project names must be
/// inside the project after links are resolved.
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
    // A name with the characters of a glob can be the name of an existing file.
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
