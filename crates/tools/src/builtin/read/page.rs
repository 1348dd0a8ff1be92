//! A page of lines out of a text of any size. Only the lines of the page are kept, and of a line
//! only as much as may be shown, so neither a huge file nor a huge line costs memory.

use std::io::BufRead;

use tokio_util::sync::CancellationToken;

use super::{MAX_BYTES, ReadError};

/// The most UTF-16 code units of a line that are shown: lengths are those of JavaScript.
const MAX_LINE_UNITS: usize = 2000;

const LINE_CUT: &str = "... (line truncated to 2000 chars)";

/// How much of a line is kept. No encoding of [`MAX_LINE_UNITS`] takes more than three bytes for
/// one of them, so whatever is longer than this is cut anyway.
const MAX_LINE_BYTES: usize = 4 * MAX_LINE_UNITS;

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

#[derive(Debug, PartialEq)]
pub(super) struct Page {
    /// The lines, joined by newlines.
    pub(super) content: String,
    /// The number of the line after the page, if there is one.
    pub(super) next: Option<u64>,
}

/// The lines from `offset`, counted from 1. The first line of an empty text exists and is empty.
pub(super) fn read(
    mut text: impl BufRead,
    offset: u64,
    limit: usize,
    cancel: &CancellationToken,
) -> Result<Page, ReadError> {
    if !skip_lines(&mut text, offset - 1, cancel)? {
        return Err(ReadError::Unreadable);
    }
    let mut content = String::new();
    let mut number = offset;
    for index in 0..limit {
        let Some(line) = next_line(&mut text, number == 1, cancel)? else {
            return Ok(Page {
                content,
                next: None,
            });
        };
        let separator = if index == 0 { "" } else { "\n" };
        if content.len() + separator.len() + line.len() > MAX_BYTES {
            return Ok(Page {
                content,
                next: Some(number),
            });
        }
        content.push_str(separator);
        content.push_str(&line);
        number += 1;
    }
    let more = !text.fill_buf()?.is_empty();
    Ok(Page {
        content,
        next: more.then_some(number),
    })
}

/// Whether bytes are no text: a NUL, or too many control characters that texts do not use.
pub(super) fn is_binary(bytes: &[u8]) -> bool {
    let mut census = Census::default();
    census.add(bytes).is_err() || census.is_binary()
}

/// Counted over chunks, because a line does not have to fit into memory.
#[derive(Default)]
struct Census {
    bytes: u64,
    controls: u64,
}

impl Census {
    fn add(&mut self, chunk: &[u8]) -> Result<(), ReadError> {
        if chunk.contains(&0) {
            return Err(ReadError::Binary);
        }
        let is_control = |byte: &&u8| matches!(byte, 1..9 | 14..32);
        self.bytes += chunk.len() as u64;
        self.controls += chunk.iter().filter(is_control).count() as u64;
        Ok(())
    }

    fn is_binary(&self) -> bool {
        // More than 30 %.
        self.controls * 10 > self.bytes * 3
    }
}

/// Skips `count` lines; false when there is no line after them.
fn skip_lines(
    text: &mut impl BufRead,
    count: u64,
    cancel: &CancellationToken,
) -> Result<bool, ReadError> {
    for _ in 0..count {
        if !pass_line(text, cancel, |_| Ok(()))? {
            return Ok(false);
        }
    }
    Ok(count == 0 || !text.fill_buf()?.is_empty())
}

fn next_line(
    text: &mut impl BufRead,
    is_first: bool,
    cancel: &CancellationToken,
) -> Result<Option<String>, ReadError> {
    let mut kept = Vec::new();
    let mut census = Census::default();
    let found = pass_line(text, cancel, |chunk| {
        let room = MAX_LINE_BYTES.saturating_sub(kept.len());
        kept.extend_from_slice(&chunk[..chunk.len().min(room)]);
        census.add(chunk)
    })?;
    if !found {
        return Ok(None);
    }
    if census.is_binary() {
        return Err(ReadError::Binary);
    }
    let is_whole = census.bytes == kept.len() as u64;
    let mut bytes = kept.as_slice();
    if is_first {
        bytes = bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(bytes);
    }
    if is_whole {
        bytes = bytes.strip_suffix(b"\r").unwrap_or(bytes);
    }
    shown(bytes, is_whole).map(Some)
}

/// Hands the next line to `take` in chunks, without its newline; false at the end of the text.
fn pass_line(
    text: &mut impl BufRead,
    cancel: &CancellationToken,
    mut take: impl FnMut(&[u8]) -> Result<(), ReadError>,
) -> Result<bool, ReadError> {
    let mut found = false;
    loop {
        if cancel.is_cancelled() {
            return Err(ReadError::Unreadable);
        }
        let chunk = text.fill_buf()?;
        if chunk.is_empty() {
            return Ok(found);
        }
        found = true;
        let end = chunk.iter().position(|byte| *byte == b'\n');
        let line = &chunk[..end.unwrap_or(chunk.len())];
        take(line)?;
        let used = line.len() + usize::from(end.is_some());
        text.consume(used);
        if end.is_some() {
            return Ok(true);
        }
    }
}

fn shown(bytes: &[u8], is_whole: bool) -> Result<String, ReadError> {
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text,
        // The last character was cut in half by us.
        Err(error) if !is_whole && error.error_len().is_none() => {
            std::str::from_utf8(&bytes[..error.valid_up_to()]).map_err(|_| ReadError::Unreadable)?
        }
        Err(_) => return Err(ReadError::Unreadable),
    };
    let mut units = 0;
    let cut = text.char_indices().find(|(_, character)| {
        units += character.len_utf16();
        units > MAX_LINE_UNITS
    });
    Ok(match cut {
        None => text.to_owned(),
        Some((end, _)) => format!("{}{LINE_CUT}", &text[..end]),
    })
}
