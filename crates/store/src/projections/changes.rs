//! The files that the steps of a session changed, with the counts of their lines.
//!
//! A step adds its paths and marks them as stale. The runtime counts the lines of stale paths later, off the path of
//! the turn, so the work of a step depends on its own files only.

use std::collections::BTreeSet;

use opencode_schema::event::{SessionEvent, StepEnded};
use opencode_schema::session::SessionSummary;
use rusqlite::{OptionalExtension, params};

use crate::error::StoreError;
use crate::integer::{Sequence, SessionKey};
use crate::projections::kind::MessageKind;
use crate::projections::messages::entry;
use crate::view::reader::Reader;
use crate::view::transaction::Transaction;

/// Paths that steps of a session changed, and the snapshots around all of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Changes {
    /// Snapshot before the first step that changed files.
    pub start: String,
    /// Snapshot after the newest step that changed files.
    pub end: String,
    /// Paths relative to the worktree, in order.
    pub paths: Vec<String>,
}

/// The lines that differ in one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CountedFile {
    /// Path relative to the worktree.
    pub path: String,
    /// Added and deleted lines; `None` if the file does not differ.
    pub lines: Option<(u64, u64)>,
}

impl Reader<'_> {
    /// Returns the files that steps of the session changed, at most `most`.
    pub fn changes(&self, session: SessionKey, most: usize) -> Result<Option<Changes>, StoreError> {
        let sql = "SELECT path FROM changed_file WHERE aggregate = ?1 ORDER BY path LIMIT ?2";
        self.changes_of(session, sql, most)
    }

    /// Returns the files with counts that are older than the newest snapshot, at most `most`. `None` if there are none.
    pub fn stale_changes(
        &self,
        session: SessionKey,
        most: usize,
    ) -> Result<Option<Changes>, StoreError> {
        let sql = "SELECT path FROM changed_file INDEXED BY changed_file_stale
             WHERE aggregate = ?1 AND stale = 1 LIMIT ?2";
        let changes = self.changes_of(session, sql, most)?;
        Ok(changes.filter(|changes| !changes.paths.is_empty()))
    }

    /// Returns the files that a step changed, or all steps of a prompt: those after the message up to the next prompt.
    pub fn changes_of_message(
        &self,
        session: SessionKey,
        message: Sequence,
        most: usize,
    ) -> Result<Option<Changes>, StoreError> {
        let is_answer = self
            .connection
            .prepare_cached("SELECT 1 FROM message WHERE aggregate = ? AND seq = ? AND type = ?")?
            .exists((session, message, MessageKind::ASSISTANT))?;
        let end = match is_answer {
            true => Sequence::from(u64::from(message) + 1),
            false => self.next_prompt(session, message)?,
        };
        let steps = self.step_files_between(session, message, end)?;
        let (Some(first), Some(last)) = (steps.first(), steps.last()) else {
            return Ok(None);
        };
        let paths: BTreeSet<&String> = steps.iter().flat_map(|step| &step.files).collect();
        Ok(Some(Changes {
            start: first.start.clone(),
            end: last.end.clone(),
            paths: paths.into_iter().take(most).cloned().collect(),
        }))
    }

    fn next_prompt(&self, session: SessionKey, after: Sequence) -> Result<Sequence, StoreError> {
        let next: Option<Sequence> = self
            .connection
            .prepare_cached(&format!(
                "SELECT seq FROM message INDEXED BY message_turn
                 WHERE aggregate = ?1 AND seq > ?2 AND type IN ({prompt}, {answer})
                   AND type = {prompt}
                 ORDER BY seq LIMIT 1",
                prompt = MessageKind::USER,
                answer = MessageKind::ASSISTANT
            ))?
            .query_row((session, after), |row| row.get(0))
            .optional()?;
        Ok(next.unwrap_or(Sequence::AFTER_LAST))
    }

    fn changes_of(
        &self,
        session: SessionKey,
        sql: &str,
        most: usize,
    ) -> Result<Option<Changes>, StoreError> {
        let Some((Some(start), Some(end))) = self.ends(session)? else {
            return Ok(None);
        };
        let mut statement = self.connection.prepare_cached(sql)?;
        let paths = statement.query_map((session, most as i64), |row| row.get(0))?;
        let paths = paths.collect::<Result<_, _>>()?;
        Ok(Some(Changes { start, end, paths }))
    }

    #[expect(clippy::type_complexity, reason = "the two columns of one row")]
    fn ends(
        &self,
        session: SessionKey,
    ) -> Result<Option<(Option<String>, Option<String>)>, StoreError> {
        Ok(self
            .connection
            .prepare_cached("SELECT diff_start, diff_end FROM session WHERE aggregate = ?")?
            .query_row([session], |row| Ok((row.get(0)?, row.get(1)?)))
            .optional()?)
    }
}

impl Transaction<'_> {
    /// Adds the files of a step that ended.
    pub(crate) fn add_changes(
        &self,
        session: SessionKey,
        message: Sequence,
        ended: &StepEnded,
    ) -> Result<(), StoreError> {
        let files = ended.files.as_deref().unwrap_or_default();
        let (Some(end), false) = (&ended.snapshot, files.is_empty()) else {
            return Ok(());
        };
        let start = match self.reader().ends(session)? {
            Some((Some(start), _)) => start,
            _ => match self.start_of(session, message)? {
                Some(start) => start,
                None => return Ok(()),
            },
        };
        self.set_changes(session, &start, end, files)
    }

    fn start_of(
        &self,
        session: SessionKey,
        message: Sequence,
    ) -> Result<Option<String>, StoreError> {
        let entries = self.reader().gather(session, vec![message])?;
        Ok(match entry(&entries, message)?.payload()? {
            SessionEvent::StepStarted(started) => started.snapshot,
            _ => None,
        })
    }

    fn set_changes(
        &self,
        session: SessionKey,
        start: &str,
        end: &str,
        files: &[String],
    ) -> Result<(), StoreError> {
        self.run(
            "UPDATE session SET diff_start = ?2, diff_end = ?3 WHERE aggregate = ?1",
            params![session, start, end],
        )?;
        for path in files {
            self.run(
                "INSERT INTO changed_file (aggregate, path, stale) VALUES (?1, ?2, 1)
                 ON CONFLICT (aggregate, path) DO UPDATE SET stale = 1",
                params![session, path],
            )?;
        }
        Ok(())
    }

    /// Forgets the files of a session.
    pub(crate) fn forget_changes(&self, session: SessionKey) -> Result<(), StoreError> {
        self.run("DELETE FROM changed_file WHERE aggregate = ?", [session])?;
        self.run(
            "UPDATE session SET diff_start = NULL, diff_end = NULL, summary_additions = NULL,
               summary_deletions = NULL, summary_files = NULL WHERE aggregate = ?",
            [session],
        )
    }

    /// Collects the files of the remaining steps after a committed revert.
    pub(crate) fn collect_changes(&self, session: SessionKey) -> Result<(), StoreError> {
        if !matches!(self.reader().ends(session)?, Some((Some(_), _))) {
            return Ok(());
        }
        self.forget_changes(session)?;
        let steps = self.reader().step_files(session, Sequence::FIRST)?;
        let Some(first) = steps.first() else {
            return Ok(());
        };
        for step in &steps {
            self.set_changes(session, &first.start, &step.end, &step.files)?;
        }
        Ok(())
    }

    /// Stores the counts of files up to the snapshot `end`, and returns the sums of the session. Returns `None` and
    /// stores nothing if a later step changed files.
    pub fn count_changes(
        &self,
        session: SessionKey,
        end: &str,
        files: &[CountedFile],
    ) -> Result<Option<SessionSummary>, StoreError> {
        if !matches!(self.reader().ends(session)?, Some((_, Some(newest))) if newest == end) {
            return Ok(None);
        }
        for file in files {
            let (additions, deletions) = file.lines.unwrap_or_default();
            self.run(
                "UPDATE changed_file SET stale = 0, additions = ?3, deletions = ?4, differs = ?5
                 WHERE aggregate = ?1 AND path = ?2",
                params![
                    session,
                    file.path,
                    stored(additions),
                    stored(deletions),
                    file.lines.is_some()
                ],
            )?;
        }
        self.run(
            "UPDATE session SET (summary_additions, summary_deletions, summary_files) = (
               SELECT ifnull(sum(additions), 0), ifnull(sum(deletions), 0), ifnull(sum(differs), 0)
               FROM changed_file WHERE changed_file.aggregate = session.aggregate)
             WHERE aggregate = ?",
            [session],
        )?;
        let sums = self
            .connection
            .prepare_cached(
                "SELECT summary_additions, summary_deletions, summary_files
                 FROM session WHERE aggregate = ?",
            )?
            .query_row([session], |row| {
                crate::projections::sessions::summary(row, 0)
            })?;
        Ok(sums)
    }

    /// Sets or removes the address of the shared copy, if it is still `expected`. Returns false otherwise.
    pub fn set_share(
        &self,
        session: SessionKey,
        expected: Option<&str>,
        url: Option<&str>,
    ) -> Result<bool, StoreError> {
        let changed = self
            .connection
            .prepare_cached(
                "UPDATE session SET share_url = ?3 WHERE aggregate = ?1 AND share_url IS ?2",
            )?
            .execute(params![session, expected, url])?;
        Ok(changed > 0)
    }
}

/// Limits a count, so that sums of counts are integers.
fn stored(count: u64) -> i64 {
    const MOST: i64 = 1 << 40;
    i64::try_from(count).map_or(MOST, |count| count.min(MOST))
}
