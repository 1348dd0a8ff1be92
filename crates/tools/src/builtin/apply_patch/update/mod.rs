//! Applies the chunks of an update to a text. Pure.

use std::borrow::Cow;

use super::{
    find::{FileLines, Preference},
    parse::{Chunk, Line, Numbers},
};
use crate::builtin::text::{
    Edit,
    ends::{self, End, Style},
    lines::{NewEnds, NewLine, choose_ends},
    nearest,
};

/// Returns the changes of the text, in order. Each line that stays keeps its bytes, a new line ends like the lines around
/// it, and the last line has no end only if it had none or the patch says so. `path` is for error messages, which show
/// parts of the file if `is_shown` is true.
pub(super) fn update(
    text: &str,
    chunks: &[Chunk],
    path: &str,
    is_shown: bool,
) -> Result<Vec<Edit>, String> {
    let style = Style::of(text);
    let lines = style.lines(text);
    let mut file = File {
        lines: FileLines::new(lines.iter().map(|line| line.text).collect()),
        text,
        path,
        is_shown,
    };
    let mut places = Vec::new();
    let mut cursor = 0;
    for chunk in chunks {
        let place = file.place(chunk, &mut cursor)?;
        places.push((place, chunk));
    }
    // An insertion at the end of the file may come before other chunks of the patch.
    places.sort_by_key(|(place, _)| place.at);
    let mut edits = Vec::new();
    let mut end = 0;
    for (place, chunk) in &places {
        if place.at < end {
            return Err(format!(
                "Failed to change {path}: the chunks at line {} of patchText and before it change the same lines. \
                 Nothing was changed.",
                chunk.number
            ));
        }
        end = place.at + place.removes;
        // False if a chunk before this one has removed the last line or ended it.
        let has_open_line = match edits.last() {
            Some(Edit { range, text: new }) if range.end == text.len() => {
                !new.is_empty() && !new.ends_with(['\n', '\r'])
            }
            _ => true,
        };
        let changes = place.edits(text, &style, &lines, chunk.is_open, has_open_line);
        edits.extend(changes);
    }
    Ok(edits)
}

/// A replacement of consecutive lines.
struct Place<'a> {
    at: usize,
    removes: usize,
    lines: Vec<Cow<'a, Line>>,
}

struct File<'a> {
    lines: FileLines<'a>,
    text: &'a str,
    path: &'a str,
    is_shown: bool,
}

impl File<'_> {
    /// Finds the place of a chunk at or after the cursor, and sets the cursor behind it.
    fn place<'c>(&mut self, chunk: &'c Chunk, cursor: &mut usize) -> Result<Place<'c>, String> {
        match (&chunk.context, chunk.numbers) {
            (None, _) => {}
            // The heading of a unified diff is a line somewhere before the chunk. It tells the place only if it stands
            // once.
            (Some(heading), Some(_)) => {
                if let Some(only) = self.lines.find_only(heading) {
                    *cursor = (*cursor).max(only + 1);
                }
            }
            (Some(context), None) => {
                let found = self.lines.find(&[context], *cursor, Preference::First);
                *cursor = found.ok_or_else(|| self.missing_context(context, chunk))? + 1;
            }
        }
        let [head, tail] = chunk.empty;
        let lines = chunk.lines.as_slice();
        let bare = &lines[head..lines.len().saturating_sub(tail).max(head)];
        if old_lines(bare).is_empty() {
            // Behind a context, an empty line before new lines may be a line of the file.
            if head > 0 && chunk.context.is_some() && !bare.is_empty() {
                let found = self.find(&lines[..lines.len() - tail], *cursor, chunk);
                if let Some(place) = found.filter(|place| place.removes > 0) {
                    *cursor = place.at + place.removes;
                    return Ok(place);
                }
            }
            return self.insertion(bare, chunk);
        }
        let found = if head + tail == 0 {
            self.find(lines, *cursor, chunk)
        } else {
            self.find_with_empty_lines(chunk, bare, *cursor)?
        };
        let place = found.ok_or_else(|| self.missing_lines(chunk))?;
        if place.removes > 0 {
            *cursor = place.at + place.removes;
        }
        Ok(place)
    }

    /// Finds a chunk that begins or ends with empty lines. They are lines of the file if it has them there, else they
    /// only separate the parts of the patch.
    fn find_with_empty_lines<'c>(
        &mut self,
        chunk: &'c Chunk,
        bare: &'c [Line],
        cursor: usize,
    ) -> Result<Option<Place<'c>>, String> {
        let [head, tail] = chunk.empty;
        let lines = chunk.lines.as_slice();
        let found_bare = self.find(bare, cursor, chunk);
        for (lines, head) in [
            (lines, head),
            (&lines[..lines.len() - tail], head),
            (&lines[head..], 0),
        ] {
            let Some(found) = self.find(lines, cursor, chunk) else {
                continue;
            };
            let Some(bare) = found_bare.filter(|bare| bare.at != found.at + head) else {
                return Ok(Some(found));
            };
            return Err(format!(
                "Failed to find one place for the chunk at line {} of patchText in {}: with its empty lines it fits at \
                 line {}, without them at line {}. Begin each line that stays with a space. Nothing was changed.",
                chunk.number,
                self.path,
                found.at + 1,
                bare.at + 1,
            ));
        }
        Ok(found_bare)
    }

    fn find<'c>(&mut self, lines: &'c [Line], cursor: usize, chunk: &Chunk) -> Option<Place<'c>> {
        let mut lines: Vec<_> = lines.iter().map(Cow::Borrowed).collect();
        let mut old = old_lines(&lines);
        let preference = match chunk.numbers {
            _ if chunk.at_end => Preference::End,
            Some(numbers) => Preference::Near(numbers.line.saturating_sub(1)),
            None => Preference::First,
        };
        let mut at = self.lines.find(&old, cursor, preference);
        let mut removes = old.len();
        if at.is_none() && old.last() == Some(&"") {
            // Models often treat the newline at the end of the last line as one more line.
            old.pop();
            removes = old.len();
            at = if old.is_empty() {
                Some(self.lines.len())
            } else {
                self.lines.find(&old, cursor, preference)
            };
            drop_last_empty(&mut lines);
        }
        Some(Place {
            at: at?,
            removes,
            lines,
        })
    }

    /// Places lines for which the patch names no line of the file.
    fn insertion<'c>(&self, lines: &'c [Line], chunk: &Chunk) -> Result<Place<'c>, String> {
        let at = match chunk.numbers {
            None => self.lines.len(),
            Some(Numbers { line, count: 0 }) if line <= self.lines.len() => line,
            Some(_) => {
                return Err(format!(
                    "Failed to find the place for the chunk at line {} of patchText in {}: it has no line of the file. \
                     Add the lines before and after the change. Nothing was changed.",
                    chunk.number, self.path
                ));
            }
        };
        Ok(Place {
            at,
            removes: 0,
            lines: lines.iter().map(Cow::Borrowed).collect(),
        })
    }

    fn missing_context(&self, context: &str, chunk: &Chunk) -> String {
        format!(
            "Failed to find context '{context}' in {} (line {} of patchText). Nothing was changed.{}",
            self.path,
            chunk.number,
            self.similar_to(context)
        )
    }

    fn similar_to(&self, wanted: &str) -> String {
        if self.is_shown {
            nearest::to(self.text, wanted)
        } else {
            nearest::HIDDEN.to_owned()
        }
    }

    fn missing_lines(&self, chunk: &Chunk) -> String {
        let expected = old_lines(&chunk.lines).join("\n");
        let unmarked = chunk.unmarked.as_ref().map(|(number, line)| {
            format!(
                " Line {number} of patchText has none of the marks space, - and +, so it counts as a line that stays: \
                 {line:?}."
            )
        });
        format!(
            "Failed to find expected lines in {}:\n{expected}\nThe chunk begins in line {} of patchText. Nothing was \
             changed.{}{}",
            self.path,
            chunk.number,
            unmarked.unwrap_or_default(),
            self.similar_to(&expected)
        )
    }
}

fn old_lines<L: AsRef<Line>>(lines: &[L]) -> Vec<&str> {
    let old = lines.iter().filter_map(|line| match line.as_ref() {
        Line::Keep(text) | Line::Remove(text) => Some(text.as_str()),
        Line::Insert(_) => None,
    });
    old.collect()
}

impl AsRef<Line> for Line {
    fn as_ref(&self) -> &Line {
        self
    }
}

/// Removes the last old line, which is empty, and also an empty new line at the end.
fn drop_last_empty(lines: &mut Vec<Cow<'_, Line>>) {
    let is_old = |line: &Cow<'_, Line>| !matches!(**line, Line::Insert(_));
    let Some(last) = lines.iter().rposition(is_old) else {
        return;
    };
    let is_kept = matches!(*lines[last], Line::Keep(_));
    if is_kept && last + 1 == lines.len() {
        // This line is the last old line and the last new line.
        lines.pop();
        return;
    }
    if is_kept {
        // The line stays, as an insertion before the new lines that follow it.
        lines[last] = Cow::Owned(Line::Insert(String::new()));
    } else {
        lines.remove(last);
    }
    let is_empty = |line: &Cow<'_, Line>| matches!(&**line, Line::Insert(text) if text.is_empty());
    if lines.last().is_some_and(is_empty) {
        lines.pop();
    }
}

impl Place<'_> {
    /// Returns the changes of the text. Kept lines stay as they are in the file, so a loose comparison does not change
    /// them.
    fn edits(
        &self,
        text: &str,
        style: &Style,
        file: &[ends::Line<'_>],
        is_open: [bool; 2],
        has_open_line: bool,
    ) -> Vec<Edit> {
        let old = &file[self.at..self.at + self.removes];
        let mut new = self.new_lines();
        let is_at_end = self.at + self.removes == file.len();
        let start = file.get(self.at).map_or(text.len(), |line| line.start);
        let mut edits = Vec::new();
        if is_at_end {
            self.end_of_file(file, is_open, &mut new);
            let last = file.last().filter(|last| last.end == End::Missing);
            let last = last.filter(|_| has_open_line);
            if let Some(last) = last.filter(|_| old.is_empty() && !new.is_empty()) {
                // The line before an insertion at the end of the file gets an end.
                let end = style.end_before(text, last.start).unwrap_or(style.usual);
                edits.push(Edit {
                    range: text.len()..text.len(),
                    text: end.text().to_owned(),
                });
            }
        }
        let ends = NewEnds::Around {
            before: style.end_before(text, start),
            after: style.end_after(text, old.last().map_or(start, |line| line.range().end)),
            usual: style.usual,
        };
        let mut chosen = choose_ends(old, &new, ends).into_iter().zip(new);
        let mut next = 0;
        let mut change = Edit {
            range: start..start,
            text: String::new(),
        };
        for line in &self.lines {
            match &**line {
                Line::Keep(_) => {
                    let kept = &old[next];
                    let end = chosen.next().map_or(kept.end, |(end, _)| end);
                    next += 1;
                    let position = kept.range().end;
                    if end == kept.end {
                        edits.push(std::mem::replace(
                            &mut change,
                            Edit {
                                range: position..position,
                                text: String::new(),
                            },
                        ));
                    } else {
                        change.text.extend([kept.text, end.text()]);
                        change.range.end = position;
                    }
                }
                Line::Remove(_) => {
                    change.range.end = old[next].range().end;
                    next += 1;
                }
                Line::Insert(_) => {
                    if let Some((end, line)) = chosen.next() {
                        change.text.extend([&*line.text, end.text()]);
                    }
                }
            }
        }
        edits.push(change);
        edits.retain(|edit| !edit.range.is_empty() || !edit.text.is_empty());
        edits
    }

    /// Returns the lines after the change. An inserted line replaces the removed line of the same number in a row of
    /// changed lines.
    fn new_lines(&self) -> Vec<NewLine<'_>> {
        let mut new: Vec<NewLine<'_>> = Vec::new();
        let mut next = 0;
        // The removed lines of the row, and the inserted ones.
        let (mut removed, mut inserted) = (0..0, 0..0);
        for line in &self.lines {
            match &**line {
                Line::Keep(text) => {
                    new.push(new_line(text, Some(next)));
                    next += 1;
                    removed = next..next;
                    inserted = new.len()..new.len();
                }
                Line::Remove(_) => {
                    next += 1;
                    removed.end = next;
                }
                Line::Insert(text) => {
                    new.push(new_line(text, None));
                    inserted.end = new.len();
                }
            }
            if let Some(last) = removed.clone().last() {
                for (index, line) in new[inserted.clone()].iter_mut().enumerate() {
                    line.like = Some((removed.start + index).min(last));
                }
            }
        }
        new
    }

    /// Sets the end of the last line of the file: that of the last line before, unless the patch says otherwise.
    fn end_of_file(
        &self,
        file: &[ends::Line<'_>],
        [was_open, is_open]: [bool; 2],
        new: &mut [NewLine<'_>],
    ) {
        let had_none = file.last().is_some_and(|last| last.end == End::Missing);
        let Some(last) = new.last_mut() else {
            return;
        };
        let is_old = last.end.is_none() && self.removes > 0 && last.like == Some(self.removes - 1);
        let is_kept = self
            .lines
            .iter()
            .rev()
            .find(|line| !matches!(***line, Line::Remove(_)));
        let is_kept = matches!(is_kept.map(|line| &**line), Some(Line::Keep(_)));
        // A line that stays keeps its end.
        let has_none = had_none && (is_old || !is_kept) && !(was_open && !is_open && !is_kept);
        if is_open || has_none {
            last.end = Some(End::Missing);
        }
    }
}

fn new_line(text: &str, like: Option<usize>) -> NewLine<'_> {
    NewLine {
        text: text.into(),
        end: None,
        like,
    }
}

#[cfg(test)]
mod tests;
