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
//! Modules, in reading order:
//!
//! - [`locations`] and [`location`]: from a directory path to its snapshot.
//! - [`directory`]: the normal form of that path. [`project`]: the repository around it.
//! - [`config`]: the documents that apply to a directory, each decoded separately. Both generations of
//!   the format become the same patches.
//! - [`catalogue`]: the patches merged into providers and models, and [`Catalogue::resolve`], which
//!   turns a selection into a model that a model client can call.
//! - [`definitions`]: [`agents`], [`commands`], [`references`] and [`skills`], from documents and from
//!   Markdown files.
//! - [`instructions`]: the files that instruct a model for this directory.
//! - [`containment`]: decides if a path belongs to the directory. [`opening`]: opens a path without
//!   following links that were created after that check. [`walk`]: lists everything below the
//!   directory.
//! - [`file_system`]: the files of the directory for clients, in the order of [`collation`] and with
//!   their [`media_type`].
//!
//! [`Environment`]: environment::Environment
//! [`Locations`]: locations::Locations
//! [`Location`]: location::Location
//! [`Catalogue::resolve`]: catalogue::Catalogue::resolve

#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

pub mod agents;
pub mod catalogue;
pub mod collation;
pub mod command_environment;
pub mod commands;
pub mod config;
pub mod containment;
pub mod definitions;
pub mod directory;
pub mod environment;
pub mod file_system;
pub mod instructions;
mod known_secrets;
pub mod location;
pub mod locations;
mod markdown;
pub mod mcp;
pub mod media_type;
mod model;
mod nearest;
pub mod opening;
pub mod program_providers;
pub mod project;
pub mod references;
#[cfg(test)]
#[path = "../../../fuzz/replay.rs"]
mod replay;
pub mod secret;
pub mod skills;
pub mod trust;
mod untrusted;
pub mod walk;
