//! The view of the database for a read.

use rusqlite::Connection;

/// The argument of a read closure: one consistent view of the database.
pub struct Reader<'a> {
    pub(crate) connection: &'a Connection,
}
