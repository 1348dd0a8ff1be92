//! The stored form of entries.

pub(crate) mod codec;
pub(crate) mod entry;
pub(crate) mod packed;
pub(crate) mod phrases;
pub(crate) mod version;
