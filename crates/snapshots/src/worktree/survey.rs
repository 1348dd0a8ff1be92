//! The first pass: is everything still as it was read?

use std::{
    collections::HashSet,
    sync::atomic::{AtomicBool, Ordering},
};

use opencode_handles::{Directory, is_absent};

use super::{Folder, Listing, Look, threads};
use crate::rules::IGNORE_FILE;

/// How many directories one thread looks at in the time that another takes to start.
const FEW: usize = 24;

/// How a directory looks.
#[derive(PartialEq, Eq)]
enum Looks {
    Same,
    Different,
    /// It is another directory, and so is everything below.
    Replaced,
}

/// Looks at the stamps of all that is known; says whether anything differs.
pub(crate) fn all(root: &Directory, folder: &mut Folder) -> bool {
    let mut listings = Vec::new();
    folder.each_mut(&mut |listing| listings.push(listing));
    let differs = AtomicBool::new(false);
    threads::each(listings, FEW, |listing| {
        if look(root, listing) != Looks::Same {
            differs.store(true, Ordering::Relaxed);
        }
    });
    differs.into_inner()
}

/// Looks at all that is known until it is stopped, by one thread, because nobody waits for it.
pub(crate) fn at_leisure(
    root: &Directory,
    folder: &mut Folder,
    is_stopped: impl Fn() -> bool,
) -> bool {
    let mut differs = false;
    folder.each_mut(&mut |listing| {
        differs |= !is_stopped() && look(root, listing) != Looks::Same;
    });
    differs
}

/// Looks at some directories; says whether anything differs, and nothing if more has to be looked at.
pub(crate) fn some(root: &Directory, folder: &mut Folder, paths: &HashSet<String>) -> Option<bool> {
    let mut differs = false;
    for path in paths {
        let Some(listing) = folder.find_mut(path) else {
            continue;
        };
        match look(root, listing) {
            Looks::Same => {}
            Looks::Different => differs = true,
            Looks::Replaced => return None,
        }
    }
    Some(differs)
}

/// Whether another directory has the place of one that is known.
pub(crate) fn is_replaced(root: &Directory, listing: &Listing) -> bool {
    let stamp = root.below(&listing.path).and_then(|held| held.stamp());
    !stamp.is_ok_and(|stamp| listing.inode == Some(stamp.inode))
}

/// Looks at one directory.
fn look(root: &Directory, listing: &mut Listing) -> Looks {
    let opened = root.below(&listing.path);
    let (stamp, held) = match opened.and_then(|held| Ok((held.stamp()?, held))) {
        Ok(opened) => opened,
        Err(error) => {
            listing.look = if is_absent(&error) {
                Look::Gone
            } else {
                Look::Names
            };
            return Looks::Different;
        }
    };
    let mut looks = Looks::Same;
    // Without rules of its own it can have some only if its names changed.
    let other_rules = || {
        listing.ignore_file.is_some()
            && held.stat(IGNORE_FILE).ok().flatten() != listing.ignore_file
    };
    if listing.stamp != Some(stamp) || other_rules() {
        listing.look = Look::Names;
        looks = Looks::Different;
    }
    for file in &mut listing.files {
        if file.stamp.is_none() || held.stat(&file.name).ok().flatten() != file.stamp {
            file.stamp = None;
            looks = Looks::Different;
        }
    }
    if listing.inode == Some(stamp.inode) {
        looks
    } else {
        Looks::Replaced
    }
}
