//! Authorization of requests to a listener with a password. It covers all operations that the contract places behind
//! authorization, and all paths without an operation, so that a refusal does not show which paths exist.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, Response, StatusCode, header};
use axum::middleware::Next;
use axum::{body::Body, response::IntoResponse};
use base64::Engine;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use opencode_protocol::failure::Failure;
use percent_encoding::percent_decode_str;
use subtle::{Choice, ConstantTimeEq};

use crate::router::ticket::is_by_ticket;
use crate::wire::failure::refuse;

/// Accepts tokens with and without padding.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

const CHALLENGE: HeaderValue = HeaderValue::from_static("Basic realm=\"Secure Area\"");

/// A name and its password in the form of HTTP Basic: joined by a colon (RFC 7617).
pub(crate) struct Credentials(Vec<u8>);

impl Credentials {
    pub(crate) fn new(username: &str, password: &str) -> Self {
        Self(format!("{username}:{password}").into_bytes())
    }

    /// Compares in a time that does not depend on the place of a difference or on the length of the right credentials.
    fn are(&self, given: &[u8]) -> bool {
        let right = self.0.iter().cycle();
        let start = (given.len() as u64).ct_eq(&(self.0.len() as u64));
        let same = given.iter().zip(right);
        same.fold(start, |same: Choice, (one, other)| same & one.ct_eq(other))
            .into()
    }

    /// Returns true if a request has the right credentials. A token in the query is for clients that cannot set
    /// headers. If the query has one, the headers do not count.
    fn admit(&self, query: &str, headers: &HeaderMap) -> bool {
        let mut pairs = url::form_urlencoded::parse(query.as_bytes());
        let given = match pairs.find(|(name, _)| name == "auth_token") {
            Some((_, token)) => BASE64.decode(&*token).ok(),
            None => basic(headers),
        };
        given.is_some_and(|given| self.are(&given))
    }
}

/// Returns true if the query of a request carries credentials. A browser never adds them there.
pub(crate) fn has_token(request: &Request) -> bool {
    let query = request.uri().query().unwrap_or_default();
    url::form_urlencoded::parse(query.as_bytes()).any(|(name, _)| name == "auth_token")
}

/// Returns the credentials of the header `authorization`, if its scheme is Basic.
fn basic(headers: &HeaderMap) -> Option<Vec<u8>> {
    let value = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    let (scheme, token) = value.split_once(' ')?;
    let token = scheme.eq_ignore_ascii_case("basic").then_some(token)?;
    BASE64.decode(token.trim()).ok()
}

/// Returns true if the path belongs to the API. Its clients read the body of a refusal.
fn is_api(path: &str) -> bool {
    let first = path.split('/').find(|segment| !segment.is_empty());
    first.is_some_and(|first| {
        let decoded = percent_decode_str(first).decode_utf8_lossy();
        decoded.eq_ignore_ascii_case("api")
    })
}

/// Lets requests with the right credentials pass.
pub(crate) async fn authorize(
    State(credentials): State<Arc<Credentials>>,
    request: Request,
    next: Next,
) -> Response<Body> {
    let query = request.uri().query().unwrap_or_default();
    // The handler of the terminal checks the ticket, which replaces the credentials.
    if credentials.admit(query, request.headers()) || is_by_ticket(&request) {
        return next.run(request).await;
    }
    let path = request.uri().path();
    tracing::debug!(path, "a request without the right credentials was refused");
    let mut refused = if is_api(request.uri().path()) {
        refuse(&Failure::unauthorized())
    } else {
        StatusCode::UNAUTHORIZED.into_response()
    };
    let headers = refused.headers_mut();
    headers.insert(header::WWW_AUTHENTICATE, CHALLENGE);
    refused
}

#[cfg(test)]
mod tests {
    use super::*;

    fn token(text: &str) -> String {
        BASE64.encode(text)
    }

    #[test]
    fn only_the_right_name_and_password_are_admitted() {
        let credentials = Credentials::new("opencode", "s3cret:ßx");
        let right = token("opencode:s3cret:ßx");
        let unpadded = right.trim_end_matches('=').to_owned();
        assert_ne!(right, unpadded, "the example is padded");
        let wrong = [
            "",
            ":",
            "opencode",
            "opencode:",
            "opencode:s3cret:",
            "opencode:s3cret:ßxßx",
            "opencode:s3cret:ßxopencode:s3cret:ßx",
            "Opencode:s3cret:ßx",
            "opencode:S3cret:ßx",
            "xopencode:s3cret:ßx",
        ];
        let basic = |token: &str| format!("Basic {token}");
        let mut cases = vec![
            (String::new(), Some(basic(&right)), true),
            (String::new(), Some(format!("bAsIc   {unpadded} ")), true),
            (format!("auth_token={unpadded}"), None, true),
            (
                format!("a=b&auth_token={unpadded}&auth_token=x"),
                None,
                true,
            ),
            // The headers do not count if the query has a token.
            (format!("auth_token={unpadded}"), Some(basic("x")), true),
            ("auth_token=x".into(), Some(basic(&right)), false),
            ("auth_token=".into(), Some(basic(&right)), false),
            ("auth_token".into(), Some(basic(&right)), false),
            (String::new(), Some(format!("Bearer {right}")), false),
            (String::new(), Some(right.clone()), false),
            (String::new(), Some(format!("Basic{right}")), false),
            (String::new(), Some("Basic".into()), false),
            (String::new(), Some("Basic %%%".into()), false),
            (String::new(), None, false),
        ];
        cases.extend(wrong.map(|it| (String::new(), Some(basic(&token(it))), false)));
        for (query, header, admitted) in cases {
            let mut headers = HeaderMap::new();
            if let Some(value) = &header {
                headers.insert(header::AUTHORIZATION, value.parse().unwrap());
            }
            let found = credentials.admit(&query, &headers);
            assert_eq!(found, admitted, "{query:?} {header:?}");
        }
    }
}
