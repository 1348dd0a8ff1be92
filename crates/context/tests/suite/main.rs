//! The crate as its users see it.

// Clippy takes for a test what says so; helpers may unwrap as the tests beside them do.

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
