//! Requests that carry a ticket instead of credentials.

use axum::extract::Request;
use opencode_protocol::operation::Operation;
use opencode_protocol::operations::PtyConnect;

use super::path;

/// True if a request for a terminal carries a ticket. Its handler checks the ticket, so such a request
/// passes without credentials.
pub(crate) fn is_by_ticket(request: &Request) -> bool {
    let query = request.uri().query().unwrap_or_default();
    let mut names = url::form_urlencoded::parse(query.as_bytes()).map(|(name, _)| name);
    names.any(|name| name == "ticket")
        && path::means(&PtyConnect::SPEC, request.method(), request.uri().path())
}
