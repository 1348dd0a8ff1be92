//! Tests of the public interface of the crate, on machines in temporary directories.

// Clippy recognises tests by their attributes. With them, helpers may unwrap like the tests next to them.

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
mod guarded;
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
#[cfg(unix)]
mod meant;
#[cfg(test)]
mod migration;
#[cfg(test)]
mod packages;
#[cfg(test)]
mod program_providers;
#[cfg(test)]
mod project;
#[cfg(test)]
mod reloading;
#[cfg(test)]
mod repeated;
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
