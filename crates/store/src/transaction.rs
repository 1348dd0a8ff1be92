//! What a writing command gets.

use opencode_schema::id::{EventID, IdSource, MessageID};
use rusqlite::Connection;

use crate::log::Committed;
use crate::reader::Reader;
use crate::seam::Watched;

/// One command's view of the database, with what it has written itself.
pub struct Transaction<'a> {
    pub(crate) connection: &'a Connection,
    pub(crate) committed: &'a mut Vec<Committed>,
    pub(crate) watched: &'a Watched,
    ids: &'a IdSource,
}

impl<'a> Transaction<'a> {
    pub(crate) fn new(
        connection: &'a Connection,
        ids: &'a IdSource,
        watched: &'a Watched,
        committed: &'a mut Vec<Committed>,
    ) -> Self {
        Self {
            connection,
            committed,
            watched,
            ids,
        }
    }

    /// Everything that can be read, including what this command wrote.
    pub fn reader(&self) -> Reader<'a> {
        Reader {
            connection: self.connection,
        }
    }

    /// A new message id.
    pub fn message_id(&self) -> MessageID {
        MessageID::generate(self.ids)
    }

    pub(crate) fn event_id(&self) -> EventID {
        EventID::generate(self.ids)
    }
}
