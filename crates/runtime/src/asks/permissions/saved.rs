//! Permissions that answers of `always` granted, permanently, for a project or a directory.

use opencode_store::Abort;
use std::sync::atomic::Ordering;

use opencode_location::location::ApprovalPlace;
use opencode_schema::permission::{SavedPermission, SavedPermissionInfo};

use super::Permissions;
use super::request::Pending;
use crate::error::RuntimeError;

/// The saved permissions to list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SavedScope {
    /// Those of all directories, or of those of one project, with the place where each counts.
    Host(Option<String>),
    /// Those that count in the directory with this name of approvals.
    Place(String),
}

/// Returns a permission as callers read it. `None` if it counts nowhere.
fn shown(saved: SavedPermission, with_place: bool) -> Option<SavedPermissionInfo> {
    let place = ApprovalPlace::of(&saved.project_id)?;
    Some(SavedPermissionInfo {
        project_id: place.project.to_owned(),
        directory: place.directory.filter(|_| with_place).map(str::to_owned),
        trusted: with_place.then_some(place.is_trusted),
        id: saved.id,
        action: saved.action,
        resource: saved.resource,
    })
}

impl Permissions {
    /// Returns the permissions that count in the place with this name, in the order of saving.
    pub(super) async fn saved_permissions(
        &self,
        place: String,
    ) -> Result<Vec<SavedPermission>, RuntimeError> {
        let read = self
            .journal
            .store
            .read(move |reader| reader.saved_permissions(&place));
        Ok(read.await?)
    }

    /// Lists saved permissions, in the order of saving.
    pub(crate) async fn list_saved(
        &self,
        scope: SavedScope,
    ) -> Result<Vec<SavedPermissionInfo>, RuntimeError> {
        let with_place = matches!(scope, SavedScope::Host(_));
        let read = self.journal.store.read(move |reader| match scope {
            SavedScope::Place(place) => reader.saved_permissions(&place),
            SavedScope::Host(None) => reader.all_saved_permissions(),
            SavedScope::Host(Some(project)) => {
                let mut saved = reader.saved_permissions(&project)?;
                let bound = ApprovalPlace::bound_prefix(&project);
                saved.extend(reader.saved_permissions_below(&bound)?);
                Ok(saved)
            }
        });
        let shown = |it| shown(it, with_place);
        Ok(read.await?.into_iter().filter_map(shown).collect())
    }

    /// Removes a saved permission, with `place` only one that counts there. Does nothing for an unknown id.
    pub(crate) async fn remove_permission(
        &self,
        id: String,
        place: Option<String>,
    ) -> Result<(), RuntimeError> {
        let removed = self.journal.store.write(move |transaction| {
            Ok::<_, Abort<RuntimeError>>(transaction.remove_permission(&id, place.as_deref())?)
        });
        Ok(removed.await?)
    }

    /// Saves the patterns that a request asks to save.
    pub(super) async fn save(&self, pending: &Pending) -> Result<(), RuntimeError> {
        let project = self.project_of(pending).await?;
        let time = self.journal.now();
        let patterns = pending.request.save.iter().flatten();
        let saved = patterns.map(|resource| SavedPermission {
            id: self.journal.ids.next("psv", false),
            project_id: project.clone(),
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
