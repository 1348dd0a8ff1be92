//! The HTTP interface: the contract's operations on the session runtime.
//!
//! [`router()`] is the whole interface: the embedded host calls it in memory, a [`Listener`] on a socket, and a test
//! as a service. It decodes requests, calls the runtime, encodes answers, and maps every failure onto the status that
//! the protocol declares. It knows no SQLite and makes no decisions.
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
use opencode_runtime::Runtime;

pub use listen::{Bounds, ListenOptions, Listener, Login, Password};
pub use router::operation::EMBEDDED;
pub use wire::failure::{ISSUES, bug, failure, log_panic, panicked};

/// Returns the service with every operation of the contract on this runtime.
pub fn router(runtime: Runtime) -> Router {
    let operations = router::dispatch::Dispatch::new(runtime, routes::all());
    handlers::document::routes().fallback_service(operations)
}
