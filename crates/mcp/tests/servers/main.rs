//! Servers of the protocol, from their start to their end. The local servers are this program itself, which follows a
//! script (`script.rs`). The remote servers are HTTP servers on loopback (`http_server.rs`).

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod authorization;
mod bench;
mod calls;
mod hostile;
mod http_server;
mod life;
mod lists;
#[cfg(unix)]
mod processes;
mod questions;
mod remote;
mod script;
mod streams;
mod wild;
