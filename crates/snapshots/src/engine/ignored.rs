//! Whether single paths are ignored at this moment.

use std::{collections::HashMap, sync::Arc};

use opencode_handles::Directory;

use crate::engine::capture::steps;
use crate::repository::Repository;
use crate::rules::{self, Rules};

/// The rules as they are read along the way.
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

    /// Whether a file is ignored, or a directory above it.
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
