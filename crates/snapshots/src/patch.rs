//! Differences of a file in the format of `git diff`.

use std::fmt::Write;

use git2::{DiffOptions, ObjectType, Oid, Patch};
use opencode_schema::session::{FileDiff, FileStatus};

use crate::entry::Mode;
use crate::error::SnapshotError;
use crate::objects::Objects;
use crate::tree::Item;

/// Git treats a file with a NUL among this many first bytes as binary.
const BINARY_BYTES: usize = 8000;

/// Maximum size of a file for a comparison of lines. Larger files count as binary.
const MAX_TEXT_BYTES: usize = 16 * 1024 * 1024;

/// Number of digits of an abbreviated id.
const ID_DIGITS: usize = 7;

/// A file on one side of a comparison.
struct ComparedFile {
    mode: Mode,
    id: Oid,
    content: Vec<u8>,
}

/// The lines of a patch with their counts.
#[derive(Default)]
struct Text {
    additions: u64,
    deletions: u64,
    patch: String,
}

/// Returns the difference between two files, or `None` if they are equal.
pub(crate) fn of(
    objects: &Objects,
    path: &str,
    from: Option<Item>,
    to: Option<Item>,
) -> Result<Option<FileDiff>, SnapshotError> {
    if from == to {
        return Ok(None);
    }
    let (from, to) = (side(objects, from)?, side(objects, to)?);
    let status = match (&from, &to) {
        (None, _) => FileStatus::Added,
        (_, None) => FileStatus::Deleted,
        _ => FileStatus::Modified,
    };
    let mut text = Text::default();
    match (&from, &to) {
        // Git treats a file that becomes a link as a deletion and an addition.
        (Some(from), Some(to)) if (from.mode == Mode::Link) != (to.mode == Mode::Link) => {
            text.append(path, Some(from), None)?;
            text.append(path, None, Some(to))?;
        }
        _ => text.append(path, from.as_ref(), to.as_ref())?,
    }
    Ok(Some(FileDiff {
        path: path.to_owned(),
        status,
        additions: text.additions,
        deletions: text.deletions,
        patch: text.patch,
    }))
}

fn side(objects: &Objects, item: Option<Item>) -> Result<Option<ComparedFile>, SnapshotError> {
    let Some(Item::File(mode, id)) = item else {
        return Ok(None);
    };
    let content = objects.read(id, ObjectType::Blob)?;
    Ok(Some(ComparedFile { mode, id, content }))
}

impl ComparedFile {
    fn is_binary(&self) -> bool {
        let head = &self.content[..self.content.len().min(BINARY_BYTES)];
        self.content.len() > MAX_TEXT_BYTES || head.contains(&0)
    }
}

impl Text {
    /// Appends the patch of one file, unless it is binary.
    fn append(
        &mut self,
        path: &str,
        from: Option<&ComparedFile>,
        to: Option<&ComparedFile>,
    ) -> Result<(), SnapshotError> {
        if from.is_some_and(ComparedFile::is_binary) || to.is_some_and(ComparedFile::is_binary) {
            return Ok(());
        }
        self.patch.push_str(&head(path, from, to));
        let old = from.map_or(&[][..], |side| &side.content);
        let new = to.map_or(&[][..], |side| &side.content);
        let given_up = |error: git2::Error| SnapshotError::GivenUp(error.to_string());
        let mut options = DiffOptions::new();
        options
            .context_lines(3)
            .indent_heuristic(true)
            .force_text(true);
        let patch = Patch::from_buffers(old, None, new, None, Some(&mut options));
        let patch = patch.map_err(given_up)?;
        let (_, additions, deletions) = patch.line_stats().map_err(given_up)?;
        self.additions += additions as u64;
        self.deletions += deletions as u64;
        if patch.num_hunks() > 0 {
            self.patch
                .push_str(&names(path, from.is_some(), to.is_some()));
        }
        for hunk in 0..patch.num_hunks() {
            self.hunk(&patch, hunk).map_err(given_up)?;
        }
        Ok(())
    }

    fn hunk(&mut self, patch: &Patch<'_>, hunk: usize) -> Result<(), git2::Error> {
        let (header, lines) = patch.hunk(hunk)?;
        self.bytes(header.header());
        for line in 0..lines {
            let line = patch.line_in_hunk(hunk, line)?;
            // The other origins report a missing newline at the end, and their content has the
            // complete text.
            if let origin @ (' ' | '+' | '-') = line.origin() {
                self.patch.push(origin);
            }
            self.bytes(line.content());
        }
        Ok(())
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.patch.push_str(&String::from_utf8_lossy(bytes));
    }
}

/// Returns the lines before the names: modes and ids.
fn head(path: &str, from: Option<&ComparedFile>, to: Option<&ComparedFile>) -> String {
    let mut head = format!("diff --git {} {}\n", quoted("a/", path), quoted("b/", path));
    let mode = |side: Option<&ComparedFile>| side.map(|side| side.mode.as_str());
    let modes = match (mode(from), mode(to)) {
        (None, Some(new)) => format!("new file mode {new}\n"),
        (Some(old), None) => format!("deleted file mode {old}\n"),
        (Some(old), Some(new)) if old != new => format!("old mode {old}\nnew mode {new}\n"),
        _ => String::new(),
    };
    head.push_str(&modes);
    let id = |side: Option<&ComparedFile>| side.map_or(Oid::ZERO_SHA1, |side| side.id);
    let (old, new) = (id(from), id(to));
    if old != new {
        let short = |id: Oid| {
            id.to_string()
                .get(..ID_DIGITS)
                .unwrap_or_default()
                .to_owned()
        };
        let mode = match modes.is_empty() {
            true => format!(" {}", mode(to).unwrap_or_default()),
            false => String::new(),
        };
        // Writing to a string cannot fail.
        let _ = writeln!(head, "index {}..{}{mode}", short(old), short(new));
    }
    head
}

/// Returns the lines that name both sides.
fn names(path: &str, has_old: bool, has_new: bool) -> String {
    let name = |exists: bool, prefix: &str| {
        if !exists {
            return "/dev/null".to_owned();
        }
        // Marks the end of a name with spaces.
        let end = if path.contains(' ') { "\t" } else { "" };
        format!("{}{end}", quoted(prefix, path))
    };
    format!("--- {}\n+++ {}\n", name(has_old, "a/"), name(has_new, "b/"))
}

/// Returns a name as Git writes it: in quotes if it contains special characters.
fn quoted(prefix: &str, path: &str) -> String {
    let special = |character: char| character.is_ascii_control() || matches!(character, '"' | '\\');
    if !path.contains(special) {
        return format!("{prefix}{path}");
    }
    let mut quoted = format!("\"{prefix}");
    for character in path.chars() {
        match character {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\x07' => quoted.push_str("\\a"),
            '\x08' => quoted.push_str("\\b"),
            '\t' => quoted.push_str("\\t"),
            '\n' => quoted.push_str("\\n"),
            '\x0b' => quoted.push_str("\\v"),
            '\x0c' => quoted.push_str("\\f"),
            '\r' => quoted.push_str("\\r"),
            other if other.is_ascii_control() => {
                let _ = write!(quoted, "\\{:03o}", u32::from(other));
            }
            other => quoted.push(other),
        }
    }
    quoted.push('"');
    quoted
}
