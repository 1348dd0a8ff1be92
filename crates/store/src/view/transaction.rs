//! The view of the database for a writing command.

use opencode_schema::id::{EventID, IdSource, MessageID};
use rusqlite::Connection;

use crate::error::StoreError;
use crate::format::entry::Committed;
use crate::integer::{Sequence, SessionKey};
use crate::view::cleaner::Cleaner;
use crate::view::demand::Demands;
use crate::view::reader::Reader;
use crate::view::test_hook::{Hook, Moment};

/// The entries that the commands of a transaction appended, for notification after the commit.
#[derive(Default)]
pub(crate) struct Appended {
    /// Entries that the listener or the test hook receives.
    pub(crate) entries: Vec<Committed>,
    /// Logs with new entries for which only their tails are notified, with their last sequences.
    /// The entries themselves are not kept, because a replayed log may be larger than memory.
    unannounced: Vec<(SessionKey, Sequence)>,
    /// True if a secret was erased. The write-ahead log, which contains it, is emptied right after the commit.
    pub(crate) erases: bool,
}

/// The extent of the appended entries at some point.
#[derive(Clone, Copy)]
pub(crate) struct Mark {
    entries: usize,
    unannounced: usize,
    last_unannounced: Option<(SessionKey, Sequence)>,
}

impl Appended {
    pub(crate) fn mark(&self) -> Mark {
        Mark {
            entries: self.entries.len(),
            unannounced: self.unannounced.len(),
            last_unannounced: self.unannounced.last().copied(),
        }
    }

    /// Removes the entries after that point.
    pub(crate) fn roll_back(&mut self, mark: Mark) {
        self.entries.truncate(mark.entries);
        self.unannounced.truncate(mark.unannounced);
        if let (Some(last), Some(before)) = (self.unannounced.last_mut(), mark.last_unannounced) {
            *last = before;
        }
    }

    /// Returns the logs with new entries, each with the sequence of its last entry.
    pub(crate) fn logs(&self) -> impl Iterator<Item = (SessionKey, Sequence)> {
        let runs = self.entries.chunk_by(|a, b| a.aggregate == b.aggregate);
        let announced =
            runs.filter_map(|run| run.last().map(|it| (it.aggregate, it.event.seq.into())));
        announced.chain(self.unannounced.iter().copied())
    }
}

/// The database as one command sees it, including the command's own writes.
pub struct Transaction<'a> {
    pub(crate) connection: &'a Connection,
    appended: &'a mut Appended,
    hook: &'a Hook,
    ids: &'a IdSource,
    demands: &'a Demands,
    pub(crate) cleaner: &'a Cleaner,
}

impl<'a> Transaction<'a> {
    pub(crate) fn new(
        connection: &'a Connection,
        ids: &'a IdSource,
        hook: &'a Hook,
        demands: &'a Demands,
        cleaner: &'a Cleaner,
        appended: &'a mut Appended,
    ) -> Self {
        Self {
            connection,
            appended,
            hook,
            ids,
            demands,
            cleaner,
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
        self.hook.at(Moment::Appended(&entry.event))?;
        let Appended {
            entries,
            unannounced,
            ..
        } = &mut *self.appended;
        if entry.announced || self.hook.is_set() {
            entries.push(entry);
            return Ok(());
        }
        let end = (entry.aggregate, entry.event.seq.into());
        match unannounced.last_mut() {
            Some(last) if last.0 == entry.aggregate => *last = end,
            _ => unannounced.push(end),
        }
        Ok(())
    }

    /// Empties the write-ahead log right after the commit.
    pub(crate) fn erase_log(&mut self) {
        self.appended.erases = true;
    }

    /// True if a subscriber wants the announcements that are derived from entries.
    pub(crate) fn derives(&self) -> bool {
        self.demands.any()
    }

    /// Generates a new message id.
    pub fn message_id(&self) -> MessageID {
        MessageID::generate(self.ids)
    }

    /// Gives at most about `pages` free pages back to the file system. Has no effect on a file that does not shrink.
    pub fn vacuum(&self, pages: u32) -> Result<(), StoreError> {
        let mut statement = self
            .connection
            .prepare(&format!("PRAGMA incremental_vacuum({pages})"))?;
        let mut rows = statement.query([])?;
        // Each row is a page.
        while rows.next()?.is_some() {}
        Ok(())
    }

    pub(crate) fn event_id(&self) -> EventID {
        EventID::generate(self.ids)
    }
}
