//! Tests of the public interface of the crate.

// Clippy recognizes tests by `cfg(test)`, so helpers may unwrap like the tests next to them.

#[cfg(test)]
mod algebra;
#[cfg(test)]
mod laws;
#[cfg(test)]
mod observing;
#[cfg(test)]
mod registered;
#[cfg(test)]
mod support;
