//! The proof that a request begins with what the one before said.
//!
//! The cacheable prefix of a request is its system text and its messages as the protocol writes
//! them, without what closes the last of them. Tools and settings are no part of it.

use std::fmt::Write;

use ring::digest::{Context, SHA256, digest};

/// The cacheable prefix of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prefix {
    /// SHA-256 of its bytes, 64 hexadecimal digits.
    pub sha256: String,
    /// How long it is.
    pub bytes: u64,
}

/// The cacheable prefix of a request, and what of it a former one said already.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PrefixReport {
    /// The prefix.
    pub prefix: Prefix,
    /// Bytes at its beginning that the former prefix begins with as well. Where the former prefix is
    /// known by its hash alone, either all of them or none.
    pub reused: u64,
    /// Whether the former request was written in the same form; unknown where it is known by its
    /// hash alone.
    pub same_form: Option<bool>,
}

impl PrefixReport {
    /// Whether the request begins with all of the former prefix.
    #[must_use]
    pub fn extends(&self, former: &Prefix) -> bool {
        self.reused == former.bytes
    }
}

/// Follows a text that only grows, so that only what is new is hashed.
pub(super) struct Tally {
    hash: Context,
    /// Bytes of the text that the hash knows.
    hashed: usize,
    told: Option<Told>,
}

/// The prefix that was reported last.
struct Told {
    /// Bytes of the text that belong to it.
    len: usize,
    /// What came behind them.
    end: Vec<u8>,
    prefix: Prefix,
}

/// A prefix as bytes: a text that grows, and what comes behind it in this request.
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

    /// How many bytes at the beginning are the same, the first `known` of the texts unread.
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

impl Default for Tally {
    fn default() -> Self {
        Self {
            hash: Context::new(&SHA256),
            hashed: 0,
            told: None,
        }
    }
}

impl Tally {
    /// What it takes beyond itself.
    pub(super) fn bytes(&self) -> usize {
        self.told.as_ref().map_or(0, |told| told.end.capacity())
    }

    /// Reports the prefix of the next request. The text must begin with the one of the last report.
    /// `replaced` is the text that the former request was written from, where it was another.
    pub(super) fn report(
        &mut self,
        now: Pieces<'_>,
        former: Option<&Prefix>,
        replaced: Option<(&Self, &[u8])>,
    ) -> (Prefix, u64) {
        let known = match replaced {
            Some((tally, text)) => tally.told.as_ref().map(|told| (told, text, 0)),
            None => self.told.as_ref().map(|told| (told, now.text, told.len)),
        };
        let known = known.filter(|(told, ..)| former == Some(&told.prefix));
        let reused = match (known, former) {
            (Some((told, text, same)), _) => {
                let (text, end) = (&text[..told.len], told.end.as_slice());
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
        self.told = Some(Told {
            len: now.text.len(),
            end: now.end.to_vec(),
            prefix: prefix.clone(),
        });
        (prefix, reused as u64)
    }
}

/// The length of a prefix of which only the hash is known, if the text begins with it.
fn verified(now: Pieces<'_>, former: &Prefix) -> usize {
    let bytes = usize::try_from(former.bytes).unwrap_or(usize::MAX);
    let is_same = bytes <= now.len() && now.hash_of_first(bytes) == former.sha256;
    if is_same { bytes } else { 0 }
}

/// The first eight hexadecimal digits of the SHA-256 of a text: enough to notice that it changed.
#[must_use]
pub fn short_hash(text: &[u8]) -> String {
    digits(&digest(&SHA256, text).as_ref()[..4])
}

fn hex(hash: Context) -> String {
    digits(hash.finish().as_ref())
}

fn digits(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}
