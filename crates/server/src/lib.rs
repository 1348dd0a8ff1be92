//! The HTTP interface: the contract's operations on the session runtime.
//!
//! [`router`] is all there is: the embedded host calls it in memory, a [`Listener`] on a socket, a
//! test as a service. It decodes requests, calls the runtime, encodes answers, and maps every
//! failure onto the status that the protocol declares. It knows no SQLite and makes no decisions.
//!
//! `routes` is the table of all operations, `operation` the way of a request, `path` finds its
//! operation, `failure` maps what went wrong, `stream` frames events and lines, `lines` reads the
//! latter, `listen` opens sockets, `network` says what requests pass between a socket and the
//! router; the other files are the handlers.

#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

mod authorization;
mod bodies;
mod catalogue;
mod compression;
mod cors;
mod definitions;
mod document;
mod failure;
mod files;
mod host;
mod inbox;
mod inspection;
mod integrations;
mod lines;
mod listen;
mod location;
mod messages;
mod network;
mod operation;
mod pages;
mod path;
mod permissions;
mod ptys;
mod questions;
mod recovery;
#[cfg(test)]
#[path = "../../../fuzz/replay.rs"]
mod replay;
mod revert;
mod routes;
mod selector;
mod sessions;
mod stream;
mod transfer;

use axum::Router;
use axum::http::StatusCode;
use opencode_runtime::Runtime;

pub use failure::{ISSUES, bug, failure, log_panic, panicked};
pub use listen::{Bounds, ListenOptions, Listener, Login, Password};

/// Every operation of the contract on this runtime.
pub fn router(runtime: Runtime) -> Router {
    // An unknown path and a known one with another method are the same: nothing is there.
    let nothing = || async { StatusCode::NOT_FOUND };
    let routes = routes::all()
        .with_state(runtime)
        .fallback(nothing)
        .method_not_allowed_fallback(nothing);
    document::routes().fallback_service(path::Canonical::new(routes))
}
