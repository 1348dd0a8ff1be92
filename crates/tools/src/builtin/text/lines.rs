//! Changes of lines, in which each line that stays keeps its bytes.

use std::{
    borrow::Cow,
    time::{Duration, Instant},
};

use similar::{Algorithm, DiffOp, capture_diff_slices_deadline};

use super::{
    Edit,
    ends::{End, Line},
};

/// Time to compare lines. After it, more lines than necessary count as changed.
const TIMEOUT: Duration = Duration::from_millis(200);

/// A line of the text after a change.
#[derive(Debug, PartialEq)]
pub(crate) struct NewLine<'a> {
    pub(crate) text: Cow<'a, str>,
    /// The end, if the change decides about it.
    pub(crate) end: Option<End>,
    /// The number of the old line that this one is or replaces.
    pub(crate) like: Option<usize>,
}

/// Ends for new lines.
#[derive(Clone, Copy)]
pub(crate) enum NewEnds {
    /// Like the lines that they replace, else like the lines around them: `before` and `after` the changed part. Without
    /// any, the `usual` end.
    Around {
        before: Option<End>,
        after: Option<End>,
        usual: End,
    },
    /// This one.
    Usual(End),
}

/// Returns the changes from old lines to new ones, whose member `like` is set here. `start` is the position of the
/// old lines in the text.
pub(crate) fn changes(
    old: &[Line<'_>],
    new: &mut [NewLine<'_>],
    start: usize,
    ends: NewEnds,
) -> Vec<Edit> {
    let operations = align(old, new, ends);
    let ends = choose_ends(old, new, ends);
    let mut edits = Vec::new();
    for operation in operations {
        let (was, is) = (operation.old_range(), operation.new_range());
        if !matches!(operation, DiffOp::Equal { .. }) {
            let at = start + position(old, was.start);
            let end = start + position(old, was.end);
            edits.push(Edit {
                range: at..end,
                text: joined(&new[is.clone()], &ends[is]),
            });
            continue;
        }
        for (was, is) in was.zip(is) {
            if old[was].end != ends[is] {
                let range = old[was].range();
                edits.push(Edit {
                    range: start + range.start..start + range.end,
                    text: joined(&new[is..=is], &ends[is..=is]),
                });
            }
        }
    }
    edits
}

/// Returns the position at which a line begins, or the end of the last one.
fn position(lines: &[Line<'_>], number: usize) -> usize {
    let last = lines.last().map_or(0, |line| line.range().end);
    lines.get(number).map_or(last, |line| line.start)
}

fn joined(lines: &[NewLine<'_>], ends: &[End]) -> String {
    let lines = lines.iter().zip(ends);
    lines
        .flat_map(|(line, end)| [&*line.text, end.text()])
        .collect()
}

/// Compares the lines, and sets which old line each new one is or replaces.
fn align(old: &[Line<'_>], new: &mut [NewLine<'_>], ends: NewEnds) -> Vec<DiffOp> {
    let before: Vec<&str> = old.iter().map(|line| line.text).collect();
    let after: Vec<&str> = new.iter().map(|line| &*line.text).collect();
    let deadline = Some(Instant::now() + TIMEOUT);
    let operations = capture_diff_slices_deadline(Algorithm::Myers, &before, &after, deadline);
    let has_place = |operation: &&DiffOp| {
        matches!(
            (operation, ends),
            (DiffOp::Equal { .. }, _) | (DiffOp::Replace { .. }, NewEnds::Around { .. })
        )
    };
    for operation in operations.iter().filter(has_place) {
        let was = operation.old_range();
        for (index, line) in new[operation.new_range()].iter_mut().enumerate() {
            line.like = Some((was.start + index).min(was.end - 1));
        }
    }
    operations
}

/// Chooses the end of each new line.
pub(crate) fn choose_ends(old: &[Line<'_>], new: &[NewLine<'_>], ends: NewEnds) -> Vec<End> {
    let exists = |end: &End| *end != End::Missing;
    let known = |line: &NewLine<'_>| {
        let like = line.like.map(|like| old[like].end);
        line.end.or(like.filter(exists))
    };
    let mut previous = match ends {
        NewEnds::Usual(end) => end,
        NewEnds::Around {
            before,
            after,
            usual,
        } => {
            let new = new.iter().filter_map(known).find(exists);
            let old = || old.iter().map(|line| line.end).find(exists);
            let around = new.or_else(old).or(before).or(after);
            around.unwrap_or(usual)
        }
    };
    let mut chosen = Vec::with_capacity(new.len());
    for line in new {
        let end = known(line).unwrap_or(previous);
        if exists(&end) && matches!(ends, NewEnds::Around { .. }) {
            previous = end;
        }
        chosen.push(end);
    }
    chosen
}

/// Collects the lines of a text that consists of kept and new parts.
#[derive(Default)]
pub(crate) struct Lines {
    lines: Vec<NewLine<'static>>,
    line: String,
}

impl Lines {
    /// Adds lines with their ends.
    pub(crate) fn keep(&mut self, lines: &[Line<'_>]) {
        for line in lines {
            self.line.push_str(line.text);
            if line.end != End::Missing {
                self.end(Some(line.end));
            }
        }
    }

    /// Adds a text in which LF ends the lines.
    pub(crate) fn put(&mut self, text: &str) {
        let mut lines = text.split('\n');
        self.line.push_str(lines.next().unwrap_or_default());
        for line in lines {
            self.end(None);
            self.line.push_str(line);
        }
    }

    fn end(&mut self, end: Option<End>) {
        self.lines.push(NewLine {
            text: std::mem::take(&mut self.line).into(),
            end,
            like: None,
        });
    }

    pub(crate) fn finish(mut self) -> Vec<NewLine<'static>> {
        if !self.line.is_empty() {
            self.end(Some(End::Missing));
        }
        self.lines
    }
}

/// Returns the text after changes.
#[cfg(test)]
pub(crate) fn applied(text: &str, edits: &[Edit]) -> String {
    let mut after = String::new();
    let mut end = 0;
    for edit in edits {
        after.push_str(&text[end..edit.range.start]);
        after.push_str(&edit.text);
        end = edit.range.end;
    }
    after + &text[end..]
}
