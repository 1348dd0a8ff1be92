//! The effect of a revert on the files of a session, and the files that it leaves unchanged.

use std::collections::{BTreeMap, BTreeSet};

use opencode_schema::session::{FileDiff, FileStatus, RevertState};
use opencode_snapshots::{Entry, HeldTree, SnapshotError, Snapshots};
use opencode_store::SessionRow;

use super::Reverts;
use super::plan::Plan;
use crate::error::RuntimeError;
use crate::sessions::check_directory;

/// Maximum size of all patches of a revert in bytes. Each client that follows the session gets them in
/// one event, and they are part of session lists. Files beyond the limit only have their line counts.
const MAX_PATCHES: usize = 512 * 1024;

/// Number of times that the files of a revert are put back, while other programs change them.
const RESTORES: u32 = 5;

/// Number of files that are read together. Other users of the snapshots run between two batches.
const TOGETHER: usize = 100;

/// A revert that is being prepared.
pub(super) struct Staging {
    snapshots: Snapshots,
    /// The snapshot from before the first staging.
    base: String,
    /// Keeps a new base until the revert is recorded.
    held: Option<HeldTree>,
    /// The snapshot from which each path is restored.
    targets: BTreeMap<String, String>,
    /// The state of each path when it was read. The outer `None` means that it could not be read.
    current: BTreeMap<String, Option<Option<Entry>>>,
    /// The entry that each snapshot has at the paths that were read.
    stored: BTreeMap<String, BTreeMap<String, Option<Entry>>>,
    /// The state of the paths that are as expected. A path that changes afterwards is not restored.
    seen: BTreeMap<String, Option<Entry>>,
    /// The diffs of the files that the plan reverts to a state before the base.
    differences: Vec<FileDiff>,
    /// The paths that stay unchanged, because another process or session changed them.
    conflicts: BTreeSet<String>,
}

/// True if this Location has a snapshot. It does not have the snapshots of another worktree, from which the session may
/// have moved, and none of an imported session.
async fn holds(snapshots: &Snapshots, tree: &str) -> Result<bool, SnapshotError> {
    match snapshots.content(tree, "any").await {
        Err(SnapshotError::Missing(_)) => Ok(false),
        read => read.map(|_| true),
    }
}

/// A revert that is already staged, and its plan.
struct PreviousRevert<'a> {
    base: &'a str,
    paths: Vec<&'a str>,
    plan: Plan,
}

impl Reverts {
    /// Prepares staging without changing files. Returns `None` if there are no snapshots.
    pub(super) async fn prepare(
        &self,
        session: &SessionRow,
        plan: &Plan,
    ) -> Result<Option<Staging>, RuntimeError> {
        let previous = match &session.info.revert {
            Some(revert) => self.previous(session, revert).await?,
            None => None,
        };
        check_directory(&session.info)?;
        let location = self
            .sessions
            .locations
            .get(&session.info.location.directory)
            .await?;
        let is_wanted = previous.is_some() || location.configuration.settings.snapshots;
        let snapshots = if is_wanted {
            self.snapshots.of(&location).await
        } else {
            None
        };
        let Some(snapshots) = snapshots else {
            return Ok(None);
        };
        let previous = match previous {
            Some(previous) if holds(&snapshots, previous.base).await? => Some(previous),
            Some(previous) => {
                let snapshot = previous.base;
                tracing::warn!(session_id = %session.info.id, snapshot, "the files of the staged revert are in another worktree and stay as they are");
                None
            }
            None => None,
        };
        let (base, held) = match &previous {
            Some(previous) => (previous.base.to_owned(), None),
            None => match snapshots.capture().await {
                Ok(capture) => (capture.tree, Some(capture.held)),
                Err(error) if plan.is_empty() => {
                    tracing::warn!(%error, "a revert that concerns no files has no snapshot");
                    return Ok(None);
                }
                Err(error) => return Err(error.into()),
            },
        };
        let mut staging = Staging::new(snapshots, base);
        staging.held = held;
        if let Some(previous) = &previous {
            staging.undo(previous).await?;
        }
        staging.apply(plan, previous.as_ref()).await?;
        Ok(Some(staging))
    }

    /// Restores the files to their state before the revert.
    pub(super) async fn restore_unreverted(
        &self,
        session: &SessionRow,
        revert: &RevertState,
    ) -> Result<(), RuntimeError> {
        let Some((previous, snapshots)) = self.previous_files(session, revert).await? else {
            return Ok(());
        };
        for attempt in 1.. {
            let mut staging = Staging::new(snapshots.clone(), previous.base.to_owned());
            staging.undo(&previous).await?;
            match staging.restore().await {
                // A file that changed after it was read is a conflict for the next attempt.
                Err(SnapshotError::Restore(_)) if attempt < RESTORES => continue,
                restored => restored?,
            }
            for path in &staging.conflicts {
                tracing::warn!(
                    path,
                    "a file was changed since the revert and is left alone"
                );
            }
            break;
        }
        Ok(())
    }

    /// Completes a staged revert of a process that may have died before it was complete: reverts the
    /// files that are still in their state before the revert.
    pub(super) async fn finish(
        &self,
        session: &SessionRow,
        revert: &RevertState,
    ) -> Result<(), RuntimeError> {
        let Some((previous, snapshots)) = self.previous_files(session, revert).await? else {
            return Ok(());
        };
        let mut staging = Staging::new(snapshots, previous.base.to_owned());
        let wanted = previous.paths.iter().map(|path| (*path, previous.base));
        staging.read_files(wanted).await?;
        for path in &previous.paths {
            let Some(planned) = previous.plan.0.get(*path) else {
                continue;
            };
            if staging.equals_snapshot(path, previous.base) {
                let target = planned.before.clone();
                staging.targets.insert((*path).to_owned(), target);
            }
        }
        Ok(staging.restore().await?)
    }

    async fn previous_files<'a>(
        &self,
        session: &SessionRow,
        revert: &'a RevertState,
    ) -> Result<Option<(PreviousRevert<'a>, Snapshots)>, RuntimeError> {
        let previous = self.previous(session, revert).await?;
        let Some(previous) = previous.filter(|previous| !previous.paths.is_empty()) else {
            return Ok(None);
        };
        check_directory(&session.info)?;
        let location = self
            .sessions
            .locations
            .get(&session.info.location.directory)
            .await?;
        let snapshots = self.snapshots.of(&location).await;
        let missing = || SnapshotError::NotARepository(location.directory.clone());
        Ok(Some((previous, snapshots.ok_or_else(missing)?)))
    }

    /// Returns `None` if the revert was staged without snapshots.
    async fn previous<'a>(
        &self,
        session: &SessionRow,
        revert: &'a RevertState,
    ) -> Result<Option<PreviousRevert<'a>>, RuntimeError> {
        let Some(base) = &revert.snapshot else {
            return Ok(None);
        };
        let files = revert.files.iter().flatten();
        Ok(Some(PreviousRevert {
            base,
            paths: files.map(|file| file.path.as_str()).collect(),
            plan: self.plan(session, revert).await?,
        }))
    }
}

impl Staging {
    fn new(snapshots: Snapshots, base: String) -> Self {
        Self {
            snapshots,
            base,
            held: None,
            targets: BTreeMap::new(),
            current: BTreeMap::new(),
            stored: BTreeMap::new(),
            seen: BTreeMap::new(),
            differences: Vec::new(),
            conflicts: BTreeSet::new(),
        }
    }

    /// Plans to restore the files of a staged revert to the base. They may not have been reverted yet.
    async fn undo(&mut self, previous: &PreviousRevert<'_>) -> Result<(), SnapshotError> {
        let reverted = |path: &str| match previous.plan.0.get(path) {
            Some(planned) => planned.before.as_str(),
            None => previous.base,
        };
        let paths = previous.paths.iter();
        let wanted = paths.flat_map(|path| [(*path, reverted(path)), (*path, previous.base)]);
        self.read_files(wanted).await?;
        for path in &previous.paths {
            if self.equals_snapshot(path, reverted(path))
                || self.equals_snapshot(path, previous.base)
            {
                let target = self.base.clone();
                self.targets.insert((*path).to_owned(), target);
            } else {
                self.conflicts.insert((*path).to_owned());
            }
        }
        Ok(())
    }

    /// Plans to revert the files of the plan. A file stays unchanged if it differs from the result of the
    /// last step that changed it, if it differs from the base, for example because the session has moved
    /// since, or if its earlier content is no longer known.
    async fn apply(
        &mut self,
        plan: &Plan,
        previous: Option<&PreviousRevert<'_>>,
    ) -> Result<(), SnapshotError> {
        let staged: BTreeSet<&str> = previous.iter().flat_map(|it| &it.paths).copied().collect();
        let base = self.base.clone();
        let others = plan.0.iter();
        let others = others.filter(|(path, _)| !staged.contains(path.as_str()));
        let wanted = others.flat_map(|(path, planned)| {
            let path = path.as_str();
            [(path, planned.after.as_str()), (path, base.as_str())]
        });
        self.read_files(wanted).await?;
        let mut wanted: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        for (path, planned) in &plan.0 {
            let is_ours = if staged.contains(path.as_str()) {
                self.targets.contains_key(path)
            } else {
                self.equals_snapshot(path, &planned.after) && self.equals_snapshot(path, &base)
            };
            if is_ours {
                wanted
                    .entry(&planned.before)
                    .or_default()
                    .push(path.clone());
            }
        }
        let mut differences = self.differences(wanted).await?;
        for (path, planned) in plan.in_order() {
            if let Some(difference) = differences.remove(path) {
                self.targets.insert(path.clone(), planned.before.clone());
                self.differences.push(difference);
            } else {
                self.conflicts.insert(path.clone());
            }
        }
        Ok(())
    }

    /// Returns the diffs between the base and the reverted files. Omits a file if its snapshot was
    /// removed, because its earlier content is no longer known.
    async fn differences(
        &self,
        wanted: BTreeMap<&str, Vec<String>>,
    ) -> Result<BTreeMap<String, FileDiff>, SnapshotError> {
        let mut differences = BTreeMap::new();
        let mut left = MAX_PATCHES;
        for (before, paths) in wanted {
            for chunk in paths.chunks(TOGETHER) {
                let known = self.known_differences(before, chunk, left).await?;
                left -= patch_bytes(&known);
                differences.extend(known);
            }
        }
        Ok(differences)
    }

    /// Returns the diffs of a few files, with at most `left` bytes of patches. Reads them together, or
    /// one by one if an object is missing.
    async fn known_differences(
        &self,
        before: &str,
        paths: &[String],
        mut left: usize,
    ) -> Result<BTreeMap<String, FileDiff>, SnapshotError> {
        let diff = self.snapshots.diff(&self.base, before, paths, left);
        let files = match diff.await {
            Err(SnapshotError::Missing(_)) if paths.len() > 1 => {
                let mut known = BTreeMap::new();
                for one in paths.chunks(1) {
                    let file = Box::pin(self.known_differences(before, one, left)).await?;
                    left -= patch_bytes(&file);
                    known.extend(file);
                }
                return Ok(known);
            }
            Err(SnapshotError::Missing(_)) => return Ok(BTreeMap::new()),
            files => files?,
        };
        let unchanged_diff = paths
            .iter()
            .map(|path| (path.clone(), unchanged_diff(path)));
        let mut known: BTreeMap<_, _> = unchanged_diff.collect();
        known.extend(files.into_iter().map(|file| (file.path.clone(), file)));
        Ok(known)
    }

    /// Reads files, and the entries of snapshots for them, for [`equals_snapshot`](Self::equals_snapshot).
    async fn read_files<'a>(
        &mut self,
        wanted: impl Iterator<Item = (&'a str, &'a str)>,
    ) -> Result<(), SnapshotError> {
        let mut by_snapshot: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        for (path, snapshot) in wanted {
            let paths = by_snapshot.entry(snapshot).or_default();
            paths.push(path.to_owned());
        }
        let paths = by_snapshot.values().flatten();
        let paths: BTreeSet<_> = paths
            .filter(|path| !self.current.contains_key(*path))
            .cloned()
            .collect();
        for chunk in Vec::from_iter(paths).chunks(TOGETHER) {
            let currents = self.snapshots.currents(chunk).await?;
            for (path, current) in chunk.iter().zip(currents) {
                let current = match current {
                    Ok(current) => Some(current),
                    Err(SnapshotError::Io { .. } | SnapshotError::InvalidPath(_)) => None,
                    Err(error) => return Err(error),
                };
                self.current.insert(path.clone(), current);
            }
        }
        for (snapshot, paths) in by_snapshot {
            for chunk in paths.chunks(TOGETHER) {
                self.read_snapshot(snapshot, chunk).await?;
            }
        }
        Ok(())
    }

    async fn read_snapshot(
        &mut self,
        snapshot: &str,
        paths: &[String],
    ) -> Result<(), SnapshotError> {
        let contents = self.snapshots.contents(snapshot, paths).await?;
        for (path, content) in paths.iter().zip(contents) {
            match content {
                Ok(content) => {
                    let of_snapshot = self.stored.entry(snapshot.to_owned()).or_default();
                    of_snapshot.insert(path.clone(), content);
                }
                Err(SnapshotError::InvalidPath(_)) => {}
                Err(SnapshotError::Missing(_)) if snapshot != self.base => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// True if the file was equal to its entry in the snapshot when it was read. False if it could not
    /// be read.
    fn equals_snapshot(&mut self, path: &str, snapshot: &str) -> bool {
        let stored = self.stored.get(snapshot).and_then(|it| it.get(path));
        let (Some(Some(current)), Some(stored)) = (self.current.get(path), stored) else {
            return false;
        };
        let is_same = current == stored;
        if is_same {
            self.seen.insert(path.to_owned(), current.clone());
        }
        is_same
    }

    /// Excludes these paths from the revert and lists them as conflicts.
    pub(super) fn exclude(&mut self, paths: impl Iterator<Item = String>) {
        for path in paths {
            self.targets.remove(&path);
            self.conflicts.insert(path);
        }
        let conflicts = &self.conflicts;
        self.differences
            .retain(|file| !conflicts.contains(&file.path));
    }

    pub(super) async fn restore(&self) -> Result<(), SnapshotError> {
        if self.targets.is_empty() {
            return Ok(());
        }
        self.snapshots.restore(&self.targets, &self.seen).await
    }

    /// Writes the changes of the files into the revert.
    pub(super) fn describe(&self, revert: &mut RevertState) {
        let files = self.differences.clone();
        let patches: String = files.iter().map(|file| file.patch.as_str()).collect();
        revert.snapshot = Some(self.base.clone());
        revert.diff = Some(patches.trim().to_owned());
        revert.files = Some(files);
        let conflicts: Vec<_> = self.conflicts.iter().cloned().collect();
        revert.conflicts = Some(conflicts).filter(|it| !it.is_empty());
    }
}

fn patch_bytes(files: &BTreeMap<String, FileDiff>) -> usize {
    files.values().map(|file| file.patch.len()).sum()
}

/// Returns the diff of a file that the reverted steps changed and whose content is the same in the end.
fn unchanged_diff(path: &str) -> FileDiff {
    FileDiff {
        path: path.to_owned(),
        status: FileStatus::Modified,
        additions: 0,
        deletions: 0,
        patch: String::new(),
    }
}
