//! The way of a request to its handler: path, Location, decoding, encoding.

pub(crate) mod operation;
pub(crate) mod path;
pub(crate) mod selector;
pub(crate) mod ticket;
