//! A client of the Model Context Protocol (<https://modelcontextprotocol.io/specification/2025-11-25>): the servers of
//! one Location, their tools, resources and prompts.
//!
//! This crate knows no sessions, no storage and no configuration files. Its caller gives the servers, and registers
//! their tools.

#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

mod config;
mod tokens;

pub use config::{Connection, LocalServer, OAuthOptions, RemoteServer, ServerConfig, Timeouts};
pub use tokens::{Challenge, NoTokens, TokenError, Tokens};
