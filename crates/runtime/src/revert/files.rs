//! What a revert does to the files of a session, and what it leaves alone.

use std::collections::{BTreeMap, BTreeSet};

use opencode_schema::session::{FileDiff, RevertState};
use opencode_snapshots::{Entry, SnapshotError, Snapshots};
use opencode_store::SessionRow;

use super::plan::{Plan, Planned};
use crate::core::Core;
use crate::error::RuntimeError;

/// Bytes of all patches of a revert at most, because each client that follows the session is told of
/// them in one event, and whoever lists sessions sees them. Files beyond have their counts alone.
const MAX_PATCHES: usize = 512 * 1024;

/// A revert on its way to the files.
pub(super) struct Staging {
    snapshots: Snapshots,
    /// The files as they were before anything was staged.
    base: String,
    /// What becomes of each path: the snapshot that has it.
    targets: BTreeMap<String, String>,
    /// What those were that are as expected: nothing is done to one that somebody changes meanwhile.
    seen: BTreeMap<String, Option<Entry>>,
    /// Those that go back further than to the base, with what changes thereby.
    differences: BTreeMap<String, Option<FileDiff>>,
    /// Those that are left alone, because somebody else changed them.
    conflicts: BTreeSet<String>,
}

/// A revert that is staged, and what it means.
struct Former<'a> {
    base: &'a str,
    paths: Vec<&'a str>,
    plan: Plan,
}

impl Core {
    /// Looks what staging would do to the files. Nothing where there are no snapshots.
    pub(super) async fn prepare(
        &self,
        session: &SessionRow,
        plan: &Plan,
    ) -> Result<Option<Staging>, RuntimeError> {
        let former = match &session.info.revert {
            Some(revert) => self.former(session, revert).await?,
            None => None,
        };
        let location = self.locations.get(&session.info.location.directory).await?;
        let is_wanted = former.is_some() || location.configuration.settings.snapshots;
        let snapshots = if is_wanted {
            self.snapshots(&location).await
        } else {
            None
        };
        let Some(snapshots) = snapshots else {
            return Ok(None);
        };
        let base = match &former {
            Some(former) => former.base.to_owned(),
            None => match snapshots.capture().await {
                Ok(capture) => capture.tree,
                Err(error) if plan.is_empty() => {
                    tracing::warn!(%error, "a revert that concerns no files has no snapshot");
                    return Ok(None);
                }
                Err(error) => return Err(error.into()),
            },
        };
        let mut staging = Staging::new(snapshots, base);
        if let Some(former) = &former {
            staging.undo(former).await?;
        }
        staging.apply(plan, former.as_ref()).await?;
        Ok(Some(staging))
    }

    /// Gives the files back what they had before the revert.
    pub(super) async fn take_back(
        &self,
        session: &SessionRow,
        revert: &RevertState,
    ) -> Result<(), RuntimeError> {
        let Some((former, snapshots)) = self.former_files(session, revert).await? else {
            return Ok(());
        };
        let mut staging = Staging::new(snapshots, former.base.to_owned());
        staging.undo(&former).await?;
        for path in &staging.conflicts {
            tracing::warn!(
                path,
                "a file was changed since the revert and is left alone"
            );
        }
        Ok(staging.restore().await?)
    }

    /// Does what was staged by a process that may have died before it was done: the files that are
    /// still as they were before the revert go back.
    pub(super) async fn finish(
        &self,
        session: &SessionRow,
        revert: &RevertState,
    ) -> Result<(), RuntimeError> {
        let Some((former, snapshots)) = self.former_files(session, revert).await? else {
            return Ok(());
        };
        let mut staging = Staging::new(snapshots, former.base.to_owned());
        for path in &former.paths {
            let Some(planned) = former.plan.0.get(*path) else {
                continue;
            };
            if staging.is_as_in(path, former.base).await? {
                let target = planned.before.clone();
                staging.targets.insert((*path).to_owned(), target);
            }
        }
        Ok(staging.restore().await?)
    }

    async fn former_files<'a>(
        &self,
        session: &SessionRow,
        revert: &'a RevertState,
    ) -> Result<Option<(Former<'a>, Snapshots)>, RuntimeError> {
        let former = self.former(session, revert).await?;
        let Some(former) = former.filter(|former| !former.paths.is_empty()) else {
            return Ok(None);
        };
        let location = self.locations.get(&session.info.location.directory).await?;
        let snapshots = self.snapshots(&location).await;
        let missing = || SnapshotError::NotARepository(location.directory.clone());
        Ok(Some((former, snapshots.ok_or_else(missing)?)))
    }

    /// Nothing if it was staged where there are no snapshots.
    async fn former<'a>(
        &self,
        session: &SessionRow,
        revert: &'a RevertState,
    ) -> Result<Option<Former<'a>>, RuntimeError> {
        let Some(base) = &revert.snapshot else {
            return Ok(None);
        };
        let files = revert.files.iter().flatten();
        Ok(Some(Former {
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
            targets: BTreeMap::new(),
            seen: BTreeMap::new(),
            differences: BTreeMap::new(),
            conflicts: BTreeSet::new(),
        }
    }

    /// What is staged already goes back to the base. It may not have come to the files yet.
    async fn undo(&mut self, former: &Former<'_>) -> Result<(), SnapshotError> {
        for path in &former.paths {
            let planned = former.plan.0.get(*path);
            let reverted = planned.map_or(former.base, |it| it.before.as_str());
            let is_ours =
                self.is_as_in(path, reverted).await? || self.is_as_in(path, former.base).await?;
            if is_ours {
                let target = self.base.clone();
                self.targets.insert((*path).to_owned(), target);
            } else {
                self.conflicts.insert((*path).to_owned());
            }
        }
        Ok(())
    }

    /// What the plan says goes back to what it says.
    async fn apply(
        &mut self,
        plan: &Plan,
        former: Option<&Former<'_>>,
    ) -> Result<(), SnapshotError> {
        let staged: BTreeSet<&str> = former.iter().flat_map(|it| &it.paths).copied().collect();
        let mut left = MAX_PATCHES;
        for (path, planned) in &plan.0 {
            let is_staged = staged.contains(path.as_str());
            let Some(mut difference) = self.difference(path, planned, is_staged).await? else {
                self.conflicts.insert(path.clone());
                continue;
            };
            if let Some(file) = &mut difference {
                match left.checked_sub(file.patch.len()) {
                    Some(rest) => left = rest,
                    None => file.patch.clear(),
                }
            }
            self.targets.insert(path.clone(), planned.before.clone());
            self.differences.insert(path.clone(), difference);
        }
        Ok(())
    }

    /// What going back changes in a file. Nothing if it is to be left alone: it is not as the last of
    /// the steps left it, the base does not have it, as when the session has moved since, or nobody
    /// knows any more what it was.
    async fn difference(
        &mut self,
        path: &str,
        planned: &Planned,
        is_staged: bool,
    ) -> Result<Option<Option<FileDiff>>, SnapshotError> {
        let base = self.base.clone();
        let is_ours = if is_staged {
            self.targets.contains_key(path)
        } else {
            self.is_as_in(path, &planned.after).await? && self.is_as_in(path, &base).await?
        };
        if !is_ours {
            return Ok(None);
        }
        let paths = [path.to_owned()];
        let differences = self.snapshots.diff(&base, &planned.before, &paths);
        match differences.await {
            Ok(mut files) => Ok(Some(files.pop())),
            Err(SnapshotError::Missing(_)) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Whether the file is what a snapshot says. What cannot be looked at is not.
    async fn is_as_in(&mut self, path: &str, snapshot: &str) -> Result<bool, SnapshotError> {
        let stored = match self.snapshots.content(snapshot, path).await {
            Ok(stored) => stored,
            Err(SnapshotError::Missing(_)) if snapshot != self.base => return Ok(false),
            Err(error) => return Err(error),
        };
        match self.snapshots.current(path).await {
            Ok(current) => {
                let is_same = current == stored;
                if is_same {
                    self.seen.insert(path.to_owned(), current);
                }
                Ok(is_same)
            }
            Err(SnapshotError::Io { .. } | SnapshotError::InvalidPath(_)) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Leaves these paths alone.
    pub(super) fn leave(&mut self, paths: impl Iterator<Item = String>) {
        for path in paths {
            self.targets.remove(&path);
            self.differences.remove(&path);
            self.conflicts.insert(path);
        }
    }

    pub(super) async fn restore(&self) -> Result<(), SnapshotError> {
        if self.targets.is_empty() {
            return Ok(());
        }
        self.snapshots.restore(&self.targets, &self.seen).await
    }

    /// Says in the revert what becomes of the files.
    pub(super) fn describe(&self, revert: &mut RevertState) {
        let files: Vec<_> = self.differences.values().flatten().cloned().collect();
        let patches: String = files.iter().map(|file| file.patch.as_str()).collect();
        revert.snapshot = Some(self.base.clone());
        revert.diff = Some(patches.trim().to_owned());
        revert.files = Some(files);
        let conflicts: Vec<_> = self.conflicts.iter().cloned().collect();
        revert.conflicts = Some(conflicts).filter(|it| !it.is_empty());
    }
}
