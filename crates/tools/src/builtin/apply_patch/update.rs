//! Finds the chunks of an update in a text and applies them. Pure.

use std::borrow::Cow;

use super::parse::{Chunk, Line};

/// Returns the updated text, in which every line ends with a newline. `path` is for error messages.
pub(super) fn update(text: &str, chunks: &[Chunk], path: &str) -> Result<String, String> {
    let mut lines: Vec<&str> = text.split('\n').collect();
    if lines.last() == Some(&"") {
        lines.pop();
    }
    let mut file = Lines::new(lines);
    let mut edits = Vec::new();
    let mut cursor = 0;
    for chunk in chunks {
        if let Some(context) = &chunk.context {
            let found = file.find(&[context], cursor, false);
            let missing = || format!("Failed to find context '{context}' in {path}");
            cursor = found.ok_or_else(missing)? + 1;
        }
        let edit = place(&mut file, chunk, cursor, path)?;
        if edit.removes > 0 {
            cursor = edit.at + edit.removes;
        }
        edits.push(edit);
    }
    // An insertion at the end of the file may come before other chunks of the patch.
    edits.sort_by_key(|edit| edit.at);
    Ok(splice(file.exact(), &edits))
}

/// A replacement of consecutive lines.
struct Edit<'a> {
    at: usize,
    removes: usize,
    lines: Vec<Cow<'a, Line>>,
}

fn place<'a>(
    file: &mut Lines<'_>,
    chunk: &'a Chunk,
    cursor: usize,
    path: &str,
) -> Result<Edit<'a>, String> {
    let mut lines: Vec<_> = chunk.lines.iter().map(Cow::Borrowed).collect();
    let mut old = old_lines(&chunk.lines);
    if old.is_empty() {
        return Ok(Edit {
            at: file.len(),
            removes: 0,
            lines,
        });
    }
    let mut found = file.find(&old, cursor, chunk.at_end);
    if found.is_none() && old.last() == Some(&"") {
        // Models often treat the newline at the end of the last line as one more line.
        old.pop();
        drop_last_empty(&mut lines);
        found = if old.is_empty() {
            Some(file.len())
        } else {
            file.find(&old, cursor, chunk.at_end)
        };
    }
    let missing = || {
        let expected = old_lines(&chunk.lines).join("\n");
        format!("Failed to find expected lines in {path}:\n{expected}")
    };
    Ok(Edit {
        at: found.ok_or_else(missing)?,
        removes: old.len(),
        lines,
    })
}

fn old_lines(lines: &[Line]) -> Vec<&str> {
    let old = lines.iter().filter_map(|line| match line {
        Line::Keep(text) | Line::Remove(text) => Some(text.as_str()),
        Line::Insert(_) => None,
    });
    old.collect()
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

/// Returns the text with all edits. Kept lines are copied from the file, so a loose comparison does not
/// change them.
fn splice(file: &[&str], edits: &[Edit<'_>]) -> String {
    let mut result = String::new();
    let mut push = |line: &str| {
        result.push_str(line);
        result.push('\n');
    };
    let mut next = 0;
    for edit in edits {
        file[next..edit.at].iter().for_each(|line| push(line));
        next = edit.at;
        for line in &edit.lines {
            match &**line {
                Line::Keep(_) => {
                    push(file[next]);
                    next += 1;
                }
                Line::Remove(_) => next += 1,
                Line::Insert(text) => push(text),
            }
        }
    }
    file[next..].iter().for_each(|line| push(line));
    result
}

/// Normalizes a line for comparison. The list starts with the strictest way.
type Normalise = fn(&str) -> Cow<'_, str>;

const NORMALISATIONS: [Normalise; 4] = [
    |line| Cow::Borrowed(line),
    |line| Cow::Borrowed(line.trim_end()),
    |line| Cow::Borrowed(line.trim()),
    plain,
];

/// The lines of a file, normalized in each way when that way is first needed.
struct Lines<'a> {
    exact: Vec<&'a str>,
    seen: [Option<Vec<Cow<'a, str>>>; NORMALISATIONS.len()],
}

impl<'a> Lines<'a> {
    fn new(exact: Vec<&'a str>) -> Self {
        Self {
            exact,
            seen: [const { None }; NORMALISATIONS.len()],
        }
    }

    fn exact(&self) -> &[&'a str] {
        &self.exact
    }

    fn len(&self) -> usize {
        self.exact.len()
    }

    /// Returns the position of `wanted` at or after `from`, for the strictest way that finds it. If
    /// `at_end` is set, a match at the end of the file has priority.
    fn find(&mut self, wanted: &[&str], from: usize, at_end: bool) -> Option<usize> {
        let last = self.len().checked_sub(wanted.len())?;
        NORMALISATIONS
            .iter()
            .zip(&mut self.seen)
            .find_map(|(normalise, seen)| {
                let exact = &self.exact;
                let seen =
                    seen.get_or_insert_with(|| exact.iter().map(|line| normalise(line)).collect());
                let wanted: Vec<_> = wanted.iter().map(|line| normalise(line)).collect();
                let stands = |at: &usize| seen[*at..*at + wanted.len()] == wanted;
                let end = (at_end && last >= from).then_some(last).filter(stands);
                end.or_else(|| (from..=last).find(stands))
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Makes a chunk from the lines of a patch.
    fn chunk(context: Option<&str>, text: &str, at_end: bool) -> Chunk {
        let lines = text.lines().map(|line| {
            let kind = match line.as_bytes()[0] {
                b' ' => Line::Keep,
                b'-' => Line::Remove,
                _ => Line::Insert,
            };
            kind(line[1..].to_owned())
        });
        Chunk {
            context: context.map(str::to_owned),
            lines: lines.collect(),
            at_end,
        }
    }

    fn updated(text: &str, chunks: &[(Option<&str>, &str, bool)]) -> Result<String, String> {
        let chunks: Vec<_> = chunks
            .iter()
            .map(|(context, lines, at_end)| chunk(*context, lines, *at_end))
            .collect();
        update(text, &chunks, "a.txt")
    }

    #[test]
    fn chunks_are_applied_at_their_lines() {
        let abc = "a\nb\nc\n";
        let twice = "start one\nx\nstart two\nx\n";
        for (text, chunks, expected) in [
            (abc, &[(None, "-b\n+B", false)][..], "a\nB\nc\n"),
            (abc, &[(None, " a\n-b\n c", false)], "a\nc\n"),
            (abc, &[(None, " a\n+1\n+2\n b", false)], "a\n1\n2\nb\nc\n"),
            (abc, &[(None, "-a\n-b\n-c", false)], ""),
            (abc, &[(None, "", false)], abc),
            // No old lines: inserts at the end of the file.
            (abc, &[(None, "+d", false)], "a\nb\nc\nd\n"),
            (
                abc,
                &[(None, "+d", false), (None, "-a", false)],
                "b\nc\nd\n",
            ),
            (
                abc,
                &[(None, "+d", false), (None, "+e", false)],
                "a\nb\nc\nd\ne\n",
            ),
            (abc, &[(Some("a"), "+d", false)], "a\nb\nc\nd\n"),
            ("", &[(None, "+a", false)], "a\n"),
            ("a\n\n", &[(None, "+b", false)], "a\n\nb\n"),
            // A missing newline at the end is added.
            ("a\nb", &[(None, "-b\n+c", false)], "a\nc\n"),
            ("a\n\n", &[(None, "-a\n+b", false)], "b\n\n"),
            // The first match at or after the current position.
            (twice, &[(None, "-x", false)], "start one\nstart two\nx\n"),
            (
                twice,
                &[(Some("start two"), "-x", false)],
                "start one\nx\nstart two\n",
            ),
            (twice, &[(None, "-x", true)], "start one\nx\nstart two\n"),
            (
                twice,
                &[(None, "-x\n+1", false), (None, "-x\n+2", false)],
                "start one\n1\nstart two\n2\n",
            ),
            // The end has priority, but is not required.
            (abc, &[(None, "-a", true)], "b\nc\n"),
            // One empty line more than the file has.
            (abc, &[(None, " c\n+d\n ", false)], "a\nb\nc\nd\n"),
            (abc, &[(None, " c\n ", false)], abc),
            (abc, &[(None, "-c\n-", false)], "a\nb\n"),
            (abc, &[(None, "-c\n-\n+d\n+", false)], "a\nb\nd\n"),
            (abc, &[(None, " c\n \n+d", false)], "a\nb\nc\n\nd\n"),
            (abc, &[(None, " c\n \n+d\n+", false)], "a\nb\nc\n\nd\n"),
        ] {
            assert_eq!(updated(text, chunks).as_deref(), Ok(expected), "{chunks:?}");
        }
    }

    #[test]
    fn lines_are_compared_in_looser_steps_and_stay_unchanged() {
        for (text, chunk, expected) in [
            ("a  \nb\n", " a\n-b\n+c", "a  \nc\n"),
            ("\ta\nb\n", " a\n-b\n+c", "\ta\nc\n"),
            ("  a\n", "-a\n+b", "b\n"),
            ("a\r\nb\r\nc\r\n", " a\n-b\n+B\n c", "a\r\nB\nc\r\n"),
            (
                "\u{201c}x\u{201d} \u{2014} it\u{2019}s\u{a0}on\u{2026}\nb\n",
                " \"x\" - it's on...\n-b\n+c",
                "\u{201c}x\u{201d} \u{2014} it\u{2019}s\u{a0}on\u{2026}\nc\n",
            ),
            // A strict match has priority over an earlier loose match.
            (" a\na\n", "-a\n+b", " a\nb\n"),
            ("a \n a\n", "-a\n+b", "b\n a\n"),
        ] {
            let chunks = [(None, chunk, false)];
            assert_eq!(updated(text, &chunks).as_deref(), Ok(expected), "{text:?}");
        }
        let found = updated(
            "  fn a() {\nx\nfn b() {\nx\n",
            &[(Some("fn a() {"), "-x", false)],
        );
        assert_eq!(found.as_deref(), Ok("  fn a() {\nfn b() {\nx\n"));
    }

    #[test]
    fn missing_lines_are_reported() {
        let lines = |lines: &str| format!("Failed to find expected lines in a.txt:\n{lines}");
        for (chunks, expected) in [
            (
                &[(Some("z"), "-a", false)][..],
                "Failed to find context 'z' in a.txt".to_owned(),
            ),
            (&[(None, " a\n-c", false)], lines("a\nc")),
            (&[(None, "-a\n-b\n-c\n-d", false)], lines("a\nb\nc\nd")),
            (&[(Some("c"), "-b", false)], lines("b")),
            (&[(None, "-b", false), (None, "-a", false)], lines("a")),
            (&[(None, "-A", false)], lines("A")),
        ] {
            assert_eq!(updated("a\nb\nc\n", chunks), Err(expected));
        }
    }

    /// Returns two texts and one chunk that turns the first into the second. The script consists of
    /// kept, removed and inserted lines.
    fn whole(script: &[(u8, String)], inverse: bool) -> (String, Chunk, String) {
        let (mut before, mut after, mut lines) = (String::new(), String::new(), Vec::new());
        for (kind, text) in script {
            let kind = if inverse && *kind > 0 {
                3 - kind
            } else {
                *kind
            };
            let line = format!("{text}\n");
            if kind != 2 {
                before.push_str(&line);
            }
            if kind != 1 {
                after.push_str(&line);
            }
            let kinds = [Line::Keep, Line::Remove, Line::Insert];
            lines.push(kinds[usize::from(kind)](text.clone()));
        }
        let chunk = Chunk {
            context: None,
            lines,
            at_end: false,
        };
        (before, chunk, after)
    }

    proptest! {
        #[test]
        fn a_chunk_of_a_whole_file_and_its_inverse_restore_the_file(
            script in prop::collection::vec((0u8..3, "[ab \u{201c}\t]{0,3}"), 0..20),
        ) {
            let (before, chunk, after) = whole(&script, false);
            prop_assert_eq!(update(&before, &[chunk], "a"), Ok(after.clone()));
            let (there, chunk, back) = whole(&script, true);
            prop_assert_eq!(&there, &after);
            prop_assert_eq!(update(&there, &[chunk], "a"), Ok(back));
        }

        #[test]
        fn nothing_panics(
            text in "[ab \n\r\u{201c}]{0,30}",
            chunks in prop::collection::vec(
                (prop::option::of("[ab ]{0,1}"), "([ +-][ab \u{2026}]{0,2}\n){0,4}", any::<bool>()),
                0..5,
            ),
        ) {
            let chunks: Vec<_> = chunks
                .iter()
                .map(|(context, lines, end)| chunk(context.as_deref(), lines, *end))
                .collect();
            let _ = update(&text, &chunks, "a");
        }
    }
}
