//! The decoders against inputs that nobody made with good intentions: the corpus, mutations of it,
//! and what random structures look like on the wire.
//!
//! `npm run fuzz` runs these longer.

#[cfg(test)]
mod bodies;
#[cfg(test)]
mod corpus;
#[cfg(test)]
mod cursors;
#[cfg(test)]
mod queries;
