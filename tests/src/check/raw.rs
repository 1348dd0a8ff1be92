//! Reads the file with SQLite before the runtime opens it.

use rusqlite::Connection;

use super::CheckError;
use crate::folder::Folder;

/// Reads a copy, because reading folds the write-ahead log into the file, and the next host must find
/// the file in its state after the kill. Returns the number of entries.
pub(super) fn check(folder: &Folder, findings: &mut Vec<String>) -> Result<u64, CheckError> {
    let copy = folder.copy_for("raw")?;
    if !copy.database().exists() {
        return Ok(0);
    }
    let connection = Connection::open(copy.database())?;
    let integrity: String = connection.query_row("PRAGMA integrity_check", [], |row| row.get(0))?;
    if integrity != "ok" {
        findings.push(format!("integrity_check: {integrity}"));
    }
    let has_tables: bool = connection.query_row(
        "SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE name = 'event')",
        [],
        |row| row.get(0),
    )?;
    if !has_tables {
        return Ok(0);
    }
    for (problem, sql) in LAWS {
        let broken: i64 = connection.query_row(sql, [], |row| row.get(0))?;
        if broken > 0 {
            findings.push(format!("{problem} ({broken})"));
        }
    }
    let entries: i64 = connection.query_row("SELECT count(*) FROM event", [], |row| row.get(0))?;
    Ok(entries as u64)
}

/// Problem, and a query that counts its occurrences.
const LAWS: [(&str, &str); 5] = [
    (
        "a row refers to nothing",
        "SELECT count(*) FROM pragma_foreign_key_check",
    ),
    (
        "the sequence of a log has a gap, or its end is not its newest entry",
        "SELECT count(*) FROM aggregate a
         LEFT JOIN (
            SELECT aggregate, min(seq) first, max(seq) last, count(*) entries
            FROM event GROUP BY aggregate
         ) e ON e.aggregate = a.key
         WHERE e.first IS NOT 0 OR e.last IS NOT a.seq OR e.entries IS NOT a.seq + 1",
    ),
    (
        "a log has no session",
        "SELECT count(*) FROM aggregate WHERE key NOT IN (SELECT aggregate FROM session)",
    ),
    (
        "a message or an input has no entry",
        "SELECT count(*) FROM (
            SELECT aggregate, seq FROM message
            UNION ALL SELECT aggregate, admitted FROM input
            UNION ALL SELECT aggregate, promoted FROM input WHERE promoted IS NOT NULL
            UNION ALL SELECT aggregate, withdrawn FROM input WHERE withdrawn IS NOT NULL
         ) r LEFT JOIN event e ON e.aggregate = r.aggregate AND e.seq = r.seq
         WHERE e.seq IS NULL",
    ),
    (
        "an input is promoted and withdrawn",
        "SELECT count(*) FROM input WHERE promoted IS NOT NULL AND withdrawn IS NOT NULL",
    ),
];
