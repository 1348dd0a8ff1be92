//! The third pass: reads new and changed files.

use std::{
    collections::HashSet,
    io::{self, Read},
    sync::{
        OnceLock,
        atomic::{AtomicU64, Ordering},
    },
};

use git2::{ObjectType, Oid};
use opencode_handles::{Directory, Kind, Stamp, is_absent, now};
use parking_lot::Mutex;

use super::{Content, Folder, Known, Listing, Tree, threads};
use crate::entry::{Mode, SkipReason};
use crate::error::SnapshotError;
use crate::objects::{MAX_BYTES, Objects};
use crate::path;
use crate::repository::Repository;

/// Maximum size in bytes of a file that Git does not track. A file that was captured while it was
/// small has the limit of tracked files.
const MAX_UNTRACKED_BYTES: u64 = 2 * 1024 * 1024;

/// Maximum number of bytes that one capture reads and stores.
const MAX_READ_BYTES: u64 = 4 * 1024 * 1024 * 1024;
const MAX_STORED_BYTES: u64 = 512 * 1024 * 1024;

/// Number of directories with changes that justifies another thread.
const FEW: usize = 4;

struct Reading<'a> {
    root: &'a Directory,
    objects: &'a Objects,
    repository: &'a Repository,
    tracked: OnceLock<HashSet<Vec<u8>>>,
    read: AtomicU64,
    failed: Mutex<Option<SnapshotError>>,
    left: Mutex<Vec<Oid>>,
}

/// Reads and stores all files without a stamp. Returns the contents that they no longer have, and
/// the number of files read.
pub(crate) fn read(
    root: &Directory,
    folder: &mut Folder,
    objects: &Objects,
    repository: &Repository,
) -> Result<(Vec<Oid>, usize), SnapshotError> {
    let reading = Reading {
        root,
        objects,
        repository,
        tracked: OnceLock::new(),
        read: AtomicU64::new(0),
        failed: Mutex::new(None),
        left: Mutex::new(Vec::new()),
    };
    let mut listings = Vec::new();
    let mut count = 0;
    folder.each_mut(&mut |listing| {
        let unread = listing
            .files
            .iter()
            .filter(|file| file.stamp.is_none())
            .count();
        count += unread;
        if unread > 0 {
            listings.push(listing);
        }
    });
    threads::each(listings, FEW, |listing| reading.listing(listing));
    match reading.failed.into_inner() {
        Some(error) => Err(error),
        None => Ok((reading.left.into_inner(), count)),
    }
}

impl Reading<'_> {
    fn listing(&self, listing: &mut Listing) {
        let Ok(held) = self.root.below(&listing.path) else {
            // The directory was just removed. The next survey detects that.
            listing.stamp = None;
            return;
        };
        let Listing { files, path, .. } = listing;
        for file in files.iter_mut().filter(|file| file.stamp.is_none()) {
            if self.has_failed() {
                return;
            }
            let before = file.content;
            match self.file(&held, path, file) {
                Ok(()) => {}
                Err(error) => self.fail(error),
            }
            if file.content != before {
                listing.tree = Tree::Unknown;
                let mut left = self.left.lock();
                left.extend(before.id().filter(|id| file.content.id() != Some(*id)));
            }
            if file.content == Content::Unknown {
                listing.stamp = None;
            }
        }
    }

    fn file(
        &self,
        held: &Directory,
        directory: &str,
        file: &mut Known,
    ) -> Result<(), SnapshotError> {
        let started = now();
        let found = match held.stat(&file.name) {
            Ok(Some(stamp)) if stamp.kind == Kind::Link => held
                .read_link(&file.name)
                .map(|target| (Mode::Link, stamp, Some(target))),
            Ok(Some(stamp)) if stamp.kind.is_file() => self.regular(held, directory, file, stamp),
            Ok(_) => Err(io::ErrorKind::NotFound.into()),
            Err(error) => Err(error),
        };
        let (mode, stamp, content) = match found {
            Ok(found) => found,
            Err(error) if is_absent(&error) => {
                file.content = Content::Unknown;
                return Ok(());
            }
            Err(error) => {
                tracing::debug!(directory, name = file.name, %error, "a file is not captured");
                file.content = Content::Skipped(SkipReason::Unreadable);
                return Ok(());
            }
        };
        file.content = match content {
            Some(content) => {
                self.count(content.len() as u64)?;
                Content::Stored(mode, self.objects.put(ObjectType::Blob, &content)?)
            }
            None => Content::Skipped(SkipReason::TooLarge),
        };
        // A file that changed during the read, or that can have changed since, is read again next
        // time.
        let same = held.stat(&file.name).is_ok_and(|now| now == Some(stamp));
        file.stamp = (same && stamp.is_settled(started)).then_some(stamp);
        Ok(())
    }

    /// Returns the content of a regular file, with `None` as content if it is too large.
    fn regular(
        &self,
        held: &Directory,
        directory: &str,
        file: &Known,
        stamp: Stamp,
    ) -> io::Result<(Mode, Stamp, Option<Vec<u8>>)> {
        if self.is_too_large(directory, file, stamp.size) {
            return Ok((Mode::File, stamp, None));
        }
        let (opened, stamp) = held.open_seen_file(&file.name, None)?;
        let mode = match stamp.kind {
            Kind::Executable => Mode::Executable,
            _ => Mode::File,
        };
        if self.is_too_large(directory, file, stamp.size) {
            return Ok((mode, stamp, None));
        }
        let mut content = Vec::with_capacity(usize::try_from(stamp.size).unwrap_or(0) + 1);
        // The file can grow during the read.
        opened.take(MAX_BYTES + 1).read_to_end(&mut content)?;
        let fits = content.len() as u64 <= MAX_BYTES;
        Ok((mode, stamp, fits.then_some(content)))
    }

    fn is_too_large(&self, directory: &str, file: &Known, size: u64) -> bool {
        if size <= MAX_UNTRACKED_BYTES {
            return false;
        }
        let is_tracked = || {
            let tracked = self.tracked.get_or_init(|| self.repository.tracked());
            tracked.contains(path::join(directory, &file.name).as_bytes())
        };
        size > MAX_BYTES || (file.content.id().is_none() && !is_tracked())
    }

    /// Counts the bytes read and checks the limits before the content is stored.
    fn count(&self, bytes: u64) -> Result<(), SnapshotError> {
        let read = self.read.fetch_add(bytes, Ordering::Relaxed) + bytes;
        if read > MAX_READ_BYTES {
            return Err(SnapshotError::TooLarge("over 4 GiB would have to be read"));
        }
        if self.objects.written() + bytes > MAX_STORED_BYTES {
            return Err(SnapshotError::TooLarge(
                "over 512 MiB would have to be stored",
            ));
        }
        Ok(())
    }

    fn has_failed(&self) -> bool {
        let failed = self.failed.lock();
        failed.is_some()
    }

    fn fail(&self, error: SnapshotError) {
        let mut failed = self.failed.lock();
        failed.get_or_insert(error);
    }
}
