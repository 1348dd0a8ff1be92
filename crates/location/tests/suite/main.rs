//! The crate as its users see it, on machines of temporary directories.

// Clippy takes for a test what says so; helpers may unwrap as the tests beside them do.

#[cfg(test)]
mod agents;
#[cfg(test)]
mod catalogue;
#[cfg(test)]
mod configuration;
#[cfg(test)]
mod documents;
#[cfg(test)]
mod locations;
#[cfg(test)]
mod machine;
#[cfg(test)]
mod project;
#[cfg(test)]
mod resolution;
