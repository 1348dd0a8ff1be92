//! Server-sent events: splits bytes into the data of frames.
//!
//! The protocols here only need `data`, because event names repeat its content. The exception is an
//! `error` event that a proxy adds to the stream of another server. The decoder accepts the
//! variations of servers: any line end, an optional space after the colon, a byte order mark,
//! comments as keep-alive, a last frame without a blank line, a failure in a field of its own
//! (`error: {…}`), and an object without a field in a stream of fields.

use memchr::memchr2;

/// Maximum size of a frame, in bytes. No provider sends frames near this size; it bounds the memory
/// that a broken server can occupy.
pub(crate) const MAX_FRAME_BYTES: usize = 64 << 20;

/// Larger buffers are released after the frame that needed them. In bytes.
const KEPT_CAPACITY: usize = 1 << 20;

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// A frame exceeded [`MAX_FRAME_BYTES`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a stream frame is larger than {MAX_FRAME_BYTES} bytes")]
pub(crate) struct FrameTooLarge;

/// One event of the stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Frame<'a> {
    /// The data. Never empty.
    pub(crate) data: &'a [u8],
    /// True if the event is named `error`, or stands in a field of this name.
    pub(crate) is_error: bool,
}

/// Splits a byte stream into frames.
#[derive(Debug, Default)]
pub(crate) struct SseFraming {
    /// The start of an incomplete line.
    partial: Vec<u8>,
    /// The data of the current frame; lines are joined by a line feed.
    data: Vec<u8>,
    has_data: bool,
    /// True if the current frame is named `error`.
    is_error: bool,
    past_first_line: bool,
    /// The first line with content tells whether the body is a stream. The lines of a JSON document are no data.
    is_stream: Option<bool>,
    /// True if the last chunk ended in a carriage return. A line feed that follows belongs to it.
    ended_in_return: bool,
}

impl SseFraming {
    /// Takes the next bytes and calls `on_frame` with every frame that they complete. Skips frames without data.
    ///
    /// # Errors
    ///
    /// [`FrameTooLarge`] in the error type of the caller, or the first error of `on_frame`. After
    /// an error, the framing must not be used again.
    pub(crate) fn push<E: From<FrameTooLarge>>(
        &mut self,
        chunk: &[u8],
        mut on_frame: impl FnMut(Frame<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut rest = chunk;
        if self.ended_in_return && !rest.is_empty() {
            self.ended_in_return = false;
            rest = rest.strip_prefix(b"\n").unwrap_or(rest);
        }
        while let Some(end) = memchr2(b'\n', b'\r', rest) {
            let (line, after) = (&rest[..end], &rest[end + 1..]);
            let is_return = rest[end] == b'\r';
            self.ended_in_return = is_return && after.is_empty();
            rest = match after.strip_prefix(b"\n") {
                Some(after) if is_return => after,
                _ => after,
            };
            self.complete_line(line, &mut on_frame)?;
        }
        self.hold(rest)?;
        Ok(())
    }

    /// Ends the stream. Calls `on_frame` with a last frame that lacks only its blank line.
    ///
    /// # Errors
    ///
    /// The same as [`SseFraming::push`].
    pub(crate) fn end<E: From<FrameTooLarge>>(
        &mut self,
        mut on_frame: impl FnMut(Frame<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        self.complete_line(b"", &mut on_frame)?;
        self.dispatch(&mut on_frame)
    }

    /// Takes the rest of a line.
    fn complete_line<E: From<FrameTooLarge>>(
        &mut self,
        end_of_line: &[u8],
        on_frame: &mut impl FnMut(Frame<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        if self.partial.is_empty() {
            return self.take_line(end_of_line, on_frame);
        }
        self.hold(end_of_line)?;
        let mut line = std::mem::take(&mut self.partial);
        self.take_line(&line, on_frame)?;
        line.clear();
        line.shrink_to(KEPT_CAPACITY);
        self.partial = line;
        Ok(())
    }

    /// Takes a line. A blank one completes a frame.
    fn take_line<E: From<FrameTooLarge>>(
        &mut self,
        line: &[u8],
        on_frame: &mut impl FnMut(Frame<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let line = if self.past_first_line {
            line
        } else {
            self.past_first_line = true;
            line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line)
        };
        if line.is_empty() {
            return self.dispatch(on_frame);
        }
        let is_object = line[0] == b'{';
        let is_stream = *self
            .is_stream
            .get_or_insert(!is_object && !matches!(line[0], b'[' | b'<'));
        let value = match line.strip_prefix(b"data") {
            Some([]) => &[],
            Some([b':', b' ', value @ ..] | [b':', value @ ..]) => value,
            _ if is_object && is_stream => line,
            _ => {
                if let Some(failure) = failure_in(line) {
                    // The lines before it are a frame of their own.
                    self.dispatch(on_frame)?;
                    self.is_error = true;
                    self.add(failure)?;
                    return self.dispatch(on_frame);
                }
                // A comment, or a field that `data` repeats.
                self.is_error |= matches!(line, b"event: error" | b"event:error");
                return Ok(());
            }
        };
        Ok(self.add(value)?)
    }

    /// Adds a line to the data of the current frame.
    fn add(&mut self, value: &[u8]) -> Result<(), FrameTooLarge> {
        if self.data.len() + value.len() >= MAX_FRAME_BYTES {
            return Err(FrameTooLarge);
        }
        if self.has_data {
            self.data.push(b'\n');
        }
        self.has_data = true;
        self.data.extend_from_slice(value);
        Ok(())
    }

    fn hold(&mut self, bytes: &[u8]) -> Result<(), FrameTooLarge> {
        if self.partial.len() + self.data.len() + bytes.len() > MAX_FRAME_BYTES {
            return Err(FrameTooLarge);
        }
        self.partial.extend_from_slice(bytes);
        Ok(())
    }

    fn dispatch<E>(
        &mut self,
        on_frame: &mut impl FnMut(Frame<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        self.has_data = false;
        let is_error = std::mem::take(&mut self.is_error);
        if !self.data.is_empty() {
            on_frame(Frame {
                data: &self.data,
                is_error,
            })?;
            self.data.clear();
            self.data.shrink_to(KEPT_CAPACITY);
        }
        Ok(())
    }
}

/// Returns the value of a field `error`, unless it tells of none.
fn failure_in(line: &[u8]) -> Option<&[u8]> {
    let value = line.strip_prefix(b"error:")?.trim_ascii();
    let is_told = !matches!(value, b"" | b"null" | b"false" | b"{}" | b"[]" | b"\"\"");
    is_told.then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frames(chunks: &[&[u8]]) -> Vec<String> {
        let mut framing = SseFraming::default();
        let mut found = Vec::new();
        let mut keep = |frame: Frame<'_>| -> Result<(), FrameTooLarge> {
            let data = String::from_utf8(frame.data.to_vec()).unwrap();
            found.push(if frame.is_error {
                format!("error {data}")
            } else {
                data
            });
            Ok(())
        };
        for chunk in chunks {
            framing.push(chunk, &mut keep).unwrap();
        }
        framing.end(&mut keep).unwrap();
        found
    }

    #[test]
    fn lines_make_frames() {
        let rows: [(&str, &[&str]); 22] = [
            ("data: a\n\n", &["a"]),
            ("data:a\n\n", &["a"]),
            ("data:  a\n\n", &[" a"]),
            ("data: a\r\n\r\ndata: b\r\n\r\n", &["a", "b"]),
            ("data: a\r\rdata: b\r\r", &["a", "b"]),
            ("data: a\ndata: b\n\n", &["a\nb"]),
            ("data: a\ndata\ndata:\n\n", &["a\n\n"]),
            ("\u{feff}data: a\n\n", &["a"]),
            (": ping\n\n: ping\ndata: a\n\n", &["a"]),
            ("event: x\nid: 1\nretry: 5\ndata: a\n\n", &["a"]),
            ("data:\n\ndata: \n\ndata\n\ndata: a\n\n", &["a"]),
            ("dataset: no\n\ndata: ü\n\n", &["ü"]),
            ("data: a\n\ndata: last", &["a", "last"]),
            ("\n\n\r\n", &[]),
            ("event: error\ndata: a\n\ndata: b\n\n", &["error a", "b"]),
            (
                "data: a\nevent:error\n\nevent: error\n\nevent: errors\ndata: b",
                &["error a", "b"],
            ),
            ("error: {\"a\":1}\n\ndata: b\n\n", &["error {\"a\":1}", "b"]),
            ("data: a\nerror:x\ndata: b\n\n", &["a", "error x", "b"]),
            ("error: null\nerror:\nerror: {}\nerrors: x\ndata: a", &["a"]),
            (": ping\n\n{\"error\":1}\n\n", &["{\"error\":1}"]),
            ("event: error\n{\"a\":1}\n\n", &["error {\"a\":1}"]),
            ("{\n\"a\":\n{}\n}\n\n[\n{}\n]", &[]),
        ];
        for (text, expected) in rows {
            assert_eq!(frames(&[text.as_bytes()]), expected, "{text:?}");
            for at in 0..text.len() {
                let (head, tail) = text.as_bytes().split_at(at);
                assert_eq!(
                    frames(&[head, b"", tail]),
                    expected,
                    "{text:?} split at {at}"
                );
            }
            let single: Vec<&[u8]> = text.as_bytes().chunks(1).collect();
            assert_eq!(frames(&single), expected, "{text:?} byte by byte");
        }
    }

    #[test]
    fn a_frame_is_bounded_in_one_line_or_many() {
        let piece = vec![b'x'; 16 << 20];
        let ignore = |_: Frame<'_>| -> Result<(), FrameTooLarge> { Ok(()) };
        let mut one_line = SseFraming::default();
        one_line.push(b"data: ", ignore).unwrap();
        for _ in 0..3 {
            one_line.push(&piece, ignore).unwrap();
        }
        assert_eq!(one_line.push(&piece, ignore), Err(FrameTooLarge));

        let mut many_lines = SseFraming::default();
        let line = [b"data: ", piece.as_slice(), b"\n"].concat();
        for _ in 0..3 {
            many_lines.push(&line, ignore).unwrap();
        }
        assert_eq!(many_lines.push(&line, ignore), Err(FrameTooLarge));

        let mut comment = SseFraming::default();
        comment.push(b":", ignore).unwrap();
        for _ in 0..3 {
            comment.push(&piece, ignore).unwrap();
        }
        assert_eq!(comment.push(&piece, ignore), Err(FrameTooLarge));
    }
}
