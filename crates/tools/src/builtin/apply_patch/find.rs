//! Finds lines in a file. Pure.

use std::borrow::Cow;

/// Normalizes a line for comparison. The list starts with the strictest way.
type Normalise = fn(&str) -> Cow<'_, str>;

const NORMALISATIONS: [Normalise; 4] = [
    |line| Cow::Borrowed(line),
    |line| Cow::Borrowed(line.trim_end()),
    |line| Cow::Borrowed(line.trim()),
    plain,
];

/// The lines of a file, normalized in each way when that way is first needed.
pub(super) struct FileLines<'a> {
    exact: Vec<&'a str>,
    seen: [Option<Vec<Cow<'a, str>>>; NORMALISATIONS.len()],
}

/// Which of several equal places is meant.
#[derive(Clone, Copy)]
pub(super) enum Preference {
    First,
    /// The one at the end of the file, else the first one.
    End,
    /// The one nearest to this line, counted from 0.
    Near(usize),
}

impl<'a> FileLines<'a> {
    pub(super) fn new(exact: Vec<&'a str>) -> Self {
        Self {
            exact,
            seen: [const { None }; NORMALISATIONS.len()],
        }
    }

    pub(super) fn len(&self) -> usize {
        self.exact.len()
    }

    /// Returns the position of `wanted` at or after `from`, for the strictest way that finds it.
    pub(super) fn find(
        &mut self,
        wanted: &[&str],
        from: usize,
        preference: Preference,
    ) -> Option<usize> {
        let last = self.len().checked_sub(wanted.len())?;
        let exact = &self.exact;
        NORMALISATIONS
            .iter()
            .zip(&mut self.seen)
            .find_map(|(normalise, seen)| {
                let seen =
                    seen.get_or_insert_with(|| exact.iter().map(|line| normalise(line)).collect());
                let wanted: Vec<_> = wanted.iter().map(|line| normalise(line)).collect();
                let stands = |at: &usize| seen[*at..*at + wanted.len()] == wanted;
                let mut places = (from..=last).filter(stands);
                match preference {
                    Preference::First => places.next(),
                    Preference::End => {
                        let end = (last >= from).then_some(last).filter(stands);
                        end.or_else(|| places.next())
                    }
                    Preference::Near(line) => places.min_by_key(|place| place.abs_diff(line)),
                }
            })
    }
}

/// Returns a line without surrounding space, with ASCII characters in place of typographic ones.
fn plain(line: &str) -> Cow<'_, str> {
    let line = line.trim();
    if line.is_ascii() {
        return Cow::Borrowed(line);
    }
    let mut text = String::new();
    for character in line.chars() {
        match character {
            '\u{2010}'..='\u{2015}' | '\u{2212}' => text.push('-'),
            '\u{2018}'..='\u{201b}' => text.push('\''),
            '\u{201c}'..='\u{201f}' => text.push('"'),
            '\u{2026}' => text.push_str("..."),
            '\u{a0}' | '\u{2002}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}' => {
                text.push(' ');
            }
            other => text.push(other),
        }
    }
    Cow::Owned(text)
}
