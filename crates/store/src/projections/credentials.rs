//! Credentials of integrations. No event makes them, and no log contains them.

use std::fmt;

use opencode_schema::clock::Millis;
use rusqlite::types::Value;
use rusqlite::{Row, params, params_from_iter};

use crate::error::StoreError;
use crate::view::reader::Reader;
use crate::view::transaction::Transaction;

/// A stored credential.
#[derive(Clone, PartialEq, Eq)]
pub struct Credential {
    /// Its id.
    pub id: String,
    /// The integration that it is for.
    pub integration_id: String,
    /// Its name for users.
    pub label: String,
    /// Its secret value.
    pub value: String,
}

/// Shows no value, because it is a secret.
impl fmt::Debug for Credential {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Credential")
            .field("id", &self.id)
            .field("integration_id", &self.integration_id)
            .field("label", &self.label)
            .finish_non_exhaustive()
    }
}

impl Reader<'_> {
    /// Returns the credentials of an integration, in the order of their creation.
    pub fn credentials(&self, integration: &str) -> Result<Vec<Credential>, StoreError> {
        let mut statement = self.connection.prepare_cached(
            "SELECT id, integration_id, label, value FROM credential
             WHERE integration_id = ? ORDER BY key",
        )?;
        let rows = statement.query_map([integration], read)?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Returns the credentials of all integrations, in the order of their creation.
    pub fn all_credentials(&self) -> Result<Vec<Credential>, StoreError> {
        let mut statement = self.connection.prepare_cached(
            "SELECT id, integration_id, label, value FROM credential ORDER BY key",
        )?;
        let rows = statement.query_map([], read)?;
        Ok(rows.collect::<Result<_, _>>()?)
    }
}

fn read(row: &Row<'_>) -> rusqlite::Result<Credential> {
    Ok(Credential {
        id: row.get(0)?,
        integration_id: row.get(1)?,
        label: row.get(2)?,
        value: row.get(3)?,
    })
}

impl Transaction<'_> {
    /// Stores a new credential.
    pub fn insert_credential(
        &self,
        credential: &Credential,
        time: Millis,
    ) -> Result<(), StoreError> {
        let Credential {
            id,
            integration_id,
            label,
            value,
        } = credential;
        self.run(
            "INSERT INTO credential (id, integration_id, label, value, time_created, time_updated)
             VALUES (?1, ?2, ?3, ?4, ?5, ?5)",
            params![id, integration_id, label, value, time],
        )
    }

    /// Changes the label and the value of a credential. Keeps those that are `None`. Returns the integration of the
    /// credential; `None` for an unknown id.
    pub fn update_credential(
        &mut self,
        id: &str,
        label: Option<&str>,
        value: Option<&str>,
        time: Millis,
    ) -> Result<Option<String>, StoreError> {
        let integration = self.integration_of(id)?;
        if value.is_none() {
            self.run(
                "UPDATE credential SET label = coalesce(?2, label), time_updated = ?3 WHERE id = ?1",
                params![id, label, time],
            )?;
            return Ok(integration);
        }
        self.erasing(|transaction| {
            transaction.run(
                "UPDATE credential SET label = coalesce(?2, label), value = ?3,
                   time_updated = ?4 WHERE id = ?1",
                params![id, label, value, time],
            )
        })?;
        Ok(integration)
    }

    /// Removes a credential. Returns its integration; `None` for an unknown id.
    pub fn remove_credential(&mut self, id: &str) -> Result<Option<String>, StoreError> {
        let integration = self.integration_of(id)?;
        self.erasing(|transaction| transaction.run("DELETE FROM credential WHERE id = ?", [id]))?;
        Ok(integration)
    }

    /// Runs a change that removes secret values, and overwrites all former pages of the table. SQLite overwrites the
    /// deleted values, but not the copies that remain where it moved values between pages.
    fn erasing(
        &mut self,
        change: impl FnOnce(&Self) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        self.secure_delete(true)?;
        let erased = change(self).and_then(|()| self.rewrite_credentials());
        self.secure_delete(false)?;
        self.erase_log();
        erased
    }

    /// Deletes all credentials and inserts them again, so that every page of the table is overwritten.
    fn rewrite_credentials(&self) -> Result<(), StoreError> {
        let mut statement = self.connection.prepare_cached(
            "SELECT key, id, integration_id, label, value, time_created, time_updated
             FROM credential ORDER BY key",
        )?;
        let columns = |row: &Row<'_>| (0..7).map(|at| row.get(at)).collect();
        let rows = statement.query_map([], columns)?;
        let rows: Vec<Vec<Value>> = rows.collect::<Result<_, _>>()?;
        drop(statement);
        self.run("DELETE FROM credential", [])?;
        for row in rows {
            self.run(
                "INSERT INTO credential (key, id, integration_id, label, value, time_created, time_updated)
                 VALUES (?, ?, ?, ?, ?, ?, ?)",
                params_from_iter(row),
            )?;
        }
        Ok(())
    }

    /// Sets whether SQLite overwrites deleted values with zeros.
    fn secure_delete(&self, overwrites: bool) -> Result<(), StoreError> {
        let update = |row: &Row<'_>| row.get::<_, i64>(0);
        let connection = self.connection;
        connection.pragma_update_and_check(None, "secure_delete", overwrites, update)?;
        Ok(())
    }

    fn integration_of(&self, id: &str) -> Result<Option<String>, StoreError> {
        let mut statement = self
            .connection
            .prepare_cached("SELECT integration_id FROM credential WHERE id = ?")?;
        let mut rows = statement.query([id])?;
        Ok(rows.next()?.map(|row| row.get(0)).transpose()?)
    }
}
