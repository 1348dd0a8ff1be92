//! Forms of requests and answers: failures, lines, streams, origins.

pub(crate) mod cors;
pub(crate) mod failure;
pub(crate) mod lines;
pub(crate) mod peer;
pub(crate) mod stream;
