//! The decoders against inputs that nobody made with good intentions: the corpus, mutations of it,
//! and what random structures look like on the wire.
//!
//! `npm run fuzz` looks for inputs that break the same properties, guided by coverage.

#![expect(
    clippy::expect_used,
    reason = "a helper that cannot go on fails its test"
)]

#[cfg(test)]
mod bodies;
#[cfg(test)]
mod corpus;
#[cfg(test)]
mod cursors;
mod properties;
#[cfg(test)]
mod queries;
#[cfg(test)]
#[path = "../../../../fuzz/replay.rs"]
mod replay;
