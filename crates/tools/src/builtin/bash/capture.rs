//! Captures the output of a command as text, up to a limit.

use encoding_rs::{Decoder, UTF_8};
use tokio::io::{AsyncRead, AsyncReadExt};

/// Maximum number of captured bytes. Later output is read and discarded.
const MAX_BYTES: usize = 1024 * 1024;

/// Number of bytes per read, which is the capacity of a pipe.
const CHUNK_BYTES: usize = 64 * 1024;

/// The beginning of a command's output, as far as it was read.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Captured {
    pub(super) text: String,
    /// True if the command printed more.
    pub(super) truncated: bool,
}

/// Collects the bytes of two streams in the order of their arrival.
#[derive(Default)]
pub(super) struct Capture {
    captured: Captured,
    taken: usize,
}

impl Capture {
    /// Reads both streams to their ends. If this future is dropped, the output read so far is kept.
    pub(super) async fn read(
        &mut self,
        mut out: impl AsyncRead + Unpin,
        mut err: impl AsyncRead + Unpin,
    ) {
        let mut streams = [Stream::default(), Stream::default()];
        let mut buffers = [vec![0; CHUNK_BYTES], vec![0; CHUNK_BYTES]];
        let [out_buffer, err_buffer] = &mut buffers;
        while streams.iter().any(|stream| !stream.ended) {
            let (stream, bytes) = tokio::select! {
                read = out.read(out_buffer), if !streams[0].ended => {
                    (&mut streams[0], &out_buffer[..read.unwrap_or(0)])
                }
                read = err.read(err_buffer), if !streams[1].ended => {
                    (&mut streams[1], &err_buffer[..read.unwrap_or(0)])
                }
            };
            self.take(stream, bytes);
        }
    }

    /// Adds bytes of a stream. An empty slice marks the end of the stream.
    fn take(&mut self, stream: &mut Stream, bytes: &[u8]) {
        let Captured { text, truncated } = &mut self.captured;
        if bytes.is_empty() {
            // An incomplete character at the end becomes a replacement character, unless the limit has
            // cut it.
            stream.decode(bytes, text, !*truncated);
            stream.ended = true;
            return;
        }
        let kept = &bytes[..bytes.len().min(MAX_BYTES - self.taken)];
        self.taken += kept.len();
        *truncated |= kept.len() < bytes.len();
        stream.decode(kept, text, false);
    }

    pub(super) fn finish(self) -> Captured {
        self.captured
    }
}

/// Decodes the bytes of one stream, independent of the chunks in which they arrive.
struct Stream {
    decoder: Decoder,
    ended: bool,
}

impl Default for Stream {
    fn default() -> Self {
        Self {
            decoder: UTF_8.new_decoder_without_bom_handling(),
            ended: false,
        }
    }
}

impl Stream {
    /// `last` replaces an incomplete character at the end.
    fn decode(&mut self, bytes: &[u8], text: &mut String, last: bool) {
        // `decode_to_string` writes only as much as the capacity allows.
        let most = self.decoder.max_utf8_buffer_length(bytes.len());
        text.reserve(most.unwrap_or(usize::MAX));
        let _ = self.decoder.decode_to_string(bytes, text, last);
    }
}

#[cfg(test)]
mod tests {
    use futures::future::join;
    use proptest::prelude::*;
    use tokio::{
        io::{AsyncWriteExt, duplex},
        task::yield_now,
    };

    use super::*;

    async fn capture(out: &[u8], err: &[u8]) -> Captured {
        let mut capture = Capture::default();
        capture.read(out, err).await;
        capture.finish()
    }

    #[tokio::test]
    async fn the_limit_is_exact_and_cuts_no_character() {
        let exact = "x".repeat(MAX_BYTES);
        let whole = |truncated| Captured {
            text: exact.clone(),
            truncated,
        };
        assert_eq!(capture(exact.as_bytes(), b"").await, whole(false));
        let more = format!("{exact}y");
        assert_eq!(capture(more.as_bytes(), b"").await, whole(true));
        let cut = format!("{}é", &exact[1..]);
        let expected = Captured {
            text: exact[1..].to_owned(),
            truncated: true,
        };
        assert_eq!(capture(cut.as_bytes(), b"").await, expected);
    }

    #[tokio::test]
    async fn two_streams_are_joined_in_the_order_of_arrival() {
        let ((mut out, from_out), (mut err, from_err)) = (duplex(8), duplex(8));
        let mut capture = Capture::default();
        let writing = async move {
            for number in 0..8 {
                let stream = if number % 3 == 0 { &mut err } else { &mut out };
                stream.write_all(&[b'0' + number]).await.unwrap();
                // The reader, which always runs first, reads the byte now.
                yield_now().await;
            }
        };
        join(capture.read(from_out, from_err), writing).await;
        assert_eq!(capture.finish().text, "01234567");
    }

    proptest! {
        #[test]
        fn the_text_does_not_depend_on_the_split_of_the_bytes(
            bytes in prop::collection::vec(prop_oneof![
                any::<u8>().prop_map(|byte| vec![byte]),
                any::<char>().prop_map(|char| char.to_string().into_bytes()),
            ], 0..40).prop_map(|parts| parts.concat()),
            size in 1_usize..6,
        ) {
            let (mut capture, mut stream) = (Capture::default(), Stream::default());
            for chunk in bytes.chunks(size) {
                capture.take(&mut stream, chunk);
            }
            capture.take(&mut stream, b"");
            prop_assert_eq!(capture.finish().text, String::from_utf8_lossy(&bytes));
        }

        #[test]
        fn one_stream_does_not_break_characters_of_the_other(
            (out, err) in ("\\PC{0,20}", "\\PC{0,20}"),
            size in 1_usize..6,
        ) {
            let (mut capture, mut streams) = (Capture::default(), [Stream::default(), Stream::default()]);
            let mut chunks = [out.as_bytes().chunks(size), err.as_bytes().chunks(size)];
            loop {
                let next = chunks.each_mut().map(Iterator::next);
                for (stream, bytes) in streams.iter_mut().zip(next) {
                    if !stream.ended {
                        capture.take(stream, bytes.unwrap_or_default());
                    }
                }
                if next == [None, None] {
                    break;
                }
            }
            let mut expected: Vec<char> = out.chars().chain(err.chars()).collect();
            let mut text: Vec<char> = capture.finish().text.chars().collect();
            expected.sort_unstable();
            text.sort_unstable();
            prop_assert_eq!(text, expected);
        }
    }
}
