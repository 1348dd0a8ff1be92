//! Protection of a listener from web pages. The browser that shows a page runs on this machine, so the address of the
//! listener does not keep the page out, and the browser may add a password that it remembers.
//!
//! A page whose host name resolves to this machine would have the origin of the listener and read everything. So the
//! listener answers only host names that no other party can make resolve to it. Any other page sends requests without
//! reading their answers. Without a password they are refused, because even a search has a cost. With a password they
//! must not change anything.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::uri::Authority;
use axum::http::{HeaderValue, Method, Response, header};
use axum::middleware::Next;
use opencode_protocol::failure::Failure;
use url::Host;

use crate::listen::authorization::has_token;
use crate::wire::cors::Origins;
use crate::wire::failure::refuse;

/// The trusted host names and origins.
pub(crate) struct Pages {
    /// The host name of the listener, in lower case.
    hostname: String,
    origins: Arc<Origins>,
}

impl Pages {
    pub(crate) fn new(hostname: &str, origins: Arc<Origins>) -> Self {
        Self {
            hostname: hostname.to_ascii_lowercase(),
            origins,
        }
    }

    /// Returns the reason why a request is refused. Browsers send both headers, so a request without them is from no page.
    fn problem(&self, request: &Request) -> Option<Failure> {
        let headers = request.headers();
        let host = headers.get(header::HOST);
        if host.is_some_and(|host| !self.is_own_host(host)) {
            let message = "A listener without a password answers only requests to this machine: \
                           use localhost, listen on this host name, or set a password";
            return Some(Failure::invalid_field("host", message));
        }
        let is_allowed = match headers.get(header::ORIGIN) {
            Some(origin) if changes(request.method()) => self.origins.allow(origin),
            Some(_) => self.origins.admit(headers) || connects_terminal(request),
            None => is_own_or_no_page(headers.get("sec-fetch-site")),
        };
        if is_allowed {
            return None;
        }
        let message = "A listener without a password refuses web pages of this origin: \
                       add the origin to the option cors, or set a password";
        Some(Failure::invalid_field("origin", message))
    }

    /// Returns true if the requested host name belongs to this machine, whatever a name server answers.
    fn is_own_host(&self, host: &HeaderValue) -> bool {
        let authority = host
            .to_str()
            .ok()
            .and_then(|it| it.parse::<Authority>().ok());
        let host = authority.and_then(|it| Host::parse(it.host()).ok());
        host.is_some_and(|host| match host {
            Host::Domain(name) => {
                name == "localhost" || name.ends_with(".localhost") || name == self.hostname
            }
            Host::Ipv4(_) | Host::Ipv6(_) => true,
        })
    }
}

/// Returns true if the browser states that no other page caused a request without an origin. Only browsers send this
/// header.
fn is_own_or_no_page(site: Option<&HeaderValue>) -> bool {
    site.is_none_or(|site| site == "same-origin" || site == "none")
}

/// Returns true if a request becomes a connection to a terminal. Its route checks pages itself and refuses them as the
/// contract requires.
fn connects_terminal(request: &Request) -> bool {
    let path = request.uri().path();
    path.starts_with("/api/pty/") && path.ends_with("/connect")
}

fn changes(method: &Method) -> bool {
    !matches!(*method, Method::GET | Method::HEAD)
}

/// Refuses changes by pages of other origins, which would use a password that the browser remembers. A page that knows
/// the password gives it in the query.
pub(crate) async fn refuse_foreign_changes(
    State(origins): State<Arc<Origins>>,
    request: Request,
    next: Next,
) -> Response<Body> {
    let headers = request.headers();
    // A browser asks for permission before it sends this header, and the route that needs it checks pages itself.
    let asks_for_ticket = headers.contains_key("x-opencode-ticket");
    let is_known = origins.admit(headers) || has_token(&request) || asks_for_ticket;
    if is_known || !changes(request.method()) {
        return next.run(request).await;
    }
    let message = "Web pages of this origin may not change anything: add the origin to the option \
                   cors, or send the password as auth_token in the query";
    refuse(&Failure::invalid_field("origin", message))
}

/// Refuses requests of pages to a listener without a password.
pub(crate) async fn refuse_foreign_pages(
    State(pages): State<Arc<Pages>>,
    request: Request,
    next: Next,
) -> Response<Body> {
    match pages.problem(&request) {
        Some(failure) => refuse(&failure),
        None => next.run(request).await,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_that_is_listened_on_is_ours() {
        let pages = Pages::new("Devbox.Lan", Arc::new(Origins::new([])));
        for (host, ours) in [
            ("devbox.lan", true),
            ("DEVBOX.lan:4096", true),
            ("localhost", true),
            ("devbox", false),
            ("x.devbox.lan", false),
        ] {
            assert_eq!(
                pages.is_own_host(&HeaderValue::from_static(host)),
                ours,
                "{host}"
            );
        }
    }
}
