//! The change of one file, as a unified diff for programs.

use std::{
    fmt::Write,
    ops::Range,
    time::{Duration, Instant},
};

use super::text::{MAX_LINES, line_count};
use serde::Serialize;
use similar::{Algorithm, DiffOp, DiffTag, capture_diff_slices_deadline, group_diff_ops};

/// Number of unchanged lines around a change.
const CONTEXT: usize = 4;

/// Time to search for the shortest diff. After it, a longer diff is accepted.
const TIMEOUT: Duration = Duration::from_millis(500);

/// Maximum size of all hunks in bytes. Above it the hunks are left out, because the Session History
/// should not hold more.
const MAX_HUNK_BYTES: usize = 1024 * 1024;

const RULE: &str = "===================================================================";

/// One changed file.
#[derive(Debug, PartialEq, Serialize)]
pub(crate) struct FileDiff {
    /// The resource name that permission rules use.
    file: String,
    /// The diff. It has no hunks if they are over one MiB, or if the content is not text or has too
    /// many lines to compare.
    patch: String,
    additions: usize,
    deletions: usize,
    status: Status,
}

/// The kind of change.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Status {
    Added,
    Modified,
    Deleted,
}

impl FileDiff {
    /// Compares two texts.
    pub(crate) fn of(file: &str, before: &str, after: &str, status: Status) -> Self {
        if line_count(before).max(line_count(after)) > MAX_LINES {
            return Self::unknown(file, status);
        }
        let old: Vec<&str> = before.split_inclusive('\n').collect();
        let new: Vec<&str> = after.split_inclusive('\n').collect();
        let deadline = Instant::now() + TIMEOUT;
        let changes = capture_diff_slices_deadline(Algorithm::Myers, &old, &new, Some(deadline));
        let changed = |count: fn(&DiffOp) -> Range<usize>| -> usize {
            let changes = changes
                .iter()
                .filter(|change| change.tag() != DiffTag::Equal);
            changes.map(|change| count(change).len()).sum()
        };
        let mut diff = Self::unknown(file, status);
        diff.additions = changed(DiffOp::new_range);
        diff.deletions = changed(DiffOp::old_range);
        let mut hunks = String::new();
        for group in group_diff_ops(changes, CONTEXT) {
            write_hunk(&mut hunks, &group, &old, &new);
            if hunks.len() > MAX_HUNK_BYTES {
                return diff;
            }
        }
        diff.patch.push_str(&hunks);
        diff
    }

    /// Returns a change with unknown lines.
    pub(crate) fn unknown(file: &str, status: Status) -> Self {
        Self {
            patch: format!("Index: {file}\n{RULE}\n--- {file}\n+++ {file}\n"),
            file: file.to_owned(),
            additions: 0,
            deletions: 0,
            status,
        }
    }
}

fn write_hunk(hunks: &mut String, changes: &[DiffOp], old: &[&str], new: &[&str]) {
    let whole = |range: fn(&DiffOp) -> Range<usize>| {
        let (first, last) = (changes.first().map(range), changes.last().map(range));
        let (first, last) = (first.unwrap_or_default(), last.unwrap_or_default());
        // Lines are counted from 1. An empty range has the number of the line before it.
        let begin = first.start + usize::from(last.end > first.start);
        format!("{begin},{}", last.end - first.start)
    };
    let (removed, added) = (whole(DiffOp::old_range), whole(DiffOp::new_range));
    // Writing to a string cannot fail.
    let _ = writeln!(hunks, "@@ -{removed} +{added} @@");
    for change in changes {
        match change.tag() {
            DiffTag::Equal => write_lines(hunks, ' ', &old[change.old_range()]),
            _ => {
                write_lines(hunks, '-', &old[change.old_range()]);
                write_lines(hunks, '+', &new[change.new_range()]);
            }
        }
    }
}

fn write_lines(hunks: &mut String, mark: char, lines: &[&str]) {
    for line in lines {
        hunks.push(mark);
        hunks.push_str(line);
        if !line.ends_with('\n') {
            hunks.push_str("\n\\ No newline at end of file\n");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hunks(before: &str, after: &str) -> (String, usize, usize) {
        let diff = FileDiff::of("a.txt", before, after, Status::Modified);
        let head = format!("Index: a.txt\n{RULE}\n--- a.txt\n+++ a.txt\n");
        let hunks = diff
            .patch
            .strip_prefix(&head)
            .expect("the head comes first");
        (hunks.to_owned(), diff.additions, diff.deletions)
    }

    #[test]
    fn hunks_count_their_lines_and_mark_a_missing_newline() {
        let no_newline = "\\ No newline at end of file";
        for (before, after, expected, additions, deletions) in [
            ("", "", String::new(), 0, 0),
            ("", "a\nb\n", "@@ -0,0 +1,2 @@\n+a\n+b\n".into(), 2, 0),
            ("a\n", "", "@@ -1,1 +0,0 @@\n-a\n".into(), 0, 1),
            ("a\n", "b\n", "@@ -1,1 +1,1 @@\n-a\n+b\n".into(), 1, 1),
            ("a\r\n", "a\n", "@@ -1,1 +1,1 @@\n-a\r\n+a\n".into(), 1, 1),
            (
                "a",
                "a\n",
                format!("@@ -1,1 +1,1 @@\n-a\n{no_newline}\n+a\n"),
                1,
                1,
            ),
            (
                "a\nb",
                "c\nb",
                format!("@@ -1,2 +1,2 @@\n-a\n+c\n b\n{no_newline}\n"),
                1,
                1,
            ),
        ] {
            assert_eq!(hunks(before, after), (expected, additions, deletions));
        }
    }

    #[test]
    fn a_hunk_has_four_lines_of_context_and_joins_close_changes() {
        let lines = |from: u32, to: u32, mark: &str| -> String {
            (from..=to).map(|n| format!("{mark}{n}\n")).collect()
        };
        let before = lines(1, 30, "");
        let after = before.replace("\n10\n", "\n").replace("\n19\n", "\nx\n");
        let joined = format!(
            "@@ -6,18 +6,17 @@\n{}-10\n{}-19\n+x\n{}",
            lines(6, 9, " "),
            lines(11, 18, " "),
            lines(20, 23, " "),
        );
        assert_eq!(hunks(&before, &after), (joined, 1, 2));
        let after = before.replace("\n10\n", "\n").replace("\n20\n", "\nx\n");
        let apart = format!(
            "@@ -6,9 +6,8 @@\n{}-10\n{}@@ -16,9 +15,9 @@\n{}-20\n+x\n{}",
            lines(6, 9, " "),
            lines(11, 14, " "),
            lines(16, 19, " "),
            lines(21, 24, " "),
        );
        assert_eq!(hunks(&before, &after), (apart, 1, 2));
    }

    #[test]
    fn long_changes_are_counted_and_omitted() {
        let after = "line\n".repeat(300_000);
        assert_eq!(hunks("", &after), (String::new(), 300_000, 0));
    }
}
