//! Bodies of lines, read as they arrive.

use std::io;

use axum::body::Body;
use bytes::{Bytes, BytesMut};
use futures::{Stream, TryStreamExt as _};
use opencode_runtime::MAX_IMPORT_LINE_BYTES;
use tokio_util::codec::{AnyDelimiterCodec, AnyDelimiterCodecError, Decoder, FramedRead};
use tokio_util::io::StreamReader;

/// The lines of a body.
#[derive(Default)]
pub(crate) struct Lines(Body);

/// The reason why the lines of a body end early.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LinesError {
    /// The connection failed before the end of the body.
    #[error("the body cannot be read: {0}")]
    Broken(#[from] io::Error),
    /// A line has more bytes than this maximum. The rest of it is not read.
    #[error("the next one is longer than {0} bytes")]
    TooLong(usize),
    /// A line is not UTF-8. Replacing the invalid bytes would change it.
    #[error("the next one is not UTF-8")]
    NotText,
}

impl Lines {
    pub(crate) fn of(body: Body) -> Self {
        Self(body)
    }

    /// Returns the lines without their line ends. The last line may lack it. Ends with the first failure.
    pub(crate) fn into_stream(self) -> impl Stream<Item = Result<String, LinesError>> + Send {
        self.bounded(MAX_IMPORT_LINE_BYTES)
    }

    fn bounded(self, longest: usize) -> impl Stream<Item = Result<String, LinesError>> + Send {
        let body = self.0.into_data_stream().map_err(io::Error::other);
        FramedRead::new(StreamReader::new(body), LineDecoder::new(longest))
    }
}

/// Decodes lines. `LinesCodec` of the same library would remove a `\r` before a line end.
struct LineDecoder {
    lines: AnyDelimiterCodec,
    /// Maximum length of a line in bytes.
    longest: usize,
}

impl LineDecoder {
    fn new(longest: usize) -> Self {
        let end = b"\n".to_vec();
        Self {
            lines: AnyDelimiterCodec::new_with_max_length(end.clone(), end, longest),
            longest,
        }
    }

    fn text(
        &self,
        line: Result<Option<Bytes>, AnyDelimiterCodecError>,
    ) -> Result<Option<String>, LinesError> {
        let line = line.map_err(|error| match error {
            AnyDelimiterCodecError::MaxChunkLengthExceeded => LinesError::TooLong(self.longest),
            AnyDelimiterCodecError::Io(error) => LinesError::Broken(error),
        })?;
        let text = line.map(|line| String::from_utf8(line.into()));
        text.transpose().map_err(|_| LinesError::NotText)
    }
}

impl Decoder for LineDecoder {
    type Item = String;
    type Error = LinesError;

    fn decode(&mut self, arrived: &mut BytesMut) -> Result<Option<String>, LinesError> {
        let line = self.lines.decode(arrived);
        self.text(line)
    }

    fn decode_eof(&mut self, arrived: &mut BytesMut) -> Result<Option<String>, LinesError> {
        let line = self.lines.decode_eof(arrived);
        self.text(line)
    }
}

#[cfg(test)]
mod tests {
    use futures::{FutureExt, StreamExt, stream};

    use super::*;

    const LONGEST: usize = 16 * 1024;

    /// Returns the lines of a body that arrives in these pieces, and the failure that ended them.
    fn read(pieces: Vec<Result<Bytes, io::Error>>) -> (Vec<String>, Option<String>) {
        let lines = Lines::of(Body::from_stream(stream::iter(pieces)));
        let read: Vec<_> = lines
            .bounded(LONGEST)
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
    fn lines_are_found_at_any_split_of_the_body() {
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
    fn an_invalid_line_is_reported_and_ends_the_lines() {
        let filler = "x".repeat(1024);
        let long = |kilobytes| vec![filler.as_bytes(); kilobytes];
        let too_long = "the next one is longer than 16384 bytes".to_owned();
        // A line that has not ended, and one that arrived in one piece.
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
