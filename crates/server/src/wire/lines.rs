//! Bodies of lines, read as they arrive.

use std::fmt;

use axum::body::{Body, Bytes};
use bytes::Buf;
use futures::stream::{self, Stream};
use http_body_util::BodyExt;
use opencode_runtime::MAX_IMPORT_LINE_BYTES;

/// The lines of a body.
pub(crate) struct Lines {
    /// None when it has ended.
    body: Option<Body>,
    /// Received bytes that are not read yet.
    arrived: Bytes,
    /// The beginning of a line whose end has not arrived.
    begun: Vec<u8>,
    /// Bytes of one line at most.
    longest: usize,
}

impl Default for Lines {
    fn default() -> Self {
        Self {
            body: None,
            arrived: Bytes::new(),
            begun: Vec::new(),
            longest: MAX_IMPORT_LINE_BYTES,
        }
    }
}

/// Why the lines of a body end before it does.
#[derive(Debug)]
pub(crate) enum LinesError {
    /// The body broke.
    Broken(axum::Error),
    /// A line has more bytes than these. The rest of it is not waited for.
    TooLong(usize),
    /// A line is no text. It would not be the same with its bad bytes replaced.
    NotText,
}

impl fmt::Display for LinesError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Broken(error) => write!(f, "the body cannot be read: {error}"),
            Self::TooLong(longest) => write!(f, "the next one is longer than {longest} bytes"),
            Self::NotText => f.write_str("the next one is not UTF-8"),
        }
    }
}

impl Lines {
    pub(crate) fn of(body: Body) -> Self {
        Self {
            body: Some(body),
            ..Self::default()
        }
    }

    /// The lines without their line ends; the last one may lack it. Ends with the first failure.
    pub(crate) fn into_stream(self) -> impl Stream<Item = Result<String, LinesError>> + Send {
        stream::unfold(Some(self), |lines| async {
            let mut lines = lines?;
            match lines.next().await {
                Ok(line) => line.map(|line| (Ok(line), Some(lines))),
                Err(error) => Some((Err(error), None)),
            }
        })
    }

    async fn next(&mut self) -> Result<Option<String>, LinesError> {
        loop {
            if let Some(end) = self.arrived.iter().position(|byte| *byte == b'\n') {
                let line = self.arrived.split_to(end);
                self.arrived.advance(1);
                return self.finish(&line).map(Some);
            }
            let begun = std::mem::take(&mut self.arrived);
            self.begin(&begun)?;
            let Some(body) = &mut self.body else {
                return Ok(None);
            };
            match body.frame().await {
                Some(frame) => {
                    let data = frame.map_err(LinesError::Broken)?.into_data();
                    self.arrived = data.unwrap_or_default();
                }
                None => {
                    self.body = None;
                    if !self.begun.is_empty() {
                        return self.finish(&[]).map(Some);
                    }
                }
            }
        }
    }

    /// Keeps the beginning of a line.
    fn begin(&mut self, part: &[u8]) -> Result<(), LinesError> {
        if self.begun.len() + part.len() > self.longest {
            return Err(LinesError::TooLong(self.longest));
        }
        self.begun.extend_from_slice(part);
        Ok(())
    }

    /// The line that ends with this part.
    fn finish(&mut self, part: &[u8]) -> Result<String, LinesError> {
        self.begin(part)?;
        String::from_utf8(std::mem::take(&mut self.begun)).map_err(|_| LinesError::NotText)
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use futures::{FutureExt, StreamExt};

    use super::*;

    const LONGEST: usize = 16 * 1024;

    /// The lines of a body that comes in these pieces, and why there are no more.
    fn read(pieces: Vec<Result<Bytes, io::Error>>) -> (Vec<String>, Option<String>) {
        let lines = Lines {
            longest: LONGEST,
            ..Lines::of(Body::from_stream(stream::iter(pieces)))
        };
        let read: Vec<_> = lines
            .into_stream()
            .collect()
            .now_or_never()
            .expect("all of it is there");
        let (mut lines, mut problem) = (Vec::new(), None);
        for line in read {
            assert_eq!(problem, None, "nothing follows a problem");
            match line {
                Ok(line) => lines.push(line),
                Err(error) => problem = Some(error.to_string()),
            }
        }
        (lines, problem)
    }

    fn pieces<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> Vec<Result<Bytes, io::Error>> {
        let pieces = pieces.into_iter();
        pieces.map(|it| Ok(Bytes::copy_from_slice(it))).collect()
    }

    #[test]
    fn lines_are_told_apart_wherever_the_body_is_split() {
        for (text, lines) in [
            ("", &[][..]),
            ("a", &["a"][..]),
            ("a\n", &["a"]),
            ("a\nb", &["a", "b"]),
            ("\u{e9}\n\n\u{1f600}\r\n", &["\u{e9}", "", "\u{1f600}\r"]),
        ] {
            for at in 0..=text.len() {
                let (head, tail) = text.as_bytes().split_at(at);
                let expected = (lines.iter().map(|it| (*it).to_owned()).collect(), None);
                assert_eq!(read(pieces([head, tail])), expected, "{text:?} at {at}");
            }
            let single = pieces(text.as_bytes().chunks(1));
            assert_eq!(read(single).0, lines, "{text:?}");
        }
    }

    #[test]
    fn what_is_no_line_is_told_and_ends_them() {
        let filler = "x".repeat(1024);
        let long = |kilobytes| vec![filler.as_bytes(); kilobytes];
        let too_long = "the next one is longer than 16384 bytes".to_owned();
        // One that has not ended, and one that came in one piece.
        let endless = [vec![&b"a\n"[..]], long(17)].concat();
        let whole = [b"a\n", long(17).concat().as_slice(), b"\nb\n"].concat();
        for (body, problem) in [
            (pieces(endless), too_long.clone()),
            (pieces([whole.as_slice()]), too_long),
            (
                pieces([&b"a\n\xff\nb\n"[..]]),
                "the next one is not UTF-8".to_owned(),
            ),
        ] {
            assert_eq!(read(body), (vec!["a".to_owned()], Some(problem)));
        }
        let fits = [long(16), vec![&b"\n"[..]]].concat();
        assert_eq!(read(pieces(fits)), (vec![filler.repeat(16)], None));
    }

    #[test]
    fn a_body_that_breaks_is_no_body_that_ends() {
        let mut body = pieces([&b"a\nb"[..]]);
        body.push(Err(io::Error::other("reset")));
        let problem = "the body cannot be read: reset".to_owned();
        assert_eq!(read(body), (vec!["a".to_owned()], Some(problem)));
    }
}
