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

use crate::builtin::{
    search::{FirstByPath, MAX_BYTES},
    text::{Charset, SAMPLE_BYTES, TextReader, recognize},
};

/// Maximum length of a searched line in bytes. The search of a file stops at a longer line.
const MAX_LINE_BYTES: usize = 16 * 1024 * 1024;

/// Maximum number of returned UTF-16 code units of a text. JavaScript counts lengths in this unit.
const MAX_UNITS: usize = 2000;

/// Maximum number of returned matches within one line.
const MAX_SUBMATCHES: usize = 100;

/// A line with a match.
#[derive(Debug, PartialEq, Serialize)]
pub(super) struct Line {
    /// The line number, counted from 1.
    line: u64,
    /// The byte offset of the line in the file.
    offset: u64,
    /// The line with its terminator, cut if it is long. Invalid UTF-8 is replaced.
    text: String,
    /// The matches in the line.
    submatches: Vec<Submatch>,
}

#[derive(Debug, PartialEq, Serialize)]
struct Submatch {
    text: String,
    /// Byte offset from the beginning of the line.
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

/// Searches files one after another.
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
            // The decoder of texts does it.
            .bom_sniffing(false)
            .build();
        Self {
            matcher,
            searcher,
            limit,
            cancel,
        }
    }

    /// Finds the lines of a file. The result repeats `path` for each line, so its size is counted for
    /// each.
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
        let searched = decoded(file).and_then(|text| {
            self.searcher
                .search_reader(self.matcher, text, &mut collector)
        });
        if let Err(error) = searched {
            tracing::debug!(%error, "a file was not searched to its end");
            collector.lines.is_cut = true;
        }
        collector.lines
    }
}

/// The lines that were found in one file.
#[derive(Default)]
pub(super) struct Lines {
    found: Vec<Line>,
    bytes: usize,
    /// True if the file may have more matching lines.
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

    /// A NUL means that the file is not text. Then all its lines are discarded.
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
    // Matching with this matcher cannot fail.
    debug_assert!(ended.is_ok());
    submatches
}

/// Returns a text, cut if it is long. Reads only as many bytes as may be needed.
fn cut(bytes: &[u8]) -> String {
    // A code unit has at most three bytes in any encoding.
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

/// Returns the text of a file. If its encoding is not certain, its bytes are searched as UTF-8.
fn decoded<R: Read>(mut file: R) -> io::Result<impl Read> {
    let mut head = Vec::new();
    file.by_ref()
        .take(SAMPLE_BYTES as u64)
        .read_to_end(&mut head)?;
    let is_whole = head.len() < SAMPLE_BYTES;
    let charset = recognize(&head, true, is_whole).unwrap_or(Some(Charset::UTF8));
    Ok(TextReader::new(io::Cursor::new(head).chain(file), charset).lenient())
}

/// A file that returns read errors after the call is cancelled.
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
