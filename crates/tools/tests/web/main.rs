//! The tools `webfetch` and `websearch`, on a web that the test decides.

#[path = "../common/mod.rs"]
mod common;

mod fetch;
mod redirects;
mod scripted;
mod search;
