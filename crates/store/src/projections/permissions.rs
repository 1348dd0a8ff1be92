//! Saved permissions: actions that a reply of `always` allowed. Each counts for the directories with one name, which the
//! column `project` contains.

use opencode_schema::clock::Millis;
use opencode_schema::permission::SavedPermission;
use rusqlite::params;

use crate::error::StoreError;
use crate::view::reader::Reader;
use crate::view::transaction::Transaction;

impl Reader<'_> {
    /// Returns the saved permissions of a project, in the order in which they were saved.
    pub fn saved_permissions(&self, project: &str) -> Result<Vec<SavedPermission>, StoreError> {
        self.saved(
            "SELECT id, project, action, resource FROM saved_permission
             WHERE project = ? ORDER BY key",
            project,
        )
    }

    /// Returns all saved permissions, in the order in which they were saved.
    pub fn all_saved_permissions(&self) -> Result<Vec<SavedPermission>, StoreError> {
        self.saved(
            "SELECT id, project, action, resource FROM saved_permission
             WHERE ?1 = '' ORDER BY key",
            "",
        )
    }

    /// Returns the saved permissions of every project with an id that begins with `prefix`.
    pub fn saved_permissions_below(
        &self,
        prefix: &str,
    ) -> Result<Vec<SavedPermission>, StoreError> {
        self.saved(
            "SELECT id, project, action, resource FROM saved_permission
             WHERE substr(project, 1, length(?1)) = ?1 ORDER BY key",
            prefix,
        )
    }

    fn saved(&self, query: &str, project: &str) -> Result<Vec<SavedPermission>, StoreError> {
        let mut statement = self.connection.prepare_cached(query)?;
        let rows = statement.query_map([project], |row| {
            Ok(SavedPermission {
                id: row.get(0)?,
                project_id: row.get(1)?,
                action: row.get(2)?,
                resource: row.get(3)?,
            })
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }
}

impl Transaction<'_> {
    /// Saves a permission. Has no effect if the project already has it.
    pub fn save_permission(&self, saved: &SavedPermission, time: Millis) -> Result<(), StoreError> {
        let SavedPermission {
            id,
            project_id,
            action,
            resource,
        } = saved;
        self.run(
            "INSERT INTO saved_permission (id, project, action, resource, time_created)
             VALUES (?, ?, ?, ?, ?)
             ON CONFLICT (project, action, resource) DO NOTHING",
            params![id, project_id, action, resource, time],
        )
    }

    /// Removes a saved permission, with `project` only one of that project. Ignores an unknown id.
    pub fn remove_permission(&self, id: &str, project: Option<&str>) -> Result<(), StoreError> {
        self.run(
            "DELETE FROM saved_permission WHERE id = ?1 AND (?2 IS NULL OR project = ?2)",
            params![id, project],
        )
    }
}
