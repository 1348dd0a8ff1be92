//! The known state of the worktree: its directories and files with their stamps and ids.
//!
//! A capture updates the state in four passes. [`survey`] compares the stamp of every known file
//! with several threads. Usually no other pass is needed. [`listing`] lists changed directories and
//! applies the ignore rules. [`content`] reads new and changed files with several threads.
//! [`trees`] stores the trees from there up to the root.

pub(crate) mod content;
pub(crate) mod listing;
pub(crate) mod survey;
pub(crate) mod threads;
pub(crate) mod trees;
pub(crate) mod watch;

use std::{collections::BTreeMap, sync::Arc};

use git2::Oid;
use opencode_handles::Stamp;

use crate::entry::{Mode, SkipReason};
use crate::rules::Rules;

/// A directory with everything below it.
#[derive(Debug)]
pub(crate) struct Folder {
    pub own: Listing,
    pub children: BTreeMap<String, Folder>,
}

/// The direct content of a directory.
#[derive(Debug)]
pub(crate) struct Listing {
    /// Path relative to the worktree. Empty for the root.
    pub path: String,
    /// Stamp of the directory when it was listed. `None` if it must be listed again.
    pub stamp: Option<Stamp>,
    /// Inode of the directory at that time, also set without a stamp.
    pub inode: Option<u64>,
    /// Number of the watch on this directory.
    pub watch: Option<i32>,
    pub files: Vec<Known>,
    /// Skipped names that are not in `files`.
    pub skipped: Vec<(String, SkipReason)>,
    /// Rules that apply here, and the stamp of the ignore file in this directory.
    pub rules: Arc<Rules>,
    pub ignore_file: Option<Stamp>,
    /// False if the ignore file may have changed again within the same tick of the clock.
    pub has_settled_rules: bool,
    /// Result of the survey.
    pub pending: Pending,
    pub tree: Tree,
}

/// The work that a directory needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pending {
    /// None: names and rules are unchanged.
    Same,
    /// The names in the directory may have changed.
    Names,
    /// The directory was removed or replaced by something else.
    Gone,
}

/// The Git tree of a directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tree {
    /// The tree must be built.
    Unknown,
    /// The directory contains no files.
    Empty,
    Stored(Oid),
}

/// A file or a link.
#[derive(Debug, Clone)]
pub(crate) struct Known {
    pub name: String,
    /// Stamp of the file when it was read. `None` if it must be read again.
    pub stamp: Option<Stamp>,
    pub content: Content,
}

/// The content of a file when it was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Content {
    /// The file was not read yet, or was removed.
    Unknown,
    Stored(Mode, Oid),
    Skipped(SkipReason),
}

impl Folder {
    /// Creates a directory without known content.
    pub(crate) fn unknown(path: String, rules: Arc<Rules>) -> Self {
        let own = Listing {
            path,
            stamp: None,
            inode: None,
            watch: None,
            files: Vec::new(),
            skipped: Vec::new(),
            rules,
            ignore_file: None,
            has_settled_rules: true,
            pending: Pending::Names,
            tree: Tree::Unknown,
        };
        Self {
            own,
            children: BTreeMap::new(),
        }
    }

    /// Returns the directory at a path relative to the worktree.
    pub(crate) fn find_mut(&mut self, path: &str) -> Option<&mut Listing> {
        let below = path.strip_prefix(self.own.path.as_str())?;
        let mut here = self;
        for name in below.split('/').filter(|name| !name.is_empty()) {
            here = here.children.get_mut(name)?;
        }
        Some(&mut here.own)
    }

    /// Calls `visit` for every directory.
    pub(crate) fn each<'a>(&'a self, visit: &mut impl FnMut(&'a Listing)) {
        visit(&self.own);
        for child in self.children.values() {
            child.each(visit);
        }
    }

    /// Calls `visit` for every directory, with mutable access.
    pub(crate) fn each_mut<'a>(&'a mut self, visit: &mut impl FnMut(&'a mut Listing)) {
        visit(&mut self.own);
        for child in self.children.values_mut() {
            child.each_mut(visit);
        }
    }
}

impl Known {
    /// True if the watch of its directory reports every change of the file.
    pub(crate) fn is_watched(&self) -> bool {
        self.stamp.is_some_and(|stamp| !stamp.has_other_names)
    }
}

impl Content {
    pub(crate) fn id(self) -> Option<Oid> {
        match self {
            Self::Stored(_, id) => Some(id),
            Self::Unknown | Self::Skipped(_) => None,
        }
    }
}
