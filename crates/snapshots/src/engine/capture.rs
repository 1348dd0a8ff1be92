//! Taking a snapshot.

use std::{
    collections::HashMap,
    path::PathBuf,
    sync::Arc,
    time::{Duration, Instant, SystemTime},
};

use git2::Oid;
use opencode_handles::Directory;

use crate::cache::{self, Cached};
use crate::engine::Engine;
use crate::entry::{Capture, SkipReason, Skipped};
use crate::error::SnapshotError;
use crate::objects::{Objects, RENEWAL};
use crate::repository::Repository;
use crate::rules::{self, Rules};
use crate::tree::{self, Item};
use crate::worktree::watch::Watching;
use crate::worktree::{
    Content, Folder, Pending, Tree, content,
    listing::{self, RefreshOptions},
    trees,
};
use crate::{erase, lock, path};

/// Time for which the engine refuses a project that is too large without checking it again. The
/// time doubles after each refusal, because a check can take as long as a step waits.
const REFUSAL: Duration = Duration::from_secs(60);
const LONGEST_REFUSAL: Duration = Duration::from_secs(60 * 60);

/// Interval in which the time of the mark of the database is renewed.
const MARK_EVERY: Duration = Duration::from_secs(60 * 60);

/// Maximum number of skipped paths in the result.
const MAX_SKIPPED: usize = 100;

/// Maximum number of contents of the user's repository that one capture copies, and their maximum
/// size in bytes.
const MAX_KEPT: usize = 4096;
const MAX_KEPT_BYTES: u64 = 64 * 1024 * 1024;

/// The list of files is written when at least one in this many files has changed.
const UNSAVED_SHARE: usize = 64;

/// The state of the worktree between two captures.
pub(crate) struct WorktreeState {
    folder: Folder,
    above: ParentRules,
    /// Last snapshot. `None` while it is being built.
    tree: Option<Oid>,
    /// Time of the last renewal of all objects.
    renewed: SystemTime,
    /// Number of files that changed since the list of files was written.
    unsaved: usize,
    watching: Watching,
    /// Paths that are never captured.
    private: Vec<String>,
    /// Number of the newest erasure of the store.
    erasure: Vec<u8>,
}

/// The refusal of a project that is too large.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Refusal {
    reason: &'static str,
    since: Instant,
    holds: Duration,
}

impl Refusal {
    fn after(former: Option<Self>, reason: &'static str, since: Instant) -> Self {
        let holds = former.map_or(REFUSAL, |former| {
            LONGEST_REFUSAL.min(former.holds.saturating_mul(2))
        });
        Self {
            reason,
            since,
            holds,
        }
    }
}

impl Engine {
    pub(crate) fn capture(&mut self) -> Result<Capture, SnapshotError> {
        if let Some(refused) = self.refused
            && refused.since.elapsed() < refused.holds
        {
            return Err(SnapshotError::TooLarge(refused.reason));
        }
        let _lock = lock::shared(&self.options.store)?;
        self.leave_mark()?;
        // The state is taken out, so that a failed capture does not leave partial results.
        let known = self.known.take();
        let captured = self.capture_from(known);
        self.refused = match &captured {
            Err(SnapshotError::TooLarge(reason)) => {
                Some(Refusal::after(self.refused, reason, Instant::now()))
            }
            _ => None,
        };
        captured
    }

    fn capture_from(&mut self, known: Option<WorktreeState>) -> Result<Capture, SnapshotError> {
        let repository = Repository::of(&self.options.worktree)?;
        let root = self.root()?;
        let scope = self.scope()?;
        let texts = Texts::read(&root, &repository, &scope);
        let objects = self.objects(&repository);
        let (mut known, anew) = match known {
            Some(mut known) => {
                let anew = known.above.texts != texts;
                if anew {
                    known.above = ParentRules::new(texts, &scope);
                }
                (known, anew)
            }
            None => (self.begin(&root, texts, &scope)?, false),
        };
        let erasure = erase::number(&self.options.store);
        if known.erasure != erasure {
            known.recheck_objects();
            known.erasure = erasure;
        }
        known.renew(&objects);
        let differs = known.watching.refresh(&root, &mut known.folder);
        if differs || anew || known.tree.is_none() {
            self.update(&mut known, &root, anew, &objects, &repository)?;
        }
        let tree = match known.tree {
            Some(tree) => tree,
            None => known.store(&objects, &scope)?,
        };
        known.tree = Some(tree);
        self.save(&mut known);
        let skipped = known.skipped();
        self.known = Some(known);
        let tree = tree.to_string();
        let held = self.options.held.hold(&tree);
        Ok(Capture {
            tree,
            skipped,
            held,
        })
    }

    /// Leaves the mark of the database in the store, once an hour.
    fn leave_mark(&mut self) -> Result<(), SnapshotError> {
        if self.marked.is_none_or(|at| at.elapsed() > MARK_EVERY) {
            self.options.owner.leave_mark(&self.options.store)?;
            self.marked = Some(Instant::now());
        }
        Ok(())
    }

    /// True if a full review is due, for changes that the watch does not report.
    pub(crate) fn is_review_due(&self) -> bool {
        let known = self.known.as_ref();
        known.is_some_and(|known| known.watching.is_review_due())
    }

    /// Checks all files for the next capture, until `is_stopped` returns true.
    pub(crate) fn review(&mut self, is_stopped: impl Fn() -> bool) {
        let root = self.root();
        if let (Some(known), Ok(root)) = (&mut self.known, root) {
            let folder = &mut known.folder;
            known.watching.review(&root, folder, is_stopped);
        }
    }

    /// Lists a worktree for the first time.
    fn begin(
        &self,
        root: &Directory,
        texts: Texts,
        scope: &str,
    ) -> Result<WorktreeState, SnapshotError> {
        let cached = cache::load(&self.cache()).unwrap_or(Cached {
            files: HashMap::new(),
            renewed: SystemTime::now(),
        });
        let above = ParentRules::new(texts, scope);
        let mut folder = Folder::unknown(scope.to_owned(), Arc::clone(&above.rules));
        let private = self.private();
        if !above.ignored {
            let options = RefreshOptions {
                anew: false,
                private: &private,
                earlier: cached.files,
                watch: None,
            };
            listing::refresh(root, &mut folder, &above.rules, options)?;
        }
        Ok(WorktreeState {
            folder,
            above,
            tree: None,
            renewed: cached.renewed,
            unsaved: 0,
            watching: Watching::default(),
            private,
            erasure: erase::number(&self.options.store),
        })
    }

    /// Updates the state with the changes.
    fn update(
        &self,
        known: &mut WorktreeState,
        root: &Directory,
        anew: bool,
        objects: &Objects,
        repository: &Repository,
    ) -> Result<(), SnapshotError> {
        if known.above.ignored {
            known.folder = Folder::unknown(
                known.folder.own.path.clone(),
                Arc::clone(&known.above.rules),
            );
            known.folder.own.pending = Pending::Same;
        } else {
            let rules = Arc::clone(&known.above.rules);
            let folder = &mut known.folder;
            let options = RefreshOptions {
                anew,
                private: &known.private,
                earlier: HashMap::new(),
                watch: known.watching.watch(),
            };
            let mut left = listing::refresh(root, folder, &rules, options)?;
            let (gone, count) = content::read(root, folder, objects, repository)?;
            known.unsaved += count;
            left.extend(gone);
            keep(objects, &left)?;
            known.watching.settle(root, folder);
        }
        known.tree = None;
        Ok(())
    }

    /// Writes the list of files for the next process, if enough files changed.
    fn save(&self, known: &mut WorktreeState) {
        let mut files = 0;
        if known.unsaved == 0 {
            return;
        }
        known
            .folder
            .each(&mut |listing| files += listing.files.len());
        if known.unsaved * UNSAVED_SHARE < files {
            return;
        }
        match cache::save(&self.cache(), &known.folder, known.renewed) {
            Ok(()) => known.unsaved = 0,
            Err(error) => tracing::warn!(%error, "the list of captured files is not kept"),
        }
    }

    fn cache(&self) -> PathBuf {
        let scope = self.options.scope.to_string_lossy();
        let id = crate::objects::hash(git2::ObjectType::Blob, scope.as_bytes());
        let id = id.map_or_else(|_| String::new(), |id| id.to_string());
        self.options.store.join(format!("{}{id}", cache::LIST))
    }
}

/// Copies contents that files no longer have, if only the user's repository has them.
fn keep(objects: &Objects, left: &[Oid]) -> Result<(), SnapshotError> {
    let mut bytes = 0;
    for id in left.iter().take(MAX_KEPT) {
        bytes += objects.keep(*id)?;
        if bytes > MAX_KEPT_BYTES {
            break;
        }
    }
    Ok(())
}

impl WorktreeState {
    /// Stores the changed trees, up to the root of the worktree.
    fn store(&mut self, objects: &Objects, scope: &str) -> Result<Oid, SnapshotError> {
        let mut tree = trees::store(objects, &mut self.folder)?;
        for name in scope.rsplit('/').filter(|name| !name.is_empty()) {
            if let Tree::Stored(id) = tree {
                let item = std::iter::once((name, Item::Tree(id)));
                tree = Tree::Stored(tree::put(objects, item)?);
            }
        }
        match tree {
            Tree::Stored(id) => Ok(id),
            Tree::Unknown | Tree::Empty => tree::put(objects, std::iter::empty()),
        }
    }

    /// Renews all objects of the next snapshot, once a day. A sweep then keeps them, and removed
    /// objects are stored again.
    fn renew(&mut self, objects: &Objects) {
        let now = SystemTime::now();
        if now
            .duration_since(self.renewed)
            .is_ok_and(|age| age < RENEWAL)
            && self.renewed <= now
        {
            return;
        }
        let tree = &mut self.tree;
        self.folder.each_mut(&mut |listing| {
            for file in &mut listing.files {
                let lost = |id| !objects.renew(id) && !objects.users_have(id);
                if file.content.id().is_some_and(lost) {
                    file.stamp = None;
                }
            }
            if matches!(listing.tree, Tree::Stored(id) if !objects.renew(id)) {
                listing.tree = Tree::Unknown;
            }
            *tree = None;
        });
        self.renewed = now;
        self.unsaved += 1;
    }

    pub(crate) fn recheck_objects(&mut self) {
        self.renewed = SystemTime::UNIX_EPOCH;
    }

    fn skipped(&self) -> Vec<Skipped> {
        let mut skipped = Vec::new();
        self.folder.each(&mut |listing| {
            for file in &listing.files {
                if let Content::Skipped(reason) = file.content {
                    skipped.push((path::join(&listing.path, &file.name), reason));
                }
            }
            for (name, reason) in &listing.skipped {
                let path = path::join(&listing.path, name);
                skipped.push((path.trim_end_matches('/').to_owned(), *reason));
            }
        });
        skipped.sort_unstable();
        skipped.truncate(MAX_SKIPPED);
        let entry = |(path, reason): (String, SkipReason)| Skipped { path, reason };
        skipped.into_iter().map(entry).collect()
    }
}

/// The ignore rules above the scope as text: first those of the repository, then those of each
/// directory.
#[derive(PartialEq, Eq)]
struct Texts(Vec<Vec<u8>>);

impl Texts {
    fn read(root: &Directory, repository: &Repository, scope: &str) -> Self {
        let mut texts = vec![repository.exclude()];
        let mut bytes = texts[0].len() as u64;
        for (directory, _) in steps(scope) {
            let held = root.below(directory);
            let text = held.and_then(|held| rules::text(&held, bytes));
            let text = text.unwrap_or_default();
            bytes = bytes.saturating_add(text.len() as u64);
            texts.push(text);
        }
        Self(texts)
    }
}

/// The ignore rules above the scope.
struct ParentRules {
    texts: Texts,
    rules: Arc<Rules>,
    /// True if the rules ignore the whole scope.
    ignored: bool,
}

impl ParentRules {
    fn new(texts: Texts, scope: &str) -> Self {
        let mut own = texts.0.iter();
        let exclude = own.next().map(Vec::as_slice).unwrap_or_default();
        let mut rules = Rules::of_repository(exclude);
        let mut ignored = false;
        for ((directory, below), text) in steps(scope).zip(own) {
            rules = Rules::within(&rules, directory, text);
            ignored = ignored || rules.ignores(below, true);
        }
        Self {
            texts,
            rules,
            ignored,
        }
    }
}

/// Returns the directories above a path, each with the path of its child on the way.
pub(crate) fn steps(path: &str) -> impl Iterator<Item = (&str, &str)> {
    let mut end = 0;
    std::iter::from_fn(move || {
        let directory = &path[..end];
        let start = if end == 0 { 0 } else { end + 1 };
        let rest = path.get(start..).filter(|rest| !rest.is_empty())?;
        end = start + rest.find('/').unwrap_or(rest.len());
        Some((directory, &path[..end]))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_project_that_stays_too_large_is_observed_less_often() {
        let now = Instant::now();
        let mut refused = None;
        let minutes = [(); 8].map(|()| {
            let refusal = Refusal::after(refused, "it is large", now);
            refused = Some(refusal);
            refusal.holds.as_secs() / 60
        });
        assert_eq!(minutes, [1, 2, 4, 8, 16, 32, 60, 60]);
    }
}
