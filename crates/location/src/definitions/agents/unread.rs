//! Configuration that cannot be read and that could restrict agents.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::config::UnreadablePermissions;

/// Maximum number of files that are checked for changes.
const MAX_FILES: usize = 100;

/// Configuration that cannot be read and that could restrict agents.
#[derive(Default)]
pub(super) struct Unread {
    /// Descriptions of the unreadable parts, with the reasons.
    pub(super) reasons: Vec<String>,
    /// The unreadable files, with their versions at the time of reading.
    files: Vec<(PathBuf, Option<Version>)>,
}

/// The metadata that changes when a file is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Version {
    size: u64,
    modified: SystemTime,
}

impl Unread {
    /// Records the current versions of the files. Blocks on disk access.
    pub(super) fn of(lost: &[UnreadablePermissions]) -> Self {
        let mut files: Vec<_> = lost.iter().filter_map(|it| it.file.clone()).collect();
        files.sort_unstable();
        files.dedup();
        files.truncate(MAX_FILES);
        let files = files.into_iter().map(|file| {
            let version = Version::of(&file);
            (file, version)
        });
        Self {
            reasons: lost.iter().map(|lost| lost.reason.clone()).collect(),
            files: files.collect(),
        }
    }

    /// True if one of the files has changed since then. Blocks on disk access.
    pub(super) fn has_changed(&self) -> bool {
        let changed = |(file, version): &(PathBuf, _)| Version::of(file) != *version;
        self.files.iter().any(changed)
    }
}

impl Version {
    fn of(file: &Path) -> Option<Self> {
        let metadata = fs::metadata(file).ok()?;
        Some(Self {
            size: metadata.len(),
            modified: metadata.modified().ok()?,
        })
    }
}
