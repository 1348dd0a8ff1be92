//! Permissions that answers of `always` granted, permanently and for a whole project.

use opencode_store::Abort;
use std::sync::atomic::Ordering;

use opencode_location::location::WORKTREE;
use opencode_schema::permission::SavedPermission;

use super::Permissions;
use super::request::Pending;
use crate::error::RuntimeError;

/// Returns the saved permissions with plain project ids, without the worktree suffix.
fn shown(mut saved: Vec<SavedPermission>) -> Vec<SavedPermission> {
    for permission in &mut saved {
        if let Some(end) = permission.project_id.find(WORKTREE) {
            permission.project_id.truncate(end);
        }
    }
    saved
}

impl Permissions {
    /// Returns the saved permissions of a project, in the order of saving.
    pub(crate) async fn saved_permissions(
        &self,
        project: String,
    ) -> Result<Vec<SavedPermission>, RuntimeError> {
        let read = self
            .journal
            .store
            .read(move |reader| reader.saved_permissions(&project));
        Ok(shown(read.await?))
    }

    /// Returns the saved permissions of a project and of all its worktrees that the host does not trust.
    pub(crate) async fn saved_permissions_of_project(
        &self,
        project: String,
    ) -> Result<Vec<SavedPermission>, RuntimeError> {
        let read = self.journal.store.read(move |reader| {
            let mut saved = reader.saved_permissions(&project)?;
            saved.extend(reader.saved_permissions_below(&format!("{project}{WORKTREE}"))?);
            Ok(saved)
        });
        Ok(shown(read.await?))
    }

    /// Removes a saved permission. Does nothing for an unknown id.
    pub(crate) async fn remove_permission(&self, id: String) -> Result<(), RuntimeError> {
        let removed = self.journal.store.write(move |transaction| {
            Ok::<_, Abort<RuntimeError>>(transaction.remove_permission(&id)?)
        });
        Ok(removed.await?)
    }

    /// Saves the patterns that a request asks to save.
    pub(super) async fn save(&self, pending: &Pending) -> Result<(), RuntimeError> {
        let (project, time) = (pending.project(), self.journal.now());
        let patterns = pending.request.save.iter().flatten();
        let saved = patterns.map(|resource| SavedPermission {
            id: self.journal.ids.next("psv", false),
            project_id: project.to_owned(),
            action: pending.request.action.clone(),
            resource: resource.clone(),
        });
        let saved: Vec<_> = saved.collect();
        if saved.is_empty() {
            return Ok(());
        }
        let written = self.journal.store.write(move |transaction| {
            for permission in &saved {
                transaction.save_permission(permission, time)?;
            }
            Ok::<_, Abort<RuntimeError>>(())
        });
        written.await?;
        self.saved.fetch_add(1, Ordering::SeqCst);
        Ok(())
    }
}
