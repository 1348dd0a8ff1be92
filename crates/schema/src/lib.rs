//! The vocabulary of the OpenCode Session Runtime as types: identifiers, sessions, prompts,
//! messages, events. Their serde form is the wire form, key order included.
//!
//! This crate does no I/O and knows no database, provider, watcher or native module. Start with
//! [`event`], the catalogue of what can happen to a session; [`message`] is what it projects to.

pub mod check;
pub mod clock;
pub mod envelope;
pub mod event;
pub mod id;
pub mod location;
pub mod message;
pub mod model;
pub mod prompt;
pub mod session;

/// A JSON object whose members are not ours to interpret.
pub type Record = serde_json::Map<String, serde_json::Value>;
