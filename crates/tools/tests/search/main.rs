//! Tests of the `glob` and `grep` tools on real files, ordinary and malicious.

#![cfg(unix)]
#[path = "../common/mod.rs"]
mod common;

mod access;
mod glob;
mod grep;
mod hostile;
mod project;
mod shown;
