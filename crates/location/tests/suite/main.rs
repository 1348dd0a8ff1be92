//! The crate as its users see it, on machines of temporary directories.

// Clippy takes for a test what says so; helpers may unwrap as the tests beside them do.

#[cfg(test)]
mod arbitrary;
#[cfg(test)]
mod availability;
#[cfg(test)]
mod catalogue;
#[cfg(test)]
mod ceiling;
#[cfg(test)]
mod configuration;
#[cfg(test)]
#[cfg(unix)]
mod contained;
#[cfg(test)]
mod definitions;
#[cfg(test)]
mod documents;
#[cfg(test)]
#[cfg(unix)]
mod files;
#[cfg(test)]
mod host_model;
#[cfg(test)]
mod hostile;
#[cfg(test)]
mod instructions;
#[cfg(test)]
mod keys;
#[cfg(test)]
mod listed;
#[cfg(test)]
mod locations;
#[cfg(test)]
mod machine;
#[cfg(test)]
mod migration;
#[cfg(test)]
mod project;
#[cfg(test)]
mod reloading;
#[cfg(test)]
#[cfg(unix)]
#[path = "../../../../fuzz/replay.rs"]
mod replay;
#[cfg(test)]
mod resolution;
#[cfg(test)]
mod trust;
#[cfg(test)]
mod trust_decisions;
