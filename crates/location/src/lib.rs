//! Everything that belongs to one directory: its project, its configuration and the models that the
//! configuration offers.
//!
//! A host describes its machine once, in an [`Environment`]. This crate never reads the environment,
//! home or working directory of the process. [`Locations`] opens a directory at its first use and
//! shares the [`Location`], an immutable snapshot, among all its users.
//!
//! This crate must not depend on sessions, storage, the HTTP interface or the transport of model
//! requests. It provides the data for a request and never sends one.
//!
//! Modules, each after those that it uses:
//!
//! - [`environment`]: the machine, as the host describes it. [`secret`]: values that `Debug` does not show.
//! - [`directory`]: the normal form of a directory path, and the decision if a path belongs to it.
//!   [`project`]: the repository around it.
//! - [`config`]: the documents that apply to a directory, each decoded separately. Both generations of
//!   the format become the same patches.
//! - [`guarded`]: the files that decide what the host or Git does, and those that a tool changed.
//! - [`catalogue`]: the patches merged into providers and models, and [`Catalogue::resolve`], which
//!   turns a selection into a model that a model client can call.
//! - [`definitions`]: agents, commands, references and skills, from documents and from Markdown files.
//! - [`location`]: the snapshot of a directory, the Locations of a host, and the trust in their files.
//! - [`files`]: the files of a Location for clients and tools.
//! - [`instructions`]: the files that instruct a model for this directory.
//!
//! [`Environment`]: environment::Environment
//! [`Locations`]: location::Locations
//! [`Location`]: location::Location
//! [`Catalogue::resolve`]: catalogue::Catalogue::resolve

#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

pub mod catalogue;
mod changed_documents;
pub mod config;
pub mod definitions;
pub mod directory;
pub mod environment;
pub mod files;
pub mod guarded;
pub mod instructions;
pub mod location;
mod model;
mod nearest;
pub mod project;
#[cfg(test)]
#[path = "../../../fuzz/replay.rs"]
mod replay;
pub mod secret;
