//! Some of the files of a skill.

use std::{
    collections::VecDeque,
    fs,
    path::{Path, PathBuf},
};

use opencode_location::opening::{Child, Directory};
use opencode_schema::file_system::FileSystemEntryType;
use tokio_util::sync::CancellationToken;

/// The file that holds the text of a skill with a directory of its own.
pub(super) const SKILL_FILE: &str = "SKILL.md";

/// How many files a model is told of.
const MAX_FILES: usize = 10;

/// How many names are looked at, those of directories and links included.
const MAX_NAMES: usize = 10_000;

/// How many directories below each other are looked into.
const MAX_DEPTH: usize = 32;

/// The first files below `directory` in the order of their paths, hidden ones included, without
/// those that hold the text of a skill. Links are not followed. What cannot be read, and what has no
/// name in Unicode, is left out; so is what lies beyond the bounds above. Nothing when cancelled.
pub(super) fn sample(directory: &Path, cancel: &CancellationToken) -> Option<Vec<PathBuf>> {
    if cancel.is_cancelled() {
        return None;
    }
    let mut files = Vec::new();
    // The directory itself may be reached through links: whoever placed the skill there chose them.
    let Ok(root) = fs::canonicalize(directory) else {
        return Some(files);
    };
    let mut names = MAX_NAMES;
    // What is still to be visited, in order.
    let mut ahead = VecDeque::from([(PathBuf::new(), FileSystemEntryType::Directory)]);
    while let Some((path, kind)) = ahead.pop_front() {
        if kind == FileSystemEntryType::File {
            files.push(directory.join(path));
            if files.len() == MAX_FILES {
                break;
            }
        } else if names > 0 && path.components().count() <= MAX_DEPTH {
            for (name, kind) in children(&root.join(&path), &mut names, cancel)?
                .into_iter()
                .rev()
            {
                ahead.push_front((path.join(name), kind));
            }
        }
    }
    Some(files)
}

/// What stands in a directory and counts, in the order of the paths below it.
fn children(
    directory: &Path,
    names: &mut usize,
    cancel: &CancellationToken,
) -> Option<Vec<(String, FileSystemEntryType)>> {
    if cancel.is_cancelled() {
        return None;
    }
    let mut found = Vec::new();
    let held = Directory::open(directory).ok();
    let listed = held.iter().filter_map(|held| held.children().ok());
    for child in listed.flatten() {
        if cancel.is_cancelled() {
            return None;
        }
        let Some(left) = names.checked_sub(1) else {
            break;
        };
        *names = left;
        found.extend(child.ok().and_then(counted));
    }
    // A directory stands where the paths below it do.
    found.sort_by_cached_key(|(name, kind)| match kind {
        FileSystemEntryType::File => name.clone(),
        FileSystemEntryType::Directory => format!("{name}/"),
    });
    Some(found)
}

fn counted(child: Child) -> Option<(String, FileSystemEntryType)> {
    let (name, kind) = (child.name.into_string().ok()?, child.kind?);
    let is_text = name == SKILL_FILE && kind == FileSystemEntryType::File;
    (!is_text).then_some((name, kind))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cancelled_look_gives_nothing() {
        let temp = tempfile::tempdir().unwrap();
        fs::write(temp.path().join("file"), "").unwrap();
        let cancel = CancellationToken::new();
        let expected = vec![temp.path().join("file")];
        assert_eq!(sample(temp.path(), &cancel), Some(expected));
        cancel.cancel();
        assert_eq!(sample(temp.path(), &cancel), None);
    }
}
