//! Instructions that configuration names by paths and globs.

use super::InstructionError;
use super::glob::{Glob, MAX_NAMES};
use super::place::{Place, follow};
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
    // A trusted project outside any repository has no root but that of the disk.
    let is_bounded = entry.source.is_untrusted() || place.project.vcs.is_some();
    let bound = match entry.source.is_project() && is_bounded {
        true => Some(place.worktree()?),
        false => None,
    };
    let path = lexical(&place.environment.expand(&entry.base, &entry.text));
    // A name that looks like a glob may still be a name.
    let glob = if path.exists() { None } else { Glob::of(&path) };
    match glob {
        None => follow(&path, bound.as_deref(), discovery),
        Some(glob) => {
            for file in glob.files(names_left)? {
                follow(&file, bound.as_deref(), discovery);
            }
        }
    }
    Ok(())
}
