//! Finds the occurrences of a text and replaces them. Pure.

use std::{borrow::Cow, ops::Range};

use crate::builtin::text::{
    Edit,
    ends::Style,
    lines::{Lines, NewEnds, changes},
    nearest,
};

/// Maximum number of matches whose lines are named.
const MAX_NAMED: usize = 10;

/// Reason why a replacement cannot be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Mismatch {
    #[error("No changes to apply: oldString and newString are the same.")]
    Same,
    #[error(
        "No changes to apply: oldString and newString differ only in the ends of their lines, and edit keeps the ends \
         that the file has."
    )]
    SameLines,
    #[error("oldString must not be empty. Use write to create a file or to replace a whole one.")]
    Empty,
    #[error(
        "oldString was not found in the file. It must match exactly, with all whitespace and \
         indentation. Read the file again and copy the text from there.{0}"
    )]
    Missing(String),
    #[error(
        "oldString was found {count} times in the file. Add lines around it until it is the only \
         match, or set replaceAll to replace every one. The matches begin in the lines {}{}.",
        numbers(.lines), if .count > &.lines.len() { " and more" } else { "" }
    )]
    Ambiguous {
        count: usize,
        /// The lines of the first matches.
        lines: Vec<usize>,
    },
    #[error("the file would be too large")]
    TooLarge,
}

impl Mismatch {
    /// Returns the same reason, without a part of the file unless it may be shown.
    pub(super) fn shown(self, is_shown: bool) -> Self {
        match self {
            Self::Missing(_) if !is_shown => Self::Missing(nearest::HIDDEN.to_owned()),
            other => other,
        }
    }
}

fn numbers(lines: &[usize]) -> String {
    let numbers: Vec<_> = lines.iter().map(usize::to_string).collect();
    numbers.join(", ")
}

#[derive(Debug, PartialEq)]
pub(super) struct Replacement {
    /// The changes, in order.
    pub(super) edits: Vec<Edit>,
    pub(super) count: usize,
}

/// Finds `old`, which must occur exactly once unless `all` is set, and returns the changes that put `new` there. The
/// ends of lines match whichever kind they are, and a new line gets the end of the lines around it. No character of
/// `new` has a special meaning. The result has at most `max_bytes`.
pub(super) fn replace(
    text: &str,
    old: &str,
    new: &str,
    all: bool,
    max_bytes: u64,
) -> Result<Replacement, Mismatch> {
    let (old, new) = (unified(old), unified(new));
    if old == new {
        return Err(Mismatch::SameLines);
    }
    let found = find(text, &old, &new)?;
    let count = found.ranges.len();
    match count {
        0 => return Err(Mismatch::Missing(nearest::to(text, &old))),
        1 => {}
        _ if all => {}
        _ => {
            let line = |range: &Range<usize>| text[..range.start].matches('\n').count() + 1;
            let lines = found.ranges.iter().take(MAX_NAMED).map(line).collect();
            return Err(Mismatch::Ambiguous { count, lines });
        }
    }
    let removed: usize = found.ranges.iter().map(Range::len).sum();
    let added = found.new.len().saturating_mul(count);
    if (text.len() - removed).saturating_add(added) as u64 > max_bytes {
        return Err(Mismatch::TooLarge);
    }
    let edits = edits(text, &found);
    let length = edits.iter().fold(text.len(), |length, edit| {
        length - edit.range.len() + edit.text.len()
    });
    if length as u64 > max_bytes {
        return Err(Mismatch::TooLarge);
    }
    Ok(Replacement { edits, count })
}

/// The matches in the text, and the text to put there.
struct Found<'a> {
    ranges: Vec<Range<usize>>,
    new: Cow<'a, str>,
}

/// Finds the matches in the strictest way that finds any.
fn find<'a>(text: &str, old: &str, new: &'a str) -> Result<Found<'a>, Mismatch> {
    let mut file = Unified::of(text);
    let (mut old, mut new) = (Cow::Borrowed(old), Cow::Borrowed(new));
    let mut ranges = file.find(&old);
    if ranges.is_empty() && (file.text.contains('\r') || old.contains('\r')) {
        // A single CR may be the end of a line, too.
        let lines = |text: &str| text.replace('\r', "\n");
        file.text = lines(&file.text).into();
        (old, new) = (lines(&old).into(), lines(&new).into());
        ranges = file.find(&old);
    }
    if ranges.is_empty()
        && let Some(line) = old.strip_suffix('\n')
        && !line.is_empty()
        && !file.text.ends_with('\n')
        && file.text.ends_with(line)
    {
        // The last line of the file has no end, which the model cannot know.
        let start = file.place(file.text.len() - line.len());
        ranges.push(start..text.len());
        if new.ends_with('\n') {
            new.to_mut().pop();
        }
        old = line.to_owned().into();
    }
    if old == new && !ranges.is_empty() {
        return Err(Mismatch::SameLines);
    }
    Ok(Found { ranges, new })
}

/// Returns a text in which each CRLF is an LF.
fn unified(text: &str) -> Cow<'_, str> {
    if text.contains("\r\n") {
        text.replace("\r\n", "\n").into()
    } else {
        text.into()
    }
}

/// The text of a file in which each CRLF is an LF.
struct Unified<'a> {
    text: Cow<'a, str>,
    /// The positions of each LF that was a CRLF.
    dropped: Vec<usize>,
}

impl<'a> Unified<'a> {
    fn of(text: &'a str) -> Self {
        let ends = text.match_indices("\r\n").enumerate();
        Self {
            dropped: ends.map(|(index, (at, _))| at - index).collect(),
            text: unified(text),
        }
    }

    /// Returns the place of a position in the file.
    fn place(&self, position: usize) -> usize {
        position + self.dropped.partition_point(|dropped| *dropped < position)
    }

    fn find(&self, wanted: &str) -> Vec<Range<usize>> {
        let found = self.text.match_indices(wanted);
        let range = |(at, _)| self.place(at)..self.place(at + wanted.len());
        found.map(range).collect()
    }
}

/// Returns the changes for matches, which are in order. Matches in the same lines are changed together.
fn edits(text: &str, found: &Found<'_>) -> Vec<Edit> {
    let style = Style::of(text);
    let mut edits = Vec::new();
    let mut rest = found.ranges.as_slice();
    while let Some(first) = rest.first() {
        let mut lines = style.around(text, first);
        let mut count = 1;
        while let Some(next) = rest.get(count).filter(|next| next.start < lines.end) {
            if next.end >= lines.end {
                lines.end = style.line_end(text, next.end);
            }
            count += 1;
        }
        let (matches, later) = rest.split_at(count);
        edits.extend(change_lines(text, &style, lines, matches, &found.new));
        rest = later;
    }
    edits
}

/// Returns the changes of whole lines that contain matches.
fn change_lines(
    text: &str,
    style: &Style,
    lines: Range<usize>,
    matches: &[Range<usize>],
    new: &str,
) -> Vec<Edit> {
    let mut after = Lines::default();
    let mut position = lines.start;
    for found in matches {
        after.keep(&style.lines(&text[position..found.start]));
        after.put(new);
        position = found.end;
    }
    after.keep(&style.lines(&text[position..lines.end]));
    let ends = NewEnds::Around {
        before: style.end_before(text, lines.start),
        after: style.end_after(text, lines.end),
        usual: style.usual,
    };
    let old = style.lines(&text[lines.clone()]);
    changes(&old, &mut after.finish(), lines.start, ends)
}

#[cfg(test)]
mod tests;
