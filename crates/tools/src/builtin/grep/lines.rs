//! The matching lines of one file.

use std::{
    fs::File,
    io::{self, Read},
};

use grep_matcher::Matcher;
use grep_regex::RegexMatcher;
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder, Sink, SinkMatch};
use serde::Serialize;
use tokio_util::sync::CancellationToken;

use crate::builtin::search::{FirstByPath, MAX_BYTES};

/// The longest line that is searched. A file is not searched behind a longer one.
const MAX_LINE_BYTES: usize = 16 * 1024 * 1024;

/// The most UTF-16 code units of a text that are given: lengths are those of JavaScript.
const MAX_UNITS: usize = 2000;

/// The most matches within one line that are given.
const MAX_SUBMATCHES: usize = 100;

/// A line with a match.
#[derive(Debug, PartialEq, Serialize)]
pub(super) struct Line {
    /// Its number, counted from 1.
    line: u64,
    /// The byte of the file at which it begins.
    offset: u64,
    /// The line with its terminator, cut if it is long. What is not UTF-8 is replaced.
    text: String,
    /// The matches in it.
    submatches: Vec<Submatch>,
}

#[derive(Debug, PartialEq, Serialize)]
struct Submatch {
    text: String,
    /// Bytes from the beginning of the line.
    start: usize,
    end: usize,
}

impl Line {
    pub(super) fn shown(&self) -> String {
        format!("\n  Line {}: {}", self.line, self.text)
    }

    fn bytes(&self) -> usize {
        let submatches = self.submatches.iter();
        let submatches = submatches.map(|submatch| submatch.text.len() + size_of::<Submatch>());
        self.text.len() + size_of::<Self>() + submatches.sum::<usize>()
    }
}

/// Searches one file after the other.
#[derive(Clone)]
pub(super) struct Reader<'a> {
    matcher: &'a RegexMatcher,
    searcher: Searcher,
    limit: usize,
    cancel: &'a CancellationToken,
}

impl<'a> Reader<'a> {
    /// Finds at most `limit` lines in each file.
    pub(super) fn new(
        matcher: &'a RegexMatcher,
        limit: usize,
        cancel: &'a CancellationToken,
    ) -> Self {
        let searcher = SearcherBuilder::new()
            .binary_detection(BinaryDetection::quit(0))
            .heap_limit(Some(MAX_LINE_BYTES))
            .build();
        Self {
            matcher,
            searcher,
            limit,
            cancel,
        }
    }

    /// Finds the lines of a file, whose path is repeated with each of them.
    pub(super) fn read(&mut self, file: File, path: &[u8]) -> Lines {
        let mut collector = Collector {
            matcher: self.matcher,
            limit: self.limit,
            path_bytes: path.len(),
            lines: Lines::default(),
        };
        let file = Cancellable {
            file,
            cancel: self.cancel,
        };
        let searched = self
            .searcher
            .search_reader(self.matcher, file, &mut collector);
        if let Err(error) = searched {
            tracing::debug!(%error, "a file was not searched to its end");
            collector.lines.is_cut = true;
        }
        collector.lines
    }
}

/// What was found in one file.
#[derive(Default)]
pub(super) struct Lines {
    found: Vec<Line>,
    bytes: usize,
    /// Whether the file may have more.
    is_cut: bool,
}

impl Lines {
    pub(super) fn add_to(self, all: &mut FirstByPath<Line>, path: Vec<u8>) {
        all.add(path, self.found, self.bytes, self.is_cut);
    }
}

struct Collector<'a> {
    matcher: &'a RegexMatcher,
    limit: usize,
    path_bytes: usize,
    lines: Lines,
}

impl Sink for Collector<'_> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> Result<bool, io::Error> {
        if self.lines.found.len() >= self.limit || self.lines.bytes >= MAX_BYTES {
            self.lines.is_cut = true;
            return Ok(false);
        }
        let line = Line {
            line: found.line_number().unwrap_or_default(),
            offset: found.absolute_byte_offset(),
            text: cut(found.bytes()),
            submatches: submatches(self.matcher, found.bytes()),
        };
        self.lines.bytes += line.bytes() + self.path_bytes;
        self.lines.found.push(line);
        Ok(true)
    }

    /// A NUL says that the file is no text, and then none of it counts.
    fn binary_data(&mut self, _: &Searcher, _: u64) -> Result<bool, io::Error> {
        self.lines = Lines::default();
        Ok(false)
    }
}

fn submatches(matcher: &RegexMatcher, line: &[u8]) -> Vec<Submatch> {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    let mut submatches = Vec::new();
    let ended = matcher.find_iter(line, |found| {
        submatches.push(Submatch {
            text: cut(&line[found]),
            start: found.start(),
            end: found.end(),
        });
        submatches.len() < MAX_SUBMATCHES
    });
    // Its matches cannot fail.
    debug_assert!(ended.is_ok());
    submatches
}

/// A text, cut if it is long. Only as much of it is looked at as may be given.
fn cut(bytes: &[u8]) -> String {
    // No encoding of a code unit takes more than three bytes.
    let start = &bytes[..bytes.len().min(4 * MAX_UNITS)];
    let text = String::from_utf8_lossy(start);
    let mut units = 0;
    let end = text.char_indices().find(|(_, character)| {
        units += character.len_utf16();
        units > MAX_UNITS
    });
    match end {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.into_owned(),
    }
}

/// A file that reads as broken once the call is cancelled.
struct Cancellable<'a> {
    file: File,
    cancel: &'a CancellationToken,
}

impl Read for Cancellable<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.cancel.is_cancelled() {
            return Err(io::Error::other("the call was cancelled"));
        }
        self.file.read(buffer)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn a_file_is_read_until_the_call_is_cancelled() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(b"needle\n").unwrap();
        let matcher = RegexMatcher::new("needle").unwrap();
        let cancel = CancellationToken::new();
        let read = || {
            let lines = Reader::new(&matcher, 10, &cancel).read(file.reopen().unwrap(), b"");
            (lines.found.len(), lines.is_cut)
        };
        assert_eq!(read(), (1, false));
        cancel.cancel();
        assert_eq!(read(), (0, true));
    }

    #[test]
    fn a_text_is_cut_by_the_units_of_javascript() {
        for (character, bytes, fits) in [
            ("x", 1, 2000),
            ("é", 2, 2000),
            ("日", 3, 2000),
            ("😀", 4, 1000),
        ] {
            let text = character.repeat(fits);
            assert_eq!(cut(text.as_bytes()), text);
            assert_eq!(text.len(), bytes * fits);
            let longer = character.repeat(3 * fits);
            assert_eq!(cut(longer.as_bytes()), format!("{text}..."), "{character}");
        }
        assert_eq!(cut(b"a\xffb"), "a\u{fffd}b");
    }
}
