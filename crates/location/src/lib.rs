//! Everything that belongs to one directory: its project, its configuration and the models that
//! configuration offers.
//!
//! A host describes its machine once, in an [`Environment`]; nothing here reads the process's own
//! environment, home or working directory. [`Locations`] opens a directory on first use and shares
//! the [`Location`], an immutable snapshot, among all who work there.
//!
//! This crate must not know about sessions, storage, the HTTP interface or how a model request is
//! sent. It hands out what a request needs and never sends one.
//!
//! How to read it:
//!
//! - [`locations`] and [`location`]: from a directory's name to its snapshot.
//! - [`directory`]: the normal form of that name. [`project`]: the repository around it.
//! - [`config`]: the documents that speak for a directory, each decoded by itself. Both generations
//!   of the format end in the same patches there.
//! - [`catalogue`]: the patches merged into providers and models, and [`Catalogue::resolve`], which
//!   turns a selection into something a model client can call.
//! - [`definitions`]: [`agents`], [`commands`], [`references`] and [`skills`], from documents and from
//!   Markdown files.
//! - [`instructions`]: the files that tell a model how to work there.
//! - [`containment`]: whether a path belongs to the directory. [`opening`]: without following links
//!   that came later. [`walk`]: everything below it.
//! - [`file_system`]: its files for clients, in the order of [`collation`] and with their
//!   [`media_type`].
//!
//! [`Environment`]: environment::Environment
//! [`Locations`]: locations::Locations
//! [`Location`]: location::Location
//! [`Catalogue::resolve`]: catalogue::Catalogue::resolve

#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

pub mod agents;
mod bounded;
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
pub mod media_type;
mod model;
mod nearest;
pub mod opening;
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
