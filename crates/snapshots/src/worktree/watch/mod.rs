//! Change notifications, which make full surveys unnecessary.
//!
//! In a large project, a check of every file takes longer than a step should. Some systems report a
//! change before the system call that makes it returns. On those, a survey checks only the reported
//! directories, and directories with files that can be changed through another name.
//!
//! Writes through a memory mapping are reported only when the program unmaps the memory or ends.
//! Writes through a new hard link outside the worktree are not reported either. So a review checks
//! all files again at intervals, while no caller waits.

#[cfg(any(target_os = "linux", target_os = "android"))]
mod inotify;
#[cfg(not(any(target_os = "linux", target_os = "android")))]
mod nothing;

use std::{
    collections::HashSet,
    time::{Duration, Instant},
};

#[cfg(any(target_os = "linux", target_os = "android"))]
pub(crate) use inotify::Watch;
#[cfg(not(any(target_os = "linux", target_os = "android")))]
pub(crate) use nothing::Watch;

use opencode_handles::Directory;

use crate::worktree::{Folder, Known, survey};

/// Minimum time between a full check and the next review.
const REVIEW: Duration = Duration::from_secs(5);

/// Minimum number of files for a watch. Smaller projects are checked faster than they are watched.
const MIN_FILES: usize = 1000;

/// The watch of a worktree, and its reliability.
#[derive(Default)]
pub(crate) struct Watching {
    watch: Option<Watch>,
    /// True if watching was given up permanently.
    gave_up: bool,
    /// Time of the last full check. `None` if there was none since the watch began.
    surveyed: Option<Instant>,
    /// True if a review found a change that no capture has processed.
    found: bool,
    /// Directories that are checked in each survey, because their state is not settled.
    pending: Vec<String>,
    folders: usize,
}

impl Watching {
    /// Returns the watch to which a listing adds directories.
    pub(crate) fn watch(&mut self) -> Option<&mut Watch> {
        self.watch.as_mut()
    }

    /// Checks everything that may have changed. Returns true if anything did.
    pub(crate) fn refresh(&mut self, root: &Directory, folder: &mut Folder) -> bool {
        let found = std::mem::take(&mut self.found);
        let changed = self.watch.as_mut().and_then(Watch::changes);
        if let Some(mut changed) = changed
            && self.surveyed.is_some()
        {
            changed.extend(self.pending.iter().cloned());
            if let Some(differs) = self.survey_directories(root, folder, &changed) {
                return found || differs;
            }
        }
        self.surveyed = Some(Instant::now());
        survey::all(root, folder) || found
    }

    /// True if a full review is due, for changes that the watch does not report.
    pub(crate) fn is_review_due(&self) -> bool {
        self.watch.is_some() && self.surveyed.is_none_or(|at| at.elapsed() >= REVIEW)
    }

    /// Checks all files for the next capture, until `is_stopped` returns true.
    pub(crate) fn review(
        &mut self,
        root: &Directory,
        folder: &mut Folder,
        is_stopped: impl Fn() -> bool,
    ) {
        let started = Instant::now();
        self.found |= survey::in_background(root, folder, &is_stopped);
        if !is_stopped() {
            self.surveyed = Some(started);
        }
    }

    fn survey_directories(
        &self,
        root: &Directory,
        folder: &mut Folder,
        changed: &HashSet<String>,
    ) -> Option<bool> {
        // Several threads check this many directories faster.
        if changed.len() * 4 > self.folders + 8 {
            return None;
        }
        // The watch does not report changes above the scope.
        if survey::is_replaced(root, &folder.own) {
            return None;
        }
        survey::directories(root, folder, changed)
    }

    /// Records the state after a capture that changed something.
    pub(crate) fn settle(&mut self, root: &Directory, folder: &mut Folder) {
        self.pending.clear();
        self.folders = 0;
        let mut files = 0;
        let is_watched = self.watch.is_some();
        folder.each(&mut |listing| {
            self.folders += 1;
            files += listing.files.len();
            let is_settled = listing.stamp.is_some()
                && (listing.watch.is_some() || !is_watched)
                && listing.files.iter().all(Known::is_watched);
            if !is_settled {
                self.pending.push(listing.path.clone());
            }
        });
        if self.watch.as_ref().is_some_and(Watch::is_broken) {
            self.give_up(folder);
        } else if !is_watched && !self.gave_up && files >= MIN_FILES {
            self.begin(root, folder);
        }
    }

    fn begin(&mut self, root: &Directory, folder: &mut Folder) {
        // A full check finds the changes from before the watch was complete.
        self.surveyed = None;
        self.watch = Watch::new(root);
        let Some(watch) = &mut self.watch else {
            self.gave_up = true;
            return;
        };
        folder.each_mut(&mut |listing| {
            if let Ok(held) = root.below(&listing.path) {
                listing.watch = watch.add(&held, &listing.path);
            }
        });
        if watch.is_broken() {
            self.give_up(folder);
        }
    }

    fn give_up(&mut self, folder: &mut Folder) {
        self.gave_up = true;
        self.watch = None;
        folder.each_mut(&mut |listing| listing.watch = None);
    }
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests;
