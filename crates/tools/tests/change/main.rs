//! Tests of the tools that change files, on real files, ordinary and malicious.

#![cfg(unix)]
#[path = "../common/mod.rs"]
mod common;

mod access;
mod edit;
mod guarded;
mod interrupted;
mod names;
mod patch;
mod project;
mod swapped;
mod wild;
mod write;
