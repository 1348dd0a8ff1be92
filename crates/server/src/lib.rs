//! The HTTP interface: the contract's operations on the session runtime.
//!
//! [`router`] is all there is: the embedded host calls it in memory, a listener on a socket, a test
//! as a service. It decodes requests, calls the runtime, encodes answers, and maps every failure
//! onto the status that the protocol declares. It knows no SQLite and makes no decisions.
//!
//! `operation` is the way of a request, `path` finds its operation, `failure` maps what went wrong,
//! `stream` frames events and lines, `lines` reads the latter; the other files are the handlers.

mod failure;
mod host;
mod inbox;
mod lines;
mod location;
mod messages;
mod operation;
mod path;
mod recovery;
mod sessions;
mod stream;
mod transfer;

use axum::Router;
use axum::http::StatusCode;
use opencode_protocol::operations as op;
use opencode_runtime::Runtime;

use crate::operation::route;

/// Every operation of the contract on this runtime.
pub fn router(runtime: Runtime) -> Router {
    let routes = Router::new()
        .merge(route::<op::HealthGet, _, _>(host::health))
        .merge(route::<op::LocationGet, _, _>(host::location))
        .merge(route::<op::EventSubscribe, _, _>(host::subscribe))
        .merge(route::<op::SessionCreate, _, _>(sessions::create))
        .merge(route::<op::SessionList, _, _>(sessions::list))
        .merge(route::<op::SessionGet, _, _>(sessions::get))
        .merge(route::<op::SessionActive, _, _>(sessions::active))
        .merge(route::<op::SessionPrompt, _, _>(sessions::prompt))
        .merge(route::<op::SessionInterrupt, _, _>(sessions::interrupt))
        .merge(route::<op::SessionWait, _, _>(sessions::wait))
        .merge(route::<op::SessionCompact, _, _>(sessions::compact))
        .merge(route::<op::SessionSwitchAgent, _, _>(
            sessions::switch_agent,
        ))
        .merge(route::<op::SessionSwitchModel, _, _>(
            sessions::switch_model,
        ))
        .merge(route::<op::SessionMessages, _, _>(messages::list))
        .merge(route::<op::SessionMessageGet, _, _>(messages::get))
        .merge(route::<op::SessionContext, _, _>(messages::context))
        .merge(route::<op::SessionHistoryGet, _, _>(messages::history))
        .merge(route::<op::SessionEvents, _, _>(messages::events))
        .merge(route::<op::SessionInboxList, _, _>(inbox::list))
        .merge(route::<op::SessionInboxWithdraw, _, _>(inbox::withdraw))
        .merge(route::<op::SessionInboxSetDelivery, _, _>(
            inbox::set_delivery,
        ))
        .merge(route::<op::SessionResume, _, _>(recovery::resume))
        .merge(route::<op::SessionInterrupted, _, _>(recovery::interrupted))
        .merge(route::<op::SessionMove, _, _>(sessions::relocate))
        .merge(route::<op::SessionExport, _, _>(transfer::export))
        .merge(route::<op::SessionImport, _, _>(transfer::import))
        .with_state(runtime);
    // An unknown path and a known one with another method are the same: nothing is there.
    let nothing = || async { StatusCode::NOT_FOUND };
    let routes = routes
        .fallback(nothing)
        .method_not_allowed_fallback(nothing);
    Router::new().fallback_service(path::Canonical::new(routes))
}
