//! What is known of the worktree: its directories and files with their stamps and ids.
//!
//! A capture goes over it in four passes. [`survey`] looks at the stamp of everything that is known,
//! by several threads; mostly that is all. [`listing`] reads the names in directories that changed and
//! applies the rules. [`content`] reads files that are new or changed, by several threads. [`trees`]
//! stores the trees on the way from there to the root.

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

/// A directory and everything below it.
#[derive(Debug)]
pub(crate) struct Folder {
    pub own: Listing,
    pub children: BTreeMap<String, Folder>,
}

/// What stands directly in a directory.
#[derive(Debug)]
pub(crate) struct Listing {
    /// Relative to the worktree, empty for its root.
    pub path: String,
    /// The stamp that the directory had when its names were read; nothing when they have to be again.
    pub stamp: Option<Stamp>,
    /// Which directory it was then, also where it has no stamp.
    pub inode: Option<u64>,
    /// What tells of changes here.
    pub watch: Option<i32>,
    pub files: Vec<Known>,
    /// Names that are left out, but for files.
    pub skipped: Vec<(String, SkipReason)>,
    /// The rules that hold here, and the stamp of the file here that has some.
    pub rules: Arc<Rules>,
    pub ignore_file: Option<Stamp>,
    /// False when that file may have changed since in the same tick of the clock.
    pub has_settled_rules: bool,
    /// What the survey found.
    pub look: Look,
    pub tree: Tree,
}

/// What is to be done about a directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Look {
    /// Nothing: names and rules are what they were.
    Same,
    /// Its names may be others.
    Names,
    /// It is gone, or something else stands there.
    Gone,
}

/// The Git tree of a directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tree {
    /// To be made.
    Unknown,
    /// There is nothing in it.
    Empty,
    Stored(Oid),
}

/// A file or a link.
#[derive(Debug, Clone)]
pub(crate) struct Known {
    pub name: String,
    /// The stamp it had when it was read; nothing when it has to be again.
    pub stamp: Option<Stamp>,
    pub content: Content,
}

/// What a file held when it was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Content {
    /// It was not read yet, or has gone.
    Unknown,
    Stored(Mode, Oid),
    Skipped(SkipReason),
}

impl Folder {
    /// A directory of which nothing is known.
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
            look: Look::Names,
            tree: Tree::Unknown,
        };
        Self {
            own,
            children: BTreeMap::new(),
        }
    }

    /// The directory at a path relative to the worktree.
    pub(crate) fn find_mut(&mut self, path: &str) -> Option<&mut Listing> {
        let below = path.strip_prefix(self.own.path.as_str())?;
        let mut here = self;
        for name in below.split('/').filter(|name| !name.is_empty()) {
            here = here.children.get_mut(name)?;
        }
        Some(&mut here.own)
    }

    /// Calls for every directory.
    pub(crate) fn each<'a>(&'a self, visit: &mut impl FnMut(&'a Listing)) {
        visit(&self.own);
        for child in self.children.values() {
            child.each(visit);
        }
    }

    /// Calls for every directory, which may be changed.
    pub(crate) fn each_mut<'a>(&'a mut self, visit: &mut impl FnMut(&'a mut Listing)) {
        visit(&mut self.own);
        for child in self.children.values_mut() {
            child.each_mut(visit);
        }
    }
}

impl Known {
    /// Whether all that happens to it is told where it stands.
    pub(crate) fn is_told_of(&self) -> bool {
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
