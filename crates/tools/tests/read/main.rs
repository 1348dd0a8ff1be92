//! The `read` tool on real files, friendly and hostile.

#![cfg(unix)]
#[path = "../common/mod.rs"]
mod common;

mod access;
mod content;
mod directories;
#[cfg(test)]
mod images;
mod project;
