//! The ends of lines. Each line has its own, and a change keeps it.

use std::ops::Range;

/// The end of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Lf,
    CrLf,
    Cr,
    /// The last line of a text may have no end.
    Missing,
}

impl End {
    pub(crate) fn text(self) -> &'static str {
        match self {
            Self::Lf => "\n",
            Self::CrLf => "\r\n",
            Self::Cr => "\r",
            Self::Missing => "",
        }
    }

    fn exists(self) -> bool {
        self != Self::Missing
    }
}

/// A line of a text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Line<'a> {
    /// The line without its end.
    pub(crate) text: &'a str,
    pub(crate) end: End,
    /// Where the line begins in the text.
    pub(crate) start: usize,
}

impl Line<'_> {
    /// Returns the bytes of the line with its end.
    pub(crate) fn range(&self) -> Range<usize> {
        self.start..self.start + self.text.len() + self.end.text().len()
    }
}

/// The ends that the lines of a text have.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Style {
    /// The most frequent end, LF without any.
    pub(crate) usual: End,
    /// True if all ends are equal.
    pub(crate) is_uniform: bool,
    /// True if a single CR ends a line. Where it is rare it is a character of the text.
    has_cr: bool,
}

impl Style {
    pub(crate) fn of(text: &str) -> Self {
        let (mut lf, mut crlf, mut cr) = (0_usize, 0_usize, 0_usize);
        let mut first = None;
        let mut before = 0;
        for byte in text.bytes().chain([0]) {
            match (before, byte) {
                (b'\r', b'\n') => crlf += 1,
                (_, b'\n') => lf += 1,
                (b'\r', _) => cr += 1,
                _ => {}
            }
            if first.is_none() && lf + crlf + cr > 0 {
                first = Some(match (crlf, cr) {
                    (1.., _) => End::CrLf,
                    (_, 1..) => End::Cr,
                    _ => End::Lf,
                });
            }
            before = byte;
        }
        let has_cr = cr > 0 && cr * 4 >= lf + crlf + cr;
        let counts = [
            (End::Lf, lf),
            (End::CrLf, crlf),
            (End::Cr, if has_cr { cr } else { 0 }),
        ];
        let most = counts.iter().map(|(_, count)| *count).max();
        let usual = counts
            .iter()
            .filter(|(_, count)| *count > 0 && Some(*count) == most)
            .map(|(end, _)| *end);
        let usual: Vec<End> = usual.collect();
        let usual = first
            .filter(|first| usual.contains(first))
            .or(usual.first().copied());
        Self {
            usual: usual.unwrap_or(End::Lf),
            is_uniform: counts.iter().filter(|(_, count)| *count > 0).count() <= 1,
            has_cr,
        }
    }

    /// Splits a part of the text into lines. A text that ends with the end of a line has no empty line after it.
    pub(crate) fn lines<'a>(&self, text: &'a str) -> Vec<Line<'a>> {
        let mut lines = Vec::new();
        let mut start = 0;
        while start < text.len() {
            let (length, end) = self.next_end(&text[start..]);
            let line = Line {
                text: &text[start..start + length],
                end,
                start,
            };
            start = line.range().end;
            lines.push(line);
        }
        lines
    }

    /// Returns the length of the first line without its end, and its end.
    fn next_end(&self, text: &str) -> (usize, End) {
        let mut from = 0;
        loop {
            let is_end = |byte: &u8| matches!(byte, b'\n' | b'\r');
            let Some(at) = text.as_bytes()[from..].iter().position(is_end) else {
                return (text.len(), End::Missing);
            };
            let at = from + at;
            if text.as_bytes()[at] == b'\n' {
                return (at, End::Lf);
            }
            if text.as_bytes().get(at + 1) == Some(&b'\n') {
                return (at, End::CrLf);
            }
            if self.has_cr {
                return (at, End::Cr);
            }
            from = at + 1;
        }
    }

    /// Returns the whole lines that contain a range of the text.
    pub(crate) fn around(&self, text: &str, range: &Range<usize>) -> Range<usize> {
        let is_end = |character: char| character == '\n' || (self.has_cr && character == '\r');
        let start = text[..range.start].rfind(is_end).map_or(0, |at| at + 1);
        start..self.line_end(text, range.end)
    }

    /// Returns where the line of a position ends.
    pub(crate) fn line_end(&self, text: &str, position: usize) -> usize {
        let (length, end) = self.next_end(&text[position..]);
        position + length + end.text().len()
    }

    /// Returns the end of the line before a position at which a line begins.
    pub(crate) fn end_before(&self, text: &str, position: usize) -> Option<End> {
        let before = &text[..position];
        if before.ends_with("\r\n") {
            Some(End::CrLf)
        } else if before.ends_with('\n') {
            Some(End::Lf)
        } else if before.ends_with('\r') {
            Some(End::Cr)
        } else {
            None
        }
    }

    /// Returns the end of the line that begins at a position.
    pub(crate) fn end_after(&self, text: &str, position: usize) -> Option<End> {
        let (_, end) = self.next_end(&text[position..]);
        end.exists().then_some(end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_usual_end_is_the_most_frequent_one() {
        for (text, usual, is_uniform) in [
            ("", End::Lf, true),
            ("a", End::Lf, true),
            ("a\n", End::Lf, true),
            ("a\r\nb", End::CrLf, true),
            ("a\rb\r", End::Cr, true),
            ("a\nb\r\nc\r\n", End::CrLf, false),
            ("a\r\nb\nc\n", End::Lf, false),
            // The first one decides between equals.
            ("a\r\nb\n", End::CrLf, false),
            ("a\nb\r\n", End::Lf, false),
            ("a\rb\n", End::Cr, false),
            // A rare CR is a character.
            ("a\rb\n\n\n\n", End::Lf, true),
        ] {
            let style = Style::of(text);
            assert_eq!(
                (style.usual, style.is_uniform),
                (usual, is_uniform),
                "{text:?}"
            );
        }
    }

    #[test]
    fn lines_have_their_own_ends() {
        let parts = |text: &'static str| -> Vec<(&str, End)> {
            let lines = Style::of(text).lines(text);
            lines.iter().map(|line| (line.text, line.end)).collect()
        };
        assert_eq!(parts(""), []);
        assert_eq!(
            parts("a\r\n\nb\rc"),
            [
                ("a", End::CrLf),
                ("", End::Lf),
                ("b", End::Cr),
                ("c", End::Missing)
            ]
        );
        assert_eq!(parts("\n"), [("", End::Lf)]);
        let rare = "a\rb\n\n\n\n";
        assert_eq!(parts(rare)[0], ("a\rb", End::Lf));
    }

    #[test]
    fn a_range_is_extended_to_whole_lines() {
        let text = "one\r\ntwo\nthree";
        let style = Style::of(text);
        for (range, expected) in [
            (1..2, "one\r\n"),
            (5..8, "two\n"),
            (6..9, "two\nthree"),
            (14..14, "three"),
            (0..14, text),
        ] {
            let lines = style.around(text, &range);
            assert_eq!(&text[lines], expected, "{range:?}");
        }
        assert_eq!(style.end_before(text, 5), Some(End::CrLf));
        assert_eq!(style.end_before(text, 0), None);
        assert_eq!(style.end_after(text, 5), Some(End::Lf));
        assert_eq!(style.end_after(text, 9), None);
    }
}
