//! The part of a request that repeats the former request.

use std::fmt::Write;

use ring::digest::{SHA256, digest};

/// The cacheable prefix of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prefix {
    /// SHA-256 of the prefix as 64 hexadecimal digits.
    pub sha256: String,
    /// Length in bytes.
    pub bytes: u64,
}

/// The cacheable prefix of a request, and the part of it that a former request contains.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PrefixReport {
    /// The prefix.
    pub prefix: Prefix,
    /// Number of bytes at the start that both prefixes share. If only the hash of the former prefix
    /// is known, this is its full length or zero.
    pub reused: u64,
    /// True if the former request was written in the same form. `None` if only its hash is known
    /// and nothing is reused.
    pub same_form: Option<bool>,
}

impl PrefixReport {
    /// True if the request begins with the whole former prefix.
    #[must_use]
    pub fn extends(&self, former: &Prefix) -> bool {
        self.reused == former.bytes
    }
}

/// Returns the first eight hexadecimal digits of the SHA-256 of a text, which suffice to detect a change.
#[must_use]
pub fn short_hash(text: &[u8]) -> String {
    digits(&digest(&SHA256, text).as_ref()[..4])
}

/// Returns the hexadecimal digits of a hash.
#[must_use]
pub fn digits(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}
