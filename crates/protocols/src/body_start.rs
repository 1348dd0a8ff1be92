//! Response bodies with a success status that are not a stream.

use opencode_llm::canonical::event::LlmEvent;
use opencode_llm::surrogates;
use serde::de::IgnoredAny;

use super::failure;
use crate::sse::MAX_FRAME_BYTES;

/// The start of a body, kept while it may be one JSON value instead of a stream.
#[derive(Default)]
pub(super) struct BodyStart {
    text: Vec<u8>,
    is_stream: bool,
}

impl BodyStart {
    /// Takes the next bytes of the body.
    pub(super) fn push(&mut self, chunk: &[u8]) {
        if self.is_stream {
            return;
        }
        let chunk = match self.text.is_empty() {
            true => chunk.trim_ascii_start(),
            false => chunk,
        };
        let room = MAX_FRAME_BYTES - self.text.len();
        self.text.extend_from_slice(&chunk[..chunk.len().min(room)]);
        match self.text.first() {
            None | Some(b'{' | b'[') => {}
            Some(_) => self.found_stream(),
        }
    }

    /// Records that the body is a stream.
    pub(super) fn found_stream(&mut self) {
        *self = Self {
            text: Vec::new(),
            is_stream: true,
        };
    }

    /// Takes the body if it is a whole JSON value that reports no failure.
    pub(super) fn take_document(&mut self) -> Option<Vec<u8>> {
        let is_answer = !self.is_stream
            && serde_json::from_slice::<IgnoredAny>(&self.text).is_ok()
            && self.failure().is_none();
        is_answer.then(|| std::mem::take(&mut self.text))
    }

    /// Returns the failure that the body reports instead of a stream.
    pub(super) fn failure(&self) -> Option<LlmEvent> {
        failure::reported(&surrogates::parse(&self.text).ok()?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_large_document_behind_blank_lines_is_kept() {
        let document = format!(r#"{{"text":"{}"}}"#, "x".repeat(1 << 20));
        let mut start = BodyStart::default();
        for piece in [b"\n \r\n".as_slice(), b" "]
            .into_iter()
            .chain(document.as_bytes().chunks(1000))
        {
            start.push(piece);
        }
        assert_eq!(start.take_document(), Some(document.into_bytes()));
    }
}
