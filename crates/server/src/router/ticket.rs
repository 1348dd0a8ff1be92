//! Requests that carry a ticket instead of credentials.

use axum::extract::Request;
use axum::http::Method;
use opencode_protocol::operation::Operation;
use opencode_protocol::operations::PtyConnect;

use super::path::{Template, parse_segments};

/// Returns true if a request for a terminal carries a ticket. Its handler checks the ticket, so such a request
/// passes without credentials.
pub(crate) fn is_by_ticket(request: &Request) -> bool {
    let query = request.uri().query().unwrap_or_default();
    let mut names = url::form_urlencoded::parse(query.as_bytes()).map(|(name, _)| name);
    let has_ticket = names.any(|name| name == "ticket");
    has_ticket && request.method() == Method::GET && is_connection(request.uri().path())
}

fn is_connection(path: &str) -> bool {
    let connection = Template::new(PtyConnect::SPEC.path);
    parse_segments(path).is_some_and(|segments| connection.read(&segments).is_some())
}
