//! Erasures that are due after removals of sessions. They are stored, so they stay due after a crash.

use opencode_schema::id::SessionID;
use rusqlite::params;

use crate::error::StoreError;
use crate::integer::{Sequence, SessionKey};
use crate::view::reader::Reader;
use crate::view::transaction::Transaction;

/// The traces of removed sessions outside of their rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Remains {
    /// True if the database file or its log may contain parts of deleted rows.
    pub parts: bool,
    /// True if Managed Tool Output Files remain.
    pub files: bool,
    /// Number of the newest removal, if the snapshots of removed sessions may remain.
    pub snapshots: Option<i64>,
}

impl Remains {
    /// True if something remains.
    pub fn any(self) -> bool {
        self.parts || self.files || self.snapshots.is_some()
    }
}

impl Reader<'_> {
    /// Returns what removed sessions left.
    pub fn remains(&self) -> Result<Remains, StoreError> {
        let mut statement = self.connection.prepare_cached(
            "SELECT residue, removals, swept,
               EXISTS (SELECT 1 FROM removed_file) OR EXISTS (SELECT 1 FROM removed_tree)
             FROM removed WHERE rowid = 1",
        )?;
        let remains = statement.query_row([], |row| {
            let (removals, swept): (i64, i64) = (row.get(1)?, row.get(2)?);
            Ok(Remains {
                parts: row.get(0)?,
                files: row.get(3)?,
                snapshots: (removals > swept).then_some(removals),
            })
        });
        Ok(remains?)
    }

    /// Returns the paths of Managed Tool Output Files that deleted entries name and no other session needs, at most
    /// `most`. The log may come from another host, so the caller must check each path.
    pub fn removed_files(&self, most: usize) -> Result<Vec<String>, StoreError> {
        let sql = "SELECT path FROM removed_file LIMIT ?";
        let mut statement = self.connection.prepare_cached(sql)?;
        let paths = statement.query_map([most as i64], |row| row.get(0))?;
        Ok(paths.collect::<Result<_, _>>()?)
    }

    /// Returns the roots of session trees that were removed as a whole, at most `most`.
    pub fn removed_trees(&self, most: usize) -> Result<Vec<SessionID>, StoreError> {
        let sql = "SELECT root FROM removed_tree LIMIT ?";
        let mut statement = self.connection.prepare_cached(sql)?;
        let roots = statement.query_map([most as i64], |row| row.get::<_, String>(0))?;
        let roots: Vec<_> = roots.collect::<Result<_, _>>()?;
        let parse = |root: String| SessionID::parse(&root).map_err(StoreError::corrupt_row);
        roots.into_iter().map(parse).collect()
    }

    /// Returns the snapshots that sessions may need: those of their steps with changes, and of staged reverts. Reads
    /// `sessions` sessions after a key, and returns the key of the last one; `None` if no session follows.
    pub fn needed_snapshots(
        &self,
        after: Option<SessionKey>,
        sessions: usize,
    ) -> Result<(Vec<String>, Option<SessionKey>), StoreError> {
        let mut statement = self.connection.prepare_cached(
            "SELECT aggregate, staged, diff_start, diff_end FROM session
             WHERE aggregate > ifnull(?1, -1) ORDER BY aggregate LIMIT ?2",
        )?;
        let rows = statement.query_map(params![after, sessions as i64], |row| {
            Ok((row.get(0)?, row.get(1)?, [row.get(2)?, row.get(3)?]))
        })?;
        let rows: Vec<(SessionKey, Option<Sequence>, [Option<String>; 2])> =
            rows.collect::<Result<_, _>>()?;
        let mut needed = Vec::new();
        let mut last = None;
        for (session, staged, ends) in rows {
            last = Some(session);
            needed.extend(ends.into_iter().flatten());
            match self.snapshots_of(session, staged) {
                Ok(found) => needed.extend(found),
                // No revert of a damaged session is possible.
                Err(error @ StoreError::Corrupt { .. }) => {
                    tracing::error!(%error, "the snapshots of a damaged session are not kept");
                }
                Err(error) => return Err(error),
            }
        }
        Ok((needed, last))
    }
}

impl Transaction<'_> {
    /// Records that a session tree was removed as a whole, so that all of its Managed Tool Output Files are deleted.
    pub fn remove_files_of_tree(&self, root: &SessionID) -> Result<(), StoreError> {
        self.run(
            "INSERT INTO removed_tree (root) VALUES (?) ON CONFLICT DO NOTHING",
            [root.as_str()],
        )
    }

    /// Records that files of removed sessions are deleted.
    pub fn files_deleted(&self, paths: &[String]) -> Result<(), StoreError> {
        for path in paths {
            self.run("DELETE FROM removed_file WHERE path = ?", [path])?;
        }
        Ok(())
    }

    /// Records that the files of a removed session tree are deleted.
    pub fn tree_deleted(&self, root: &SessionID) -> Result<(), StoreError> {
        self.run("DELETE FROM removed_tree WHERE root = ?", [root.as_str()])
    }

    /// Records that the snapshots of all sessions up to this removal are erased.
    pub fn snapshots_erased(&self, removal: i64) -> Result<(), StoreError> {
        self.run(
            "UPDATE removed SET swept = max(swept, ?) WHERE rowid = 1",
            [removal],
        )
    }
}
