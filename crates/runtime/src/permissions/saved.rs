//! What answers of `always` have allowed, for a whole project and for good.

use std::sync::atomic::Ordering;

use opencode_location::locations::WORKTREE;
use opencode_schema::permission::SavedPermission;

use super::request::Pending;
use crate::core::Core;
use crate::error::RuntimeError;

/// The saved permissions with the ids of their projects alone.
fn shown(mut saved: Vec<SavedPermission>) -> Vec<SavedPermission> {
    for permission in &mut saved {
        if let Some(end) = permission.project_id.find(WORKTREE) {
            permission.project_id.truncate(end);
        }
    }
    saved
}

impl Core {
    /// What is saved in a project, in the order of its saving.
    pub(crate) async fn saved_permissions(
        &self,
        project: String,
    ) -> Result<Vec<SavedPermission>, RuntimeError> {
        let read = self
            .store
            .read(move |reader| reader.saved_permissions(&project));
        Ok(shown(read.await?))
    }

    /// What is saved in a project and in all worktrees of it that the host does not trust.
    pub(crate) async fn saved_permissions_of_project(
        &self,
        project: String,
    ) -> Result<Vec<SavedPermission>, RuntimeError> {
        let read = self.store.read(move |reader| {
            let mut saved = reader.saved_permissions(&project)?;
            saved.extend(reader.saved_permissions_below(&format!("{project}{WORKTREE}"))?);
            Ok(saved)
        });
        Ok(shown(read.await?))
    }

    /// Takes a saved permission back. An unknown id is none.
    pub(crate) async fn remove_permission(&self, id: String) -> Result<(), RuntimeError> {
        let removed = self
            .store
            .write(move |transaction| transaction.remove_permission(&id).map(Ok));
        removed.await?
    }

    /// Saves what a request wants to be saved.
    pub(super) async fn save(&self, pending: &Pending) -> Result<(), RuntimeError> {
        let (project, time) = (pending.project(), self.now());
        let patterns = pending.request.save.iter().flatten();
        let saved = patterns.map(|resource| SavedPermission {
            id: self.ids.next("psv", false),
            project_id: project.to_owned(),
            action: pending.request.action.clone(),
            resource: resource.clone(),
        });
        let saved: Vec<_> = saved.collect();
        if saved.is_empty() {
            return Ok(());
        }
        let written = self.store.write(move |transaction| {
            for permission in &saved {
                transaction.save_permission(permission, time)?;
            }
            Ok(Ok::<_, RuntimeError>(()))
        });
        written.await??;
        self.permissions.saved.fetch_add(1, Ordering::SeqCst);
        Ok(())
    }
}
