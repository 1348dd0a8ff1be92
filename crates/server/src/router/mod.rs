//! The way of a request to its handler: path, Location, decoding, encoding.

pub(crate) mod answer;
pub(crate) mod dispatch;
pub(crate) mod operation;
pub(crate) mod path;
pub(crate) mod selector;
pub(crate) mod ticket;
