//! The view of the database that a read gets.

use rusqlite::Connection;

/// What a read closure gets: one consistent view of the database.
pub struct Reader<'a> {
    pub(crate) connection: &'a Connection,
}
