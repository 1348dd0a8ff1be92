//! What cannot be read and could have restricted agents.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::config::LostPermissions;

/// Most files that are looked at to see whether they were mended.
const MAX_FILES: usize = 100;

/// Configuration that cannot be read and could have restricted agents.
#[derive(Default)]
pub(super) struct Unread {
    /// What cannot be read, and why.
    pub(super) reasons: Vec<String>,
    /// The files that hold it, as they were when they were read.
    files: Vec<(PathBuf, Option<Version>)>,
}

/// What changes when a file is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Version {
    size: u64,
    modified: SystemTime,
}

impl Unread {
    /// Looks at the files. Blocks on the disk.
    pub(super) fn of(lost: &[LostPermissions]) -> Self {
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

    /// Whether one of the files was changed since. Blocks on the disk.
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
