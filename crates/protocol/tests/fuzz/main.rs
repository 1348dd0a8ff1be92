//! The decoders with hostile inputs: the corpus, mutations of it, and random structures in the form of the wire.
//!
//! `npm run fuzz` searches for inputs that violate the same properties, guided by coverage.

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
