//! The types of the OpenCode Session Runtime: identifiers, sessions, prompts, messages and events.
//! Their serde form is the wire form, including the order of keys.
//!
//! This crate does no I/O and does not depend on a database, a provider, a watcher or a native
//! module. Start with [`event`], the catalogue of session events. [`message`] has the messages that
//! events project to.

pub mod agent;
pub mod bounded;
pub mod catalogue;
pub mod check;
pub mod clock;
pub mod command;
pub mod display;
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
pub mod storage;
pub mod todo;

pub use record::Record;
