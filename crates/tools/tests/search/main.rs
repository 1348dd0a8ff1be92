//! The `glob` and `grep` tools on real files, friendly and hostile.

#![cfg(unix)]
#[path = "../common/mod.rs"]
mod common;

mod access;
mod glob;
mod grep;
mod hostile;
mod project;
