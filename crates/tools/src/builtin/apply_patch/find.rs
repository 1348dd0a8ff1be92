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

    /// Returns the position of a line that stands only once.
    pub(super) fn find_only(&mut self, line: &str) -> Option<usize> {
        let first = self.find(&[line], 0, Preference::First)?;
        let again = self.find(&[line], first + 1, Preference::First);
        again.is_none().then_some(first)
    }

    /// Returns the position of `wanted` at or after `from`, for the strictest way that finds it.
    pub(super) fn find(
        &mut self,
        wanted: &[&str],
        from: usize,
        preference: Preference,
    ) -> Option<usize> {
        let last = self.len().checked_sub(wanted.len())?;
        if wanted.is_empty() {
            return (from <= last).then_some(from);
        }
        let exact = &self.exact;
        NORMALISATIONS
            .iter()
            .zip(&mut self.seen)
            .find_map(|(normalise, seen)| {
                let seen =
                    seen.get_or_insert_with(|| exact.iter().map(|line| normalise(line)).collect());
                let wanted: Vec<_> = wanted.iter().map(|line| normalise(line)).collect();
                let mut places = places(seen, &wanted, from);
                match preference {
                    Preference::First => places.next(),
                    Preference::End => {
                        let stands = last >= from && seen[last..] == wanted;
                        stands.then_some(last).or_else(|| places.next())
                    }
                    Preference::Near(line) => places.min_by_key(|place| place.abs_diff(line)),
                }
            })
    }
}

/// Returns the positions of `wanted`, which is not empty, at or after `from`. Takes linear time, also for lines that
/// repeat (Knuth, Morris and Pratt).
fn places<'s>(
    seen: &'s [Cow<'_, str>],
    wanted: &'s [Cow<'_, str>],
    from: usize,
) -> impl Iterator<Item = usize> + 's {
    // For each beginning of `wanted`, the length of the longest shorter beginning that it ends with.
    let mut borders = vec![0; wanted.len()];
    let mut border = 0;
    for index in 1..wanted.len() {
        while border > 0 && wanted[index] != wanted[border] {
            border = borders[border - 1];
        }
        border += usize::from(wanted[index] == wanted[border]);
        borders[index] = border;
    }
    let mut matched = 0;
    let lines = seen.iter().enumerate().skip(from);
    lines.filter_map(move |(index, line)| {
        while matched > 0 && (matched == wanted.len() || *line != wanted[matched]) {
            matched = borders[matched - 1];
        }
        matched += usize::from(*line == wanted[matched]);
        (matched == wanted.len()).then(|| index + 1 - matched)
    })
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

#[cfg(test)]
mod tests {
    use super::*;

    proptest::proptest! {
        #[test]
        fn places_are_those_of_a_slow_search(
            seen in proptest::collection::vec("[ab]", 0..40),
            wanted in proptest::collection::vec("[ab]", 1..5),
            from in 0_usize..45,
        ) {
            let [seen, wanted] = [seen, wanted].map(|it| it.into_iter().map(Cow::Owned).collect::<Vec<_>>());
            let slow = (from..seen.len()).filter(|at| seen[*at..].starts_with(&wanted));
            let slow: Vec<_> = slow.collect();
            proptest::prop_assert_eq!(places(&seen, &wanted, from).collect::<Vec<_>>(), slow);
        }
    }

    /// Without linear time this takes minutes.
    #[test]
    fn many_equal_lines_take_no_time() {
        let mut lines = FileLines::new(vec![""; 400_000]);
        let mut wanted = vec![""; 30_000];
        wanted.push("x");
        assert_eq!(lines.find(&wanted, 0, Preference::First), None);
    }
}
