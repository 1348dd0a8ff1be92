//! The HTTP interface: the contract's operations on the session runtime.
//!
//! [`router()`] is all there is: the embedded host calls it in memory, a [`Listener`] on a socket, a
//! test as a service. It decodes requests, calls the runtime, encodes answers, and maps every
//! failure onto the status that the protocol declares. It knows no SQLite and makes no decisions.
//!
//! - `wire`: forms of requests and answers (failures, lines, streams).
//! - `router`: the way of a request to its handler.
//! - `listen`: the same routes on a socket, with credentials, CORS, compression and bounds.
//! - `handlers`: one file per group of operations.
//! - `routes`: the table of operations and handlers.

#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

mod handlers;
mod listen;
#[cfg(test)]
#[path = "../../../fuzz/replay.rs"]
mod replay;
mod router;
mod routes;
mod wire;

use axum::Router;
use axum::http::StatusCode;
use opencode_runtime::Runtime;

pub use listen::{Bounds, ListenOptions, Listener, Login, Password};
pub use wire::failure::{ISSUES, bug, failure, log_panic, panicked};

/// Every operation of the contract on this runtime.
pub fn router(runtime: Runtime) -> Router {
    // An unknown path and a known one with another method are the same: nothing is there.
    let nothing = || async { StatusCode::NOT_FOUND };
    let routes = routes::all()
        .with_state(runtime)
        .fallback(nothing)
        .method_not_allowed_fallback(nothing);
    handlers::document::routes().fallback_service(router::path::Canonical::new(routes))
}
