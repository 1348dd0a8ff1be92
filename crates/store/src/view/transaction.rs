//! What a writing command gets.

use opencode_schema::id::{EventID, IdSource, MessageID};
use rusqlite::Connection;

use crate::error::StoreError;
use crate::format::entry::Committed;
use crate::view::reader::Reader;
use crate::view::seam::{Moment, Watched};

/// What the commands of a transaction have appended, for those who are told once it is committed.
#[derive(Default)]
pub(crate) struct Appended {
    /// The entries that somebody hears of.
    pub(crate) entries: Vec<Committed>,
    /// The logs that grew by entries of which only their tails hear, and their last sequences. The
    /// entries are not kept, because a log that is replayed as a whole may be as long as memory.
    quiet: Vec<(i64, u64)>,
}

/// How much was appended at some point.
#[derive(Clone, Copy)]
pub(crate) struct Mark {
    entries: usize,
    quiet: usize,
    last_quiet: Option<(i64, u64)>,
}

impl Appended {
    pub(crate) fn mark(&self) -> Mark {
        Mark {
            entries: self.entries.len(),
            quiet: self.quiet.len(),
            last_quiet: self.quiet.last().copied(),
        }
    }

    /// Forgets what came after that point.
    pub(crate) fn take_back(&mut self, mark: Mark) {
        self.entries.truncate(mark.entries);
        self.quiet.truncate(mark.quiet);
        if let (Some(last), Some(before)) = (self.quiet.last_mut(), mark.last_quiet) {
            *last = before;
        }
    }

    /// The logs that have grown, each with the sequence of its last entry.
    pub(crate) fn logs(&self) -> impl Iterator<Item = (i64, u64)> {
        let runs = self.entries.chunk_by(|a, b| a.aggregate == b.aggregate);
        let heard = runs.filter_map(|run| run.last().map(|it| (it.aggregate, it.event.seq)));
        heard.chain(self.quiet.iter().copied())
    }
}

/// One command's view of the database, with what it has written itself.
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

    /// Everything that can be read, including what this command wrote.
    pub fn reader(&self) -> Reader<'a> {
        Reader {
            connection: self.connection,
        }
    }

    /// Tells the seam of an entry, and remembers it for everybody else who is to hear of it.
    pub(crate) fn appended(&mut self, entry: Committed) -> Result<(), StoreError> {
        self.watched.at(Moment::Appended(&entry.event))?;
        let Appended { entries, quiet } = &mut *self.appended;
        if entry.announced || self.watched.is_seen() {
            entries.push(entry);
            return Ok(());
        }
        let end = (entry.aggregate, entry.event.seq);
        match quiet.last_mut() {
            Some(last) if last.0 == entry.aggregate => *last = end,
            _ => quiet.push(end),
        }
        Ok(())
    }

    /// A new message id.
    pub fn message_id(&self) -> MessageID {
        MessageID::generate(self.ids)
    }

    pub(crate) fn event_id(&self) -> EventID {
        EventID::generate(self.ids)
    }
}
