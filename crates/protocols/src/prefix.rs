//! Measures the part of a request that repeats the former request.
//!
//! The cacheable prefix of a request is its system text and its messages in wire form, without the
//! closing delimiters of the last message. Tools and settings are not part of it.

use opencode_llm::canonical::prefix::{Prefix, digits};
use ring::digest::{Context, SHA256};

/// Hashes a text that only grows, so that only new bytes are hashed.
pub(super) struct PrefixHasher {
    hash: Context,
    /// Number of bytes that are already hashed.
    hashed: usize,
    last_report: Option<LastReport>,
}

/// The prefix of the last report.
struct LastReport {
    /// Number of bytes of the text that belong to the prefix.
    len: usize,
    /// The bytes that followed the text.
    end: Vec<u8>,
    prefix: Prefix,
}

/// A prefix as bytes: a growing text, and the bytes that follow it in this request only.
#[derive(Clone, Copy)]
pub(super) struct Pieces<'a> {
    pub(super) text: &'a [u8],
    pub(super) end: &'a [u8],
}

impl Pieces<'_> {
    fn len(self) -> usize {
        self.text.len() + self.end.len()
    }

    fn hash_of_first(self, bytes: usize) -> String {
        let mut hash = Context::new(&SHA256);
        let text = bytes.min(self.text.len());
        hash.update(&self.text[..text]);
        hash.update(&self.end[..bytes - text]);
        hex(hash)
    }

    /// Returns the number of equal bytes at the start. The first `known` bytes of the texts are
    /// assumed to be equal.
    fn common(self, other: Pieces<'_>, known: usize) -> usize {
        let one = self.text[known..].iter().chain(self.end);
        let other = other.text[known..].iter().chain(other.end);
        known
            + one
                .zip(other)
                .take_while(|(one, other)| one == other)
                .count()
    }
}

impl Default for PrefixHasher {
    fn default() -> Self {
        Self {
            hash: Context::new(&SHA256),
            hashed: 0,
            last_report: None,
        }
    }
}

impl PrefixHasher {
    /// Returns the size of its heap data in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.last_report
            .as_ref()
            .map_or(0, |last_report| last_report.end.capacity())
    }

    /// Reports the prefix of the next request. The text must begin with the text of the last
    /// report. `replaced` is the tally and text of the former request if that was another text.
    pub(super) fn report(
        &mut self,
        now: Pieces<'_>,
        former: Option<&Prefix>,
        replaced: Option<(&Self, &[u8])>,
    ) -> (Prefix, u64) {
        let known = match replaced {
            Some((tally, text)) => tally
                .last_report
                .as_ref()
                .map(|last_report| (last_report, text, 0)),
            None => self
                .last_report
                .as_ref()
                .map(|last_report| (last_report, now.text, last_report.len)),
        };
        let known = known.filter(|(last_report, ..)| former == Some(&last_report.prefix));
        let reused = match (known, former) {
            (Some((last_report, text, same)), _) => {
                let (text, end) = (&text[..last_report.len], last_report.end.as_slice());
                Pieces { text, end }.common(now, same)
            }
            (None, Some(former)) => verified(now, former),
            (None, None) => 0,
        };
        self.hash.update(&now.text[self.hashed..]);
        self.hashed = now.text.len();
        let mut hash = self.hash.clone();
        hash.update(now.end);
        let prefix = Prefix {
            sha256: hex(hash),
            bytes: now.len() as u64,
        };
        self.last_report = Some(LastReport {
            len: now.text.len(),
            end: now.end.to_vec(),
            prefix: prefix.clone(),
        });
        (prefix, reused as u64)
    }
}

/// Returns the length of the former prefix if its hash matches the start of the text, otherwise zero.
fn verified(now: Pieces<'_>, former: &Prefix) -> usize {
    let bytes = usize::try_from(former.bytes).unwrap_or(usize::MAX);
    let is_same = bytes <= now.len() && now.hash_of_first(bytes) == former.sha256;
    if is_same { bytes } else { 0 }
}

fn hex(hash: Context) -> String {
    digits(hash.finish().as_ref())
}
