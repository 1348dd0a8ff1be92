//! The web pages that may read the answers of a listener.
//!
//! It decides nothing else: requests of other pages that do not read the answer are the subject of
//! `listen/pages.rs`.

use std::collections::HashSet;
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, Response, StatusCode, header};
use axum::middleware::Next;
use axum::{body::Body, response::IntoResponse};

/// Pages of desktop programs made with Tauri.
const TAURI: [&str; 3] = [
    "tauri://localhost",
    "http://tauri.localhost",
    "https://tauri.localhost",
];
/// Pages of development servers on this machine.
const LOCAL: [&str; 2] = ["http://localhost:", "http://127.0.0.1:"];

const METHODS: HeaderValue = HeaderValue::from_static("GET, HEAD, PUT, PATCH, POST, DELETE");
/// Time in seconds that a browser may cache the answer to a preflight.
const MAX_AGE: HeaderValue = HeaderValue::from_static("86400");
const ORIGIN: HeaderValue = HeaderValue::from_static("Origin");
const PREFLIGHT_VARY: HeaderValue =
    HeaderValue::from_static("Origin, Access-Control-Request-Headers");

/// The origins whose pages may read answers.
#[derive(Default)]
pub(crate) struct Origins(HashSet<String>);

impl Origins {
    /// Creates the origins of this machine and the given ones.
    pub(crate) fn new(more: impl IntoIterator<Item = String>) -> Self {
        Self(more.into_iter().collect())
    }

    pub(crate) fn allow(&self, origin: &HeaderValue) -> bool {
        let allow = |it| TAURI.contains(&it) || is_local(it) || self.0.contains(it);
        origin.to_str().is_ok_and(allow)
    }

    /// Returns true if a request comes from no page, from an allowed page, or from a page of the listener itself.
    pub(crate) fn admit(&self, headers: &HeaderMap) -> bool {
        let Some(origin) = headers.get(header::ORIGIN) else {
            return true;
        };
        let host = headers.get(header::HOST).map(HeaderValue::as_bytes);
        let authority = origin.to_str().ok().and_then(|it| it.split_once("://"));
        let own = authority.zip(host);
        let own =
            own.is_some_and(|((_, origin), host)| origin.as_bytes().eq_ignore_ascii_case(host));
        own || self.allow(origin)
    }
}

fn is_local(origin: &str) -> bool {
    let port = LOCAL.iter().find_map(|it| origin.strip_prefix(it));
    port.is_some_and(|port| !port.is_empty() && port.bytes().all(|it| it.is_ascii_digit()))
}

/// Returns true if a text has the form of an origin: a scheme and a host, with an optional port.
pub(crate) fn is_origin(text: &str) -> bool {
    let Some((scheme, host)) = text.split_once("://") else {
        return false;
    };
    let fits = |byte: u8| byte.is_ascii_graphic() && !byte.is_ascii_uppercase();
    !scheme.is_empty()
        && !host.is_empty()
        && text.bytes().all(fits)
        && !host.contains(['/', '?', '#', '@', '*', ','])
}

/// Answers preflights, and adds the headers that let browsers read answers.
pub(crate) async fn share(
    State(origins): State<Arc<Origins>>,
    request: Request,
    next: Next,
) -> Response<Body> {
    let origin = request.headers().get(header::ORIGIN);
    let origin = origin.filter(|it| origins.allow(it)).cloned();
    let mut response = if request.method() == Method::OPTIONS {
        preflight(request.headers())
    } else {
        next.run(request).await
    };
    let headers = response.headers_mut();
    if let Some(origin) = origin {
        headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    }
    if !varies_by_origin(headers) {
        headers.append(header::VARY, ORIGIN);
    }
    response
}

fn preflight(asked: &HeaderMap) -> Response<Body> {
    let mut response = StatusCode::NO_CONTENT.into_response();
    let headers = response.headers_mut();
    headers.insert(header::ACCESS_CONTROL_ALLOW_METHODS, METHODS);
    headers.insert(header::ACCESS_CONTROL_MAX_AGE, MAX_AGE);
    headers.insert(header::VARY, PREFLIGHT_VARY);
    if let Some(names) = asked.get(header::ACCESS_CONTROL_REQUEST_HEADERS) {
        headers.insert(header::ACCESS_CONTROL_ALLOW_HEADERS, names.clone());
    }
    response
}

fn varies_by_origin(headers: &HeaderMap) -> bool {
    let mut values = headers.get_all(header::VARY).iter();
    values.any(|it| it.as_bytes().starts_with(ORIGIN.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_of_this_machine_and_configured_ones_are_allowed() {
        let origins = Origins::new(["https://app.example".to_owned()]);
        for (origin, allowed) in [
            ("http://localhost:3000", true),
            ("http://127.0.0.1:65535", true),
            ("tauri://localhost", true),
            ("http://tauri.localhost", true),
            ("https://tauri.localhost", true),
            ("https://app.example", true),
            ("null", false),
            ("", false),
            ("http://localhost", false),
            ("http://localhost:", false),
            ("http://localhost:80x", false),
            ("http://localhost:80/", false),
            ("http://localhost:80@evil.example", false),
            ("http://localhost:80.evil.example", false),
            ("https://localhost:1", false),
            ("http://127.0.0.1", false),
            ("http://127.0.0.2:80", false),
            ("http://[::1]:80", false),
            ("oc://renderer", false),
            ("https://opencode.ai", false),
            ("https://app.opencode.ai", false),
            ("http://app.example", false),
            ("https://app.example:444", false),
            ("https://sub.app.example", false),
            ("https://app.example.evil.example", false),
        ] {
            let given = HeaderValue::from_static(origin);
            assert_eq!(origins.allow(&given), allowed, "{origin}");
        }
    }

    #[test]
    fn an_origin_is_a_scheme_and_a_host() {
        for (text, fits) in [
            ("https://app.example", true),
            ("http://app.example:8080", true),
            ("http://[::1]:80", true),
            ("app://ui", true),
            ("", false),
            ("*", false),
            ("https://*.example", false),
            ("app.example", false),
            ("https://", false),
            ("://app.example", false),
            ("https://app.example/", false),
            ("https://App.example", false),
            ("https://me@app.example", false),
            ("https://app.example https://b.example", false),
        ] {
            assert_eq!(is_origin(text), fits, "{text}");
        }
    }
}
