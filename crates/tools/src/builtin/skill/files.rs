//! Selects some of the files of a skill.

use std::{
    collections::VecDeque,
    fs,
    path::{Path, PathBuf},
};

use opencode_location::files::opening::{Child, Directory};
use opencode_schema::file_system::FileSystemEntryType;
use tokio_util::sync::CancellationToken;

/// The file with the text of a skill that has its own directory.
pub(super) const SKILL_FILE: &str = "SKILL.md";

/// Maximum number of files that are named to the model.
const MAX_FILES: usize = 10;

/// Maximum number of names that are read, including directories and links.
const MAX_NAMES: usize = 10_000;

/// Maximum depth of directories that are read.
const MAX_DEPTH: usize = 32;

/// Returns the first files below `directory` in the order of their paths, including hidden files,
/// without the files that contain the text of a skill. Does not follow links. Leaves out unreadable
/// entries, names that are not Unicode, and entries beyond the limits above. Returns `None` if
/// cancelled.
pub(super) fn sample(directory: &Path, cancel: &CancellationToken) -> Option<Vec<PathBuf>> {
    if cancel.is_cancelled() {
        return None;
    }
    let mut files = Vec::new();
    // The path of the directory itself may contain links, because the owner of the skill chose them.
    let Ok(root) = fs::canonicalize(directory) else {
        return Some(files);
    };
    let mut names = MAX_NAMES;
    // The entries still to visit, in order.
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

/// Returns the relevant entries of a directory, in the order of the paths below it.
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
    // A directory is sorted as the paths below it are.
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
    fn a_cancelled_search_returns_no_files() {
        let temp = tempfile::tempdir().unwrap();
        fs::write(temp.path().join("file"), "").unwrap();
        let cancel = CancellationToken::new();
        let expected = vec![temp.path().join("file")];
        assert_eq!(sample(temp.path(), &cancel), Some(expected));
        cancel.cancel();
        assert_eq!(sample(temp.path(), &cancel), None);
    }
}
