//! Checks single paths against the current ignore rules.

use std::{collections::HashMap, sync::Arc};

use opencode_handles::Directory;

use crate::engine::capture::steps;
use crate::repository::Repository;
use crate::rules::{self, Rules};

/// The ignore rules of the directories visited so far.
pub(crate) struct Ignored<'a> {
    root: &'a Directory,
    of_repository: Arc<Rules>,
    directories: HashMap<String, Arc<Rules>>,
}

impl<'a> Ignored<'a> {
    pub(crate) fn new(root: &'a Directory, repository: &Repository) -> Self {
        Self {
            root,
            of_repository: Rules::of_repository(&repository.exclude()),
            directories: HashMap::new(),
        }
    }

    /// True if a file or one of its parent directories is ignored.
    pub(crate) fn ignores(&mut self, path: &str) -> bool {
        let mut above = Arc::clone(&self.of_repository);
        for (directory, below) in steps(path) {
            let read = || match self.root.below(directory) {
                Ok(held) => rules::read(&held, directory, &above).0,
                Err(_) => Arc::clone(&above),
            };
            let rules = self.directories.entry(directory.to_owned());
            let rules = Arc::clone(rules.or_insert_with(read));
            if rules.ignores(below, below != path) {
                return true;
            }
            above = rules;
        }
        false
    }
}
