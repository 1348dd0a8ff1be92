//! Sizes and ages of sessions, answered without reading entries.

use opencode_schema::bounded::MAX_SAFE_INTEGER;
use opencode_schema::clock::Millis;
use opencode_schema::id::SessionID;
use rusqlite::Row;

use crate::error::StoreError;
use crate::projections::sessions::SessionRow;
use crate::view::reader::Reader;

/// The use of the database file, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StorageSize {
    /// Size of the database without its write-ahead log.
    pub total: u64,
    /// Part of it that holds no data. Later data use it.
    pub free: u64,
    /// True if [`vacuum`](crate::Transaction::vacuum) can give free parts back to the file system.
    pub shrinks: bool,
}

/// The size of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionSize {
    /// Id of the session.
    pub id: SessionID,
    /// Bytes of its events in their stored form.
    pub bytes: u64,
}

/// The values that decide about the age of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionAge {
    /// Id of the session.
    pub id: SessionID,
    /// Id of its parent. The parent may not exist.
    pub parent: Option<SessionID>,
    /// Time of its newest event or change.
    pub active: Millis,
    /// True if it is archived.
    pub is_archived: bool,
}

/// Mode of SQLite that lets a file shrink.
const INCREMENTAL: i64 = 2;

impl Reader<'_> {
    /// Returns the use of the database file.
    pub fn storage_size(&self) -> Result<StorageSize, StoreError> {
        let number = |name: &str| -> Result<u64, StoreError> {
            let value = self
                .connection
                .pragma_query_value(None, name, |row| row.get::<_, i64>(0))?;
            Ok(value.unsigned_abs())
        };
        let page = number("page_size")?;
        Ok(StorageSize {
            total: number("page_count")? * page,
            free: number("freelist_count")? * page,
            shrinks: number("auto_vacuum")? == INCREMENTAL as u64,
        })
    }

    /// Returns the number of sessions, and the largest ones, at most `limit`.
    pub fn session_sizes(&self, limit: usize) -> Result<(u64, Vec<SessionSize>), StoreError> {
        let count: i64 = self
            .connection
            .prepare_cached("SELECT count(*) FROM session")?
            .query_row([], |row| row.get(0))?;
        let mut statement = self.connection.prepare_cached(
            "SELECT a.id, a.bytes FROM session s CROSS JOIN aggregate a ON a.key = s.aggregate
             ORDER BY a.bytes DESC, a.key LIMIT ?",
        )?;
        let mut rows = statement.query([limit as i64])?;
        let mut largest = Vec::new();
        while let Some(row) = rows.next()? {
            let id: Option<String> = row.get(0).ok();
            let Some(id) = id.and_then(|id| SessionID::parse(&id).ok()) else {
                continue;
            };
            largest.push(SessionSize {
                id,
                bytes: row.get::<_, i64>(1)?.unsigned_abs().min(MAX_SAFE_INTEGER),
            });
        }
        Ok((count.unsigned_abs(), largest))
    }

    /// Returns the time of the newest event or change of a session.
    pub fn last_active(&self, session: &SessionRow) -> Result<Millis, StoreError> {
        let active: Millis = self
            .connection
            .prepare_cached("SELECT active FROM aggregate WHERE key = ?")?
            .query_row([session.key], |row| row.get(0))?;
        Ok(active.max(session.info.time.updated))
    }

    /// Returns the values that decide about the age of every session.
    pub fn session_ages(&self) -> Result<Vec<SessionAge>, StoreError> {
        let mut statement = self.connection.prepare_cached(
            "SELECT a.id, s.parent, max(a.active, s.time_updated), s.time_archived IS NOT NULL
             FROM session s CROSS JOIN aggregate a ON a.key = s.aggregate",
        )?;
        let mut rows = statement.query([])?;
        let mut ages = Vec::new();
        while let Some(row) = rows.next()? {
            match age(row) {
                Ok(age) => ages.push(age),
                Err(error @ StoreError::Corrupt { .. }) => {
                    tracing::error!(%error, "a session has no readable id");
                }
                Err(error) => return Err(error),
            }
        }
        Ok(ages)
    }
}

/// Reads the age of a session. A damaged row must not decide about other sessions: without a readable time the session
/// counts as active now.
fn age(row: &Row<'_>) -> Result<SessionAge, StoreError> {
    let id: String = row.get(0)?;
    let parent: Option<String> = row.get(1).ok().flatten();
    Ok(SessionAge {
        id: SessionID::parse(&id).map_err(StoreError::corrupt_row)?,
        parent: parent.and_then(|parent| SessionID::parse(&parent).ok()),
        active: row.get(2).unwrap_or(Millis::MAX),
        is_archived: row.get(3)?,
    })
}
