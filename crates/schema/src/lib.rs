//! The vocabulary of the OpenCode Session Runtime as types: identifiers, sessions, prompts,
//! messages, events. Their serde form is the wire form, key order included.
//!
//! This crate does no I/O and knows no database, provider, watcher or native module. Start with
//! [`event`], the catalogue of what can happen to a session; [`message`] is what it projects to.

pub mod agent;
pub mod bounded;
pub mod catalogue;
pub mod check;
pub mod clock;
pub mod command;
pub mod envelope;
pub mod event;
pub mod file_system;
pub mod id;
pub mod inspection;
pub mod integration;
mod json;
pub mod location;
pub mod mcp;
pub mod message;
pub mod model;
pub mod permission;
pub mod prompt;
pub mod pty;
pub mod question;
mod record;
pub mod reference;
#[cfg(test)]
#[path = "../../../fuzz/replay.rs"]
mod replay;
pub mod session;
pub mod skill;
pub mod todo;

pub use record::Record;
