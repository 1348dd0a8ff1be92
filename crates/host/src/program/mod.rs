//! Functions of the embedding program that the host calls.

/// The target of log entries about functions of the program that fail.
pub(crate) const LOG_TARGET: &str = "opencode_handlers";

pub(crate) mod calls;
pub(crate) mod context_sources;
pub(crate) mod credentials;
pub(crate) mod environment;
pub(crate) mod hooks;
pub(crate) mod models;
pub(crate) mod providers;
pub(crate) mod registered;
pub(crate) mod registration;
pub(crate) mod sharing;
pub(crate) mod tools;
