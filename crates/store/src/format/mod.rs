//! The stored form of entries.

mod dictionary;
pub(crate) mod encoding;
pub(crate) mod entry;
pub(crate) mod former;
pub(crate) mod packed;
pub(crate) mod stored;
pub(crate) mod version;
