//! The first pass: compares the stamps of all known files.

use std::{
    collections::HashSet,
    sync::atomic::{AtomicBool, Ordering},
};

use opencode_handles::{Directory, is_absent};

use super::{Folder, Listing, Pending, threads};
use crate::rules::IGNORE_FILE;

/// Number of directories that one thread checks in the time that another thread needs to start.
const FEW: usize = 24;

/// The result of checking a directory.
#[derive(PartialEq, Eq)]
enum Checked {
    Same,
    Different,
    /// Another directory has this path, so everything below also differs.
    Replaced,
}

/// Checks the stamps of all known files. Returns true if any differs.
pub(crate) fn all(root: &Directory, folder: &mut Folder) -> bool {
    let mut listings = Vec::new();
    folder.each_mut(&mut |listing| listings.push(listing));
    let differs = AtomicBool::new(false);
    threads::each(listings, FEW, |listing| {
        if check(root, listing) != Checked::Same {
            differs.store(true, Ordering::Relaxed);
        }
    });
    differs.into_inner()
}

/// As [`all`], but with one thread and until `is_stopped` returns true, because no caller waits for
/// the result.
pub(crate) fn in_background(
    root: &Directory,
    folder: &mut Folder,
    is_stopped: impl Fn() -> bool,
) -> bool {
    let mut differs = false;
    folder.each_mut(&mut |listing| {
        differs |= !is_stopped() && check(root, listing) != Checked::Same;
    });
    differs
}

/// Checks some directories. Returns true if any differs, or `None` if a full survey is needed.
pub(crate) fn directories(
    root: &Directory,
    folder: &mut Folder,
    paths: &HashSet<String>,
) -> Option<bool> {
    let mut differs = false;
    for path in paths {
        let Some(listing) = folder.find_mut(path) else {
            continue;
        };
        match check(root, listing) {
            Checked::Same => {}
            Checked::Different => differs = true,
            Checked::Replaced => return None,
        }
    }
    Some(differs)
}

/// True if another directory has the path of a known one.
pub(crate) fn is_replaced(root: &Directory, listing: &Listing) -> bool {
    let stamp = root.below(&listing.path).and_then(|held| held.stamp());
    !stamp.is_ok_and(|stamp| listing.inode == Some(stamp.inode))
}

/// Checks one directory.
fn check(root: &Directory, listing: &mut Listing) -> Checked {
    let opened = root.below(&listing.path);
    let (stamp, held) = match opened.and_then(|held| Ok((held.stamp()?, held))) {
        Ok(opened) => opened,
        Err(error) => {
            listing.pending = if is_absent(&error) {
                Pending::Gone
            } else {
                Pending::Names
            };
            return Checked::Different;
        }
    };
    let mut checked = Checked::Same;
    // A directory without an ignore file can get one only if its names change.
    let other_rules = || {
        listing.ignore_file.is_some()
            && held.stat(IGNORE_FILE).ok().flatten() != listing.ignore_file
    };
    if listing.stamp != Some(stamp) || other_rules() {
        listing.pending = Pending::Names;
        checked = Checked::Different;
    }
    for file in &mut listing.files {
        if file.stamp.is_none() || held.stat(&file.name).ok().flatten() != file.stamp {
            file.stamp = None;
            checked = Checked::Different;
        }
    }
    if listing.inode == Some(stamp.inode) {
        checked
    } else {
        Checked::Replaced
    }
}
