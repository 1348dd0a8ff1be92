//! Reads a page of lines from a text of any size. Keeps only the lines of the page, and of each line
//! only as much as may be shown, so huge files and lines need little memory.

use std::io::BufRead;

use tokio_util::sync::CancellationToken;

use super::{MAX_BYTES, ReadError};
use crate::builtin::text::ByteCounts;
use crate::failure::ToolFailure;

/// Maximum number of UTF-16 code units of a line that are shown. JavaScript counts lengths in this
/// unit.
const MAX_LINE_UNITS: usize = 2000;

const LINE_CUT: &str = "... (line truncated to 2000 chars)";

/// Maximum number of bytes of a line that are kept. A code unit has at most three bytes in any
/// encoding, so a longer line is cut to [`MAX_LINE_UNITS`] anyway.
const MAX_LINE_BYTES: usize = 4 * MAX_LINE_UNITS;

#[derive(Debug, PartialEq)]
pub(super) struct Page {
    /// The lines, joined by newlines.
    pub(super) content: String,
    /// The number of the line after the page; `None` if the page is the last one.
    pub(super) next: Option<u64>,
}

/// Reads the lines from `offset`, counted from 1. An empty text has one empty line.
pub(super) fn read(
    mut text: impl BufRead,
    offset: u64,
    limit: usize,
    cancel: &CancellationToken,
) -> Result<Page, ReadError> {
    if let Some(count) = skip_lines(&mut text, offset - 1, cancel)? {
        return Err(ReadError::BehindEnd { offset, count });
    }
    let mut content = String::new();
    let mut number = offset;
    for index in 0..limit {
        let Some(line) = next_line(&mut text, cancel)? else {
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

/// Skips `count` lines. If no line follows them, returns the number of lines of the text.
fn skip_lines(
    text: &mut impl BufRead,
    count: u64,
    cancel: &CancellationToken,
) -> Result<Option<u64>, ReadError> {
    for skipped in 0..count {
        if !pass_line(text, cancel, |_| Ok(()))? {
            return Ok(Some(skipped));
        }
    }
    let is_over = count > 0 && text.fill_buf()?.is_empty();
    Ok(is_over.then_some(count))
}

fn next_line(
    text: &mut impl BufRead,
    cancel: &CancellationToken,
) -> Result<Option<String>, ReadError> {
    let mut kept = Vec::new();
    let mut counts = ByteCounts::default();
    let found = pass_line(text, cancel, |chunk| {
        let room = MAX_LINE_BYTES.saturating_sub(kept.len());
        kept.extend_from_slice(&chunk[..chunk.len().min(room)]);
        counts.add(chunk);
        if counts.has_nul {
            return Err(ReadError::Binary);
        }
        Ok(())
    })?;
    if !found {
        return Ok(None);
    }
    if counts.is_binary() {
        return Err(ReadError::Binary);
    }
    let is_whole = counts.bytes == kept.len() as u64;
    let mut bytes = kept.as_slice();
    if is_whole {
        bytes = bytes.strip_suffix(b"\r").unwrap_or(bytes);
    }
    shown(bytes, is_whole).map(Some)
}

/// Passes the next line to `take` in chunks, without its newline. Returns false at the end of the text.
fn pass_line(
    text: &mut impl BufRead,
    cancel: &CancellationToken,
    mut take: impl FnMut(&[u8]) -> Result<(), ReadError>,
) -> Result<bool, ReadError> {
    let mut found = false;
    loop {
        if cancel.is_cancelled() {
            return Err(ReadError::Output(ToolFailure::Interrupted));
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

fn not_utf8() -> ReadError {
    ReadError::Unreadable("it is not UTF-8 text".to_owned())
}

fn shown(bytes: &[u8], is_whole: bool) -> Result<String, ReadError> {
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text,
        // The limit has cut the last character.
        Err(error) if !is_whole && error.error_len().is_none() => {
            std::str::from_utf8(&bytes[..error.valid_up_to()]).map_err(|_| not_utf8())?
        }
        Err(_) => return Err(not_utf8()),
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
