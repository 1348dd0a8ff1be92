//! Reads files of a snapshot or of the worktree, and differences between two snapshots. Each call
//! takes several paths, so that they share opened and read objects.

use opencode_schema::session::FileDiff;

use crate::engine::{self, Engine};
use crate::entry::Entry;
use crate::error::SnapshotError;
use crate::tree::{self, Item, Trees};
use crate::{patch, path};

/// The file at each path, in the order of the paths, or the error for that path.
pub type FileEntries = Vec<Result<Option<Entry>, SnapshotError>>;

impl Engine {
    pub(crate) fn contents(
        &mut self,
        tree: &str,
        paths: &[String],
    ) -> Result<FileEntries, SnapshotError> {
        let objects = self.objects(&self.repository()?);
        let tree = tree::id(tree)?;
        let mut trees = Trees::new(&objects);
        let content = |path: &String| {
            path::check(path)?;
            Ok(trees.find(tree, path)?.and_then(Item::file))
        };
        let contents: FileEntries = paths.iter().map(content).collect();
        let is_missing = |it: &Result<_, _>| matches!(it, Err(SnapshotError::Missing(_)));
        if contents.iter().any(is_missing) {
            self.recheck_objects();
        }
        Ok(contents)
    }

    pub(crate) fn currents(&mut self, paths: &[String]) -> Result<FileEntries, SnapshotError> {
        let root = self.root()?;
        let current = |path: &String| {
            path::check(path)?;
            let found = engine::current(&root, path).map_err(SnapshotError::io(path))?;
            Ok(found.and_then(|(mode, id)| Item::File(mode, id).file()))
        };
        Ok(paths.iter().map(current).collect())
    }

    pub(crate) fn diff(
        &mut self,
        from: &str,
        to: &str,
        paths: &[String],
        most: usize,
    ) -> Result<Vec<FileDiff>, SnapshotError> {
        let objects = self.objects(&self.repository()?);
        let (from, to) = (tree::id(from)?, tree::id(to)?);
        let mut paths: Vec<&String> = paths.iter().collect();
        paths.sort_unstable();
        paths.dedup();
        let mut trees = Trees::new(&objects);
        let mut diffs = Vec::new();
        let mut left = most;
        for path in paths {
            path::check(path)?;
            let (from, to) = (trees.file(from, path)?, trees.file(to, path)?);
            let Some(mut file) = patch::of(&objects, path, from, to)? else {
                continue;
            };
            match left.checked_sub(file.patch.len()) {
                Some(rest) => left = rest,
                None => file.patch = String::new(),
            }
            diffs.push(file);
        }
        Ok(diffs)
    }
}
