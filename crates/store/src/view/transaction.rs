//! The view of the database for a writing command.

use opencode_schema::id::{EventID, IdSource, MessageID};
use rusqlite::Connection;

use crate::error::StoreError;
use crate::format::entry::Committed;
use crate::integer::{Sequence, SessionKey};
use crate::view::reader::Reader;
use crate::view::test_hook::{Moment, Watched};

/// The entries that the commands of a transaction appended, for notification after the commit.
#[derive(Default)]
pub(crate) struct Appended {
    /// Entries that the listener or the test hook receives.
    pub(crate) entries: Vec<Committed>,
    /// Logs with new entries for which only their tails are notified, with their last sequences.
    /// The entries themselves are not kept, because a replayed log may be larger than memory.
    quiet: Vec<(SessionKey, Sequence)>,
}

/// The extent of the appended entries at some point.
#[derive(Clone, Copy)]
pub(crate) struct Mark {
    entries: usize,
    quiet: usize,
    last_quiet: Option<(SessionKey, Sequence)>,
}

impl Appended {
    pub(crate) fn mark(&self) -> Mark {
        Mark {
            entries: self.entries.len(),
            quiet: self.quiet.len(),
            last_quiet: self.quiet.last().copied(),
        }
    }

    /// Removes the entries after that point.
    pub(crate) fn take_back(&mut self, mark: Mark) {
        self.entries.truncate(mark.entries);
        self.quiet.truncate(mark.quiet);
        if let (Some(last), Some(before)) = (self.quiet.last_mut(), mark.last_quiet) {
            *last = before;
        }
    }

    /// Returns the logs with new entries, each with the sequence of its last entry.
    pub(crate) fn logs(&self) -> impl Iterator<Item = (SessionKey, Sequence)> {
        let runs = self.entries.chunk_by(|a, b| a.aggregate == b.aggregate);
        let heard = runs.filter_map(|run| run.last().map(|it| (it.aggregate, it.event.seq.into())));
        heard.chain(self.quiet.iter().copied())
    }
}

/// The database as one command sees it, including the command's own writes.
pub struct Transaction<'a> {
    pub(crate) connection: &'a Connection,
    appended: &'a mut Appended,
    watched: &'a Watched,
    ids: &'a IdSource,
}

impl<'a> Transaction<'a> {
    pub(crate) fn new(
        connection: &'a Connection,
        ids: &'a IdSource,
        watched: &'a Watched,
        appended: &'a mut Appended,
    ) -> Self {
        Self {
            connection,
            appended,
            watched,
            ids,
        }
    }

    /// Returns a view for reads, including the writes of this command.
    pub fn reader(&self) -> Reader<'a> {
        Reader {
            connection: self.connection,
        }
    }

    /// Reports an entry to the test hook, and keeps it for notification after the commit.
    pub(crate) fn appended(&mut self, entry: Committed) -> Result<(), StoreError> {
        self.watched.at(Moment::Appended(&entry.event))?;
        let Appended { entries, quiet } = &mut *self.appended;
        if entry.announced || self.watched.is_seen() {
            entries.push(entry);
            return Ok(());
        }
        let end = (entry.aggregate, entry.event.seq.into());
        match quiet.last_mut() {
            Some(last) if last.0 == entry.aggregate => *last = end,
            _ => quiet.push(end),
        }
        Ok(())
    }

    /// Generates a new message id.
    pub fn message_id(&self) -> MessageID {
        MessageID::generate(self.ids)
    }

    pub(crate) fn event_id(&self) -> EventID {
        EventID::generate(self.ids)
    }
}
