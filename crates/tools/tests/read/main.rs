//! Tests of the `read` tool on real files, ordinary and malicious.

#![cfg(unix)]
#[path = "../common/mod.rs"]
mod common;

mod access;
mod content;
mod directories;
#[cfg(test)]
mod images;
mod names;
mod project;
