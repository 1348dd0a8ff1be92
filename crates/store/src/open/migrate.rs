//! The schema of the database and its versions.

use std::path::Path;

use rusqlite::Connection;

use crate::error::OpenError;
use crate::open::{pragma, unavailable};

/// Application id of our databases (`OCED`). A SQLite file of another program is refused instead of
/// migrated.
const APPLICATION_ID: i64 = 0x4f43_4544;

/// Numbered and append-only. `user_version` stores the number of applied migrations.
const MIGRATIONS: &[&str] = &[
    include_str!("../../migrations/0001_sessions.sql"),
    include_str!("../../migrations/0002_recovery.sql"),
    include_str!("../../migrations/0003_phrases.sql"),
    include_str!("../../migrations/0004_explored.sql"),
    include_str!("../../migrations/0005_permissions.sql"),
    include_str!("../../migrations/0006_tools.sql"),
    include_str!("../../migrations/0007_credentials.sql"),
    include_str!("../../migrations/0008_session_life.sql"),
    include_str!("../../migrations/0009_budgets.sql"),
    include_str!("../../migrations/0010_imports.sql"),
    include_str!("../../migrations/0011_erasure.sql"),
    include_str!("../../migrations/0012_formats.sql"),
];

/// Fails without changing the file if another program or a newer version of this program wrote it.
/// Returns the schema version.
pub(crate) fn check_owner(connection: &Connection, path: &Path) -> Result<usize, OpenError> {
    let fail = |error: rusqlite::Error| unavailable(path, error);
    let found = pragma(connection, "user_version").map_err(fail)?;
    let known = MIGRATIONS.len() as i64;
    let owner = pragma(connection, "application_id").map_err(fail)?;
    let tables: i64 = connection
        .query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))
        .map_err(fail)?;
    if owner != APPLICATION_ID && (tables > 0 || owner != 0) {
        return Err(unavailable(
            path,
            "it is a SQLite database of another program",
        ));
    }
    if found > known {
        return Err(OpenError::Version {
            path: path.to_owned(),
            found,
            known,
        });
    }
    Ok(found.max(0) as usize)
}

/// Migrates the schema from version `found` to the newest version in one transaction. A database is
/// never left between two versions. If the migration fails, the file stays unchanged.
pub(crate) fn migrate(
    connection: &mut Connection,
    path: &Path,
    found: usize,
) -> Result<(), OpenError> {
    let missing = MIGRATIONS.get(found..).unwrap_or_default();
    if missing.is_empty() {
        return Ok(());
    }
    run(connection, missing).map_err(|error| {
        // The SQL statement is internal and does not help the reader of the message.
        let reason = match error {
            rusqlite::Error::SqlInputError { msg, .. } => msg,
            other => other.to_string(),
        };
        let newest = MIGRATIONS.len();
        unavailable(
            path,
            format!("its schema cannot be brought to version {newest}: {reason}"),
        )
    })
}

fn run(connection: &mut Connection, migrations: &[&str]) -> rusqlite::Result<()> {
    let transaction = connection.transaction()?;
    for sql in migrations {
        transaction.execute_batch(sql)?;
    }
    transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
    transaction.pragma_update(None, "user_version", MIGRATIONS.len() as i64)?;
    transaction.commit()
}
