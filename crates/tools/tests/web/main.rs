//! Tests of the tools `webfetch` and `websearch` with scripted web servers.

#[path = "../common/mod.rs"]
mod common;

mod fetch;
mod redirects;
mod scripted;
mod search;
