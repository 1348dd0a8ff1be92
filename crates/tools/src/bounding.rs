//! Cuts Model Tool Output to the size that a model gets: the beginning and the end of a text around a
//! marker that names the location of the whole text. Pure; `managed_output` writes the files.

use opencode_location::config::ToolOutputLimits;

/// Maximum size of one settlement for the model. The limit that is reached first applies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutputLimits {
    /// Number of lines, counted as newlines plus one.
    pub max_lines: usize,
    /// Number of bytes in UTF-8.
    pub max_bytes: usize,
}

impl Default for OutputLimits {
    fn default() -> Self {
        ToolOutputLimits::default().into()
    }
}

impl From<ToolOutputLimits> for OutputLimits {
    /// Returns the limits of a Location. A value that does not fit into `usize` means no limit.
    fn from(configured: ToolOutputLimits) -> Self {
        Self {
            max_lines: usize::try_from(configured.max_lines).unwrap_or(usize::MAX),
            max_bytes: usize::try_from(configured.max_bytes).unwrap_or(usize::MAX),
        }
    }
}

impl OutputLimits {
    pub(crate) fn fits(self, text: &str) -> bool {
        text.len() <= self.max_bytes && line_count(text) <= self.max_lines
    }

    /// Cuts a text that does not fit. The result always fits.
    pub(crate) fn preview(self, text: &str, marker: &str) -> String {
        // An empty line on either side of the marker: four newlines, and four lines that are not text.
        let around = 4;
        if self.max_lines <= around || self.max_bytes <= marker.len() + around {
            return first_lines(first_bytes(marker, self.max_bytes), self.max_lines).to_owned();
        }
        let (head, tail) = cut(
            text,
            self.max_lines - around,
            self.max_bytes - marker.len() - around,
        );
        let end = if tail.is_empty() { "" } else { "\n\n" };
        format!("{head}\n\n{marker}{end}{tail}")
    }
}

fn cut(text: &str, lines: usize, bytes: usize) -> (String, String) {
    let shortened;
    let mut rest = text;
    if line_count(text) > lines {
        let head = first_lines(text, lines.div_ceil(2));
        let tail = last_lines(text, lines / 2);
        if head.len() + 1 + tail.len() <= bytes {
            return (head.to_owned(), tail.to_owned());
        }
        // A single line is cut in the middle, so its parts are joined without a newline.
        let joint = if lines == 1 { "" } else { "\n" };
        shortened = format!("{head}{joint}{tail}");
        rest = &shortened;
    } else if text.len() <= bytes {
        return (text.to_owned(), String::new());
    }
    let head = first_bytes(rest, bytes.div_ceil(2));
    let tail = last_bytes(rest, bytes / 2);
    (head.to_owned(), tail.to_owned())
}

fn line_count(text: &str) -> usize {
    1 + text.bytes().filter(|byte| *byte == b'\n').count()
}

fn first_lines(text: &str, count: usize) -> &str {
    let Some(last) = count.checked_sub(1) else {
        return "";
    };
    let end = text.match_indices('\n').nth(last);
    end.map_or(text, |(at, _)| &text[..at])
}

fn last_lines(text: &str, count: usize) -> &str {
    let Some(first) = count.checked_sub(1) else {
        return "";
    };
    let start = text.rmatch_indices('\n').nth(first);
    start.map_or(text, |(at, _)| &text[at + 1..])
}

fn first_bytes(text: &str, count: usize) -> &str {
    &text[..text.floor_char_boundary(count)]
}

fn last_bytes(text: &str, count: usize) -> &str {
    &text[text.ceil_char_boundary(text.len().saturating_sub(count))..]
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const MARKER: &str = "... marker ...";

    fn preview(text: &str, max_lines: usize, max_bytes: usize) -> String {
        let limits = OutputLimits {
            max_lines,
            max_bytes,
        };
        limits.preview(text, MARKER)
    }

    fn numbers(range: std::ops::RangeInclusive<u32>) -> String {
        let lines: Vec<_> = range.map(|number| number.to_string()).collect();
        lines.join("\n")
    }

    #[test]
    fn lines_and_bytes_decide_whether_a_text_fits() {
        let limits = OutputLimits::default();
        for (text, fits) in [
            (String::new(), true),
            (numbers(1..=2000), true),
            (numbers(1..=2000) + "\n", false),
            ("x".repeat(51_200), true),
            ("x".repeat(51_201), false),
            ("é".repeat(25_600), true),
            ("é".repeat(25_601), false),
        ] {
            assert_eq!(limits.fits(&text), fits, "{} bytes", text.len());
        }
    }

    #[test]
    fn a_preview_keeps_equally_many_lines_at_both_ends() {
        for (lines, max_lines, head, tail) in [
            (3001, 2000, 998, 998),
            (2001, 2000, 998, 998),
            (20, 10, 3, 3),
            (20, 11, 4, 3),
            (20, 6, 1, 1),
        ] {
            let expected = format!(
                "{}\n\n{MARKER}\n\n{}",
                numbers(1..=head),
                numbers(lines - tail + 1..=lines)
            );
            assert_eq!(preview(&numbers(1..=lines), max_lines, 51_200), expected);
        }
        let bounded = preview(&numbers(1..=3001), 2000, 51_200);
        assert_eq!(line_count(&bounded), 1999);
    }

    #[test]
    fn a_preview_with_few_lines_keeps_the_marker_first() {
        let text = numbers(1..=20);
        for (max_lines, expected) in [
            (5, "1\n\n... marker ..."),
            (4, "... marker ..."),
            (1, "... marker ..."),
            (0, ""),
        ] {
            assert_eq!(preview(&text, max_lines, 51_200), expected);
        }
        let long = format!("{}\nend", "x".repeat(50));
        let lone = preview(&long, 5, MARKER.len() + 6);
        assert_eq!(lone, "x\n\n... marker ...\n\nx");
    }

    #[test]
    fn a_preview_with_few_bytes_keeps_the_marker_first() {
        let text = "x".repeat(100);
        let all = MARKER.len();
        for (max_bytes, expected) in [
            (all + 6, format!("x\n\n{MARKER}\n\nx")),
            (all + 5, format!("x\n\n{MARKER}")),
            (all + 4, MARKER.to_owned()),
            (all, MARKER.to_owned()),
            (7, "... mar".to_owned()),
            (0, String::new()),
        ] {
            assert_eq!(preview(&text, 2000, max_bytes), expected);
        }
    }

    #[test]
    fn one_long_line_fills_the_bytes_exactly() {
        let bounded = preview(&"x".repeat(60_000), 2000, 51_200);
        assert_eq!(bounded.len(), 51_200);
        let half = (51_200 - MARKER.len() - 4) / 2;
        let half = "x".repeat(half);
        assert_eq!(bounded, format!("{half}\n\n{MARKER}\n\n{half}"));
    }

    #[test]
    fn a_preview_cuts_no_character() {
        let room = MARKER.len() + 4;
        assert_eq!(
            preview(&"é".repeat(50), 2000, room + 6),
            format!("é\n\n{MARKER}\n\né")
        );
        let limits = OutputLimits {
            max_lines: 9,
            max_bytes: 3,
        };
        assert_eq!(limits.preview("text", "éé"), "é");
    }

    #[test]
    fn lines_are_dropped_before_bytes() {
        let text = vec!["y".repeat(40); 3000].join("\n");
        let bounded = preview(&text, 2000, 51_200);
        assert_eq!(bounded.len(), 51_200);
        let (head, tail) = bounded.split_once(MARKER).expect("the marker is whole");
        assert!(line_count(head) < 1000 && line_count(tail) < 1000);
    }

    proptest! {
        #[test]
        fn a_preview_always_fits(
            text in "([a-zé\u{1F600}]{0,30}\n?){0,60}",
            max_lines in 0usize..40,
            max_bytes in 0usize..300,
        ) {
            let bounded = preview(&text, max_lines, max_bytes);
            prop_assert!(bounded.len() <= max_bytes);
            prop_assert!(bounded.is_empty() || line_count(&bounded) <= max_lines);
        }
    }
}
