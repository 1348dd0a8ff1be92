//! The Session History as the model reads it, each message lowered once.
//!
//! Somebody who knows no history reads all of it; from then on only what changed. A message that
//! did not change keeps its lowered form, so the request's unchanged prefix costs a reference count
//! per message, and the adapter recognises it without looking inside.

use std::collections::BTreeMap;
use std::io;

use opencode_llm::Message;
use opencode_store::{HistoryPoint, HistoryRead, Reader, StoreError};

use crate::lowering::{Target, lower};

/// What is known of a session's history, in the form for one model.
#[derive(Default)]
pub(crate) struct Transcript {
    /// By sequence of the messages they were made from.
    messages: BTreeMap<u64, Lowered>,
    known: Option<HistoryPoint>,
    target: Option<Target>,
    bytes: usize,
}

struct Lowered {
    messages: Vec<Message>,
    bytes: usize,
}

impl Transcript {
    /// The read that brings a transcript up to date; it runs on a reading connection. For another
    /// model than the last one everything is read anew: what is kept is lowered for that one.
    pub(crate) fn reading(
        &self,
        target: &Target,
    ) -> impl FnOnce(&Reader<'_>, i64) -> Result<HistoryRead, StoreError> + Send + use<> {
        let is_same = self.target.as_ref() == Some(target);
        let known = self.known.clone().filter(|_| is_same);
        move |reader, session| reader.history_since(session, known.as_ref())
    }

    /// Takes in what that read found.
    pub(crate) fn update(&mut self, read: HistoryRead, target: Target) {
        if read.is_whole {
            self.messages.clear();
            self.bytes = 0;
        }
        for (seq, stored) in read.messages {
            let messages = lower(&stored, &target);
            let bytes = messages.iter().map(size).sum();
            self.bytes += bytes;
            let before = self.messages.insert(seq, Lowered { messages, bytes });
            self.bytes -= before.map_or(0, |before| before.bytes);
        }
        self.known = Some(read.point);
        self.target = Some(target);
    }

    /// The messages of the next request, oldest first.
    pub(crate) fn lowered(&self) -> Vec<Message> {
        let all = self.messages.values();
        all.flat_map(|lowered| &lowered.messages).cloned().collect()
    }

    /// About how much memory the messages take: their size as JSON text.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }
}

fn size(message: &Message) -> usize {
    struct Counter(usize);
    impl io::Write for Counter {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0 += bytes.len();
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let mut counter = Counter(0);
    // Nothing in a message can fail to be written as JSON; if it did, it counts as far as it came.
    let _ = serde_json::to_writer(&mut counter, message);
    counter.0
}
