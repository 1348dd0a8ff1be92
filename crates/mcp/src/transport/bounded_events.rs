//! A limit on the size of each event of a stream.

use std::io;

use futures::{Stream, StreamExt as _};

use crate::limits::MAX_MESSAGE;

/// Returns the bytes of an event stream, which fails at an event that is too large.
pub(super) fn bounded<B: AsRef<[u8]>>(
    bytes: impl Stream<Item = reqwest::Result<B>>,
) -> impl Stream<Item = io::Result<B>> {
    let (mut size, mut line, mut last) = (0, 0_usize, 0);
    let mut fits = move |chunk: &[u8]| {
        chunk.iter().all(|byte| {
            match byte {
                b'\n' if last == b'\r' => {}
                // An empty line ends the event.
                b'\n' | b'\r' if line == 0 => size = 0,
                b'\n' | b'\r' => line = 0,
                _ => line += 1,
            }
            last = *byte;
            size += 1;
            size <= MAX_MESSAGE
        })
    };
    let mut is_over = false;
    bytes.scan((), move |(), chunk| {
        std::future::ready(match chunk {
            _ if is_over => None,
            Ok(chunk) if fits(chunk.as_ref()) => Some(Ok(chunk)),
            Ok(_) => {
                is_over = true;
                let reason = format!("an event has more than {MAX_MESSAGE} bytes");
                Some(Err(io::Error::other(reason)))
            }
            Err(error) => Some(Err(io::Error::other(error.without_url()))),
        })
    })
}
