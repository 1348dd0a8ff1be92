//! Tests of the `bash` tool with real processes.

#![cfg(unix)]
#[path = "../common/mod.rs"]
mod common;

mod access;
mod ending;
mod load;
mod project;
mod results;
