//! A client of the Model Context Protocol (<https://modelcontextprotocol.io/specification/2025-11-25>): the servers of
//! one Location, their tools, resources and prompts.
//!
//! This crate knows no sessions, no storage and no configuration files. Its caller gives the servers, and registers
//! their tools. A server is never trusted: everything that it sends is bounded, and its failures are failures of calls.

#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

mod backoff;
mod call;
mod changes;
mod client;
mod config;
mod connection;
mod content;
mod elicitation;
mod in_flight;
mod input_schema;
#[cfg(test)]
mod json;
mod limits;
mod link;
mod listing;
mod names;
pub mod oauth;
mod process;
mod prompts;
mod resources;
mod server;
mod server_log;
mod servers;
mod slot;
mod tokens;
mod tools;
mod transport;

pub use call::{Ask, AskRefused, CallContext, CallError, CallOutput, OnProgress, Progress};
pub use config::{Connection, LocalServer, OAuthOptions, RemoteServer, ServerConfig, Timeouts};
pub use names::tool_name;
pub use prompts::{PromptArgument, PromptMessage, ServerPrompt};
pub use resources::{ResourceContent, ResourceData, ServerResource, ServerResourceTemplate};
pub use server::{Change, Listener, State};
pub use servers::{Problem, ServerStatus, Servers, ServersOptions};
pub use tokens::{Challenge, NoTokens, TokenError, Tokens};
pub use tools::ServerTool;
