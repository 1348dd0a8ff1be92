//! Finds the lines of a patch in the text of a model.

use super::marker::{self, Kind, Marker};

/// A line of the patch.
#[derive(Clone, Copy)]
pub(super) struct Row<'a> {
    /// Counted from 1.
    pub(super) number: usize,
    pub(super) text: &'a str,
    /// True if a CR is before its LF.
    pub(super) has_cr: bool,
}

impl Row<'_> {
    pub(super) fn is_blank(&self) -> bool {
        self.text.is_empty()
    }

    pub(super) fn invalid(&self, what: &str) -> String {
        let Self { number, text, .. } = self;
        format!("Invalid {what}: {text} (line {number} of patchText). Nothing was changed.")
    }
}

/// The lines from the first one of a patch to the end of the text.
pub(super) struct Body<'a> {
    pub(super) rows: Vec<Row<'a>>,
    /// The indentation of the markers.
    pub(super) indentation: usize,
    /// True if the patch has its first and its last line.
    pub(super) is_delimited: bool,
}

impl<'a> Body<'a> {
    /// Finds the lines of a patch in a text.
    pub(super) fn of(text: &'a str) -> Self {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let rows = text.split('\n').enumerate();
        let mut rows: Vec<_> = rows
            .map(|(index, line)| Row {
                number: index + 1,
                text: line.strip_suffix('\r').unwrap_or(line),
                has_cr: line.ends_with('\r'),
            })
            .collect();
        let is = |row: &Row<'_>, wanted| marker::marker(row.text.trim_start()) == Some(wanted);
        let begin = rows.iter().position(|row| is(row, Marker::Begin));
        let diff = (0..rows.len()).find(|index| {
            rows[*index].text.starts_with("diff --git ") || header(&rows[*index..]).is_some()
        });
        // Behind the header of a diff, the markers of a patch are content.
        let is_before_diff = |at: &usize| diff.is_none_or(|diff| *at < diff);
        let begin = begin.filter(is_before_diff);
        let first = begin.or_else(|| {
            let is_file = |row: &Row<'_>| {
                matches!(
                    marker::marker(row.text.trim_start()),
                    Some(Marker::File(..))
                )
            };
            rows.iter()
                .position(is_file)
                .filter(is_before_diff)
                .or(diff)
        });
        let Some(first) = first else {
            rows.clear();
            return Self::dedented(rows, 0, false);
        };
        let end = rows[first..].iter().position(|row| is(row, Marker::End));
        if end.is_none() {
            drop_wrapper(&mut rows, first);
        }
        let rows: Vec<_> = rows.drain(first..).collect();
        let indentation = rows.first().map_or(0, |row| indentation(row.text));
        Self::dedented(rows, indentation, begin.is_some() && end.is_some())
    }

    /// Removes the indentation of the first line if every line has it.
    fn dedented(mut rows: Vec<Row<'a>>, mut indentation: usize, is_delimited: bool) -> Self {
        let end = rows
            .iter()
            .position(|row| marker::marker(row.text.trim_start()) == Some(Marker::End));
        let body = &rows[..end.map_or(rows.len(), |end| end + 1)];
        let space = rows.first().map_or("", |row| &row.text[..indentation]);
        let is_indented = |row: &Row<'_>| row.text.trim().is_empty() || row.text.starts_with(space);
        if indentation > 0 && body.iter().all(is_indented) {
            // The whole patch is indented.
            for row in &mut rows {
                row.text = row.text.strip_prefix(space).unwrap_or(row.text);
            }
            indentation = 0;
        }
        Self {
            rows,
            indentation,
            is_delimited,
        }
    }
}

pub(super) fn indentation(text: &str) -> usize {
    text.len() - text.trim_start().len()
}

/// Returns the change that the next two rows of a unified diff name.
pub(super) fn header<'a>(rows: &[Row<'a>]) -> Option<(Kind, &'a str)> {
    let [old, new, ..] = rows else {
        return None;
    };
    marker::diff_header(old.text, new.text)
}

/// Removes what ends a block of code or a command around a patch without a last line.
fn drop_wrapper(rows: &mut Vec<Row<'_>>, first: usize) {
    let before = &rows[..first];
    let is_fenced = before.iter().any(|row| marker::is_fence(row.text));
    let word = before
        .iter()
        .rev()
        .find_map(|row| row.text.split_once("<<"));
    let word = word.map(|(_, word)| word.trim().trim_matches(['"', '\'', '-']).to_owned());
    while let Some(row) = rows.last().filter(|_| rows.len() > first) {
        let text = row.text.trim();
        let is_wrapper = text.is_empty()
            || (is_fenced && marker::is_fence(text))
            || word.as_deref() == Some(text);
        if !is_wrapper {
            break;
        }
        rows.pop();
    }
}
