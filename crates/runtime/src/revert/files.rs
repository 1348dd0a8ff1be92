//! What a revert does to the files of a session, and what it leaves alone.

use std::collections::{BTreeMap, BTreeSet};

use opencode_schema::session::{FileDiff, RevertState};
use opencode_snapshots::{SnapshotError, Snapshots};
use opencode_store::SessionRow;

use super::plan::Plan;
use crate::core::Core;
use crate::error::RuntimeError;

/// Bytes of all patches of a revert at most, because each client that follows the session is told of
/// them in one event. Files beyond have their counts alone.
const MAX_PATCHES: usize = 2 * 1024 * 1024;

/// A revert on its way to the files.
pub(super) struct Staging {
    snapshots: Snapshots,
    /// The files as they were before anything was staged.
    base: String,
    /// What becomes of each path: the snapshot that has it.
    targets: BTreeMap<String, String>,
    /// Those that go back further than to the base.
    reverted: BTreeSet<String>,
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
            if staging.is_as_in(path, &[former.base]).await? {
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
            reverted: BTreeSet::new(),
            conflicts: BTreeSet::new(),
        }
    }

    /// What is staged already goes back to the base. It may not have come to the files yet.
    async fn undo(&mut self, former: &Former<'_>) -> Result<(), SnapshotError> {
        for path in &former.paths {
            let reverted = former.plan.0.get(*path);
            let reverted = reverted.map_or(former.base, |it| it.before.as_str());
            if self.is_as_in(path, &[reverted, former.base]).await? {
                let target = self.base.clone();
                self.targets.insert((*path).to_owned(), target);
            } else {
                self.conflicts.insert((*path).to_owned());
            }
        }
        Ok(())
    }

    /// What the plan says goes back to what it says, if it is as the last of its steps left it.
    async fn apply(
        &mut self,
        plan: &Plan,
        former: Option<&Former<'_>>,
    ) -> Result<(), SnapshotError> {
        for (path, planned) in &plan.0 {
            let is_ours = if former.is_some_and(|former| former.paths.contains(&path.as_str())) {
                self.targets.contains_key(path)
            } else {
                self.is_as_in(path, &[&planned.after]).await?
            };
            if is_ours {
                self.targets.insert(path.clone(), planned.before.clone());
                self.reverted.insert(path.clone());
            } else {
                self.conflicts.insert(path.clone());
            }
        }
        Ok(())
    }

    /// Whether the file is what one of these snapshots says.
    async fn is_as_in(&self, path: &str, snapshots: &[&str]) -> Result<bool, SnapshotError> {
        let current = self.snapshots.current(path).await?;
        for snapshot in snapshots {
            if self.snapshots.content(snapshot, path).await? == current {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Leaves these paths alone.
    pub(super) fn leave(&mut self, paths: impl Iterator<Item = String>) {
        for path in paths {
            self.targets.remove(&path);
            self.reverted.remove(&path);
            self.conflicts.insert(path);
        }
    }

    pub(super) async fn restore(&self) -> Result<(), SnapshotError> {
        if self.targets.is_empty() {
            return Ok(());
        }
        self.snapshots.restore(&self.targets).await
    }

    /// Says in the revert what becomes of the files.
    pub(super) async fn describe(&self, revert: &mut RevertState) -> Result<(), SnapshotError> {
        let files = self.differences().await?;
        let patches: String = files.iter().map(|file| file.patch.as_str()).collect();
        revert.snapshot = Some(self.base.clone());
        revert.diff = Some(patches.trim().to_owned());
        revert.files = Some(files);
        let conflicts: Vec<_> = self.conflicts.iter().cloned().collect();
        revert.conflicts = Some(conflicts).filter(|it| !it.is_empty());
        Ok(())
    }

    async fn differences(&self) -> Result<Vec<FileDiff>, SnapshotError> {
        let mut by_target: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        for path in &self.reverted {
            if let Some(target) = self.targets.get(path) {
                by_target.entry(target).or_default().push(path.clone());
            }
        }
        let mut files = Vec::new();
        for (target, paths) in by_target {
            files.extend(self.snapshots.diff(&self.base, target, &paths).await?);
        }
        files.sort_by(|a, b| a.path.cmp(&b.path));
        let mut left = MAX_PATCHES;
        for file in &mut files {
            match left.checked_sub(file.patch.len()) {
                Some(rest) => left = rest,
                None => file.patch.clear(),
            }
        }
        Ok(files)
    }
}
