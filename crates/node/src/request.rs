//! Heads of requests and answers, as they cross the border.

use axum::body::Body;
use axum::http::response::Parts;
use axum::http::{HeaderName, HeaderValue, Method, Request, Uri};
use serde::Deserialize;
use serde_json::json;

/// The head of a request.
#[derive(Deserialize)]
struct Head {
    method: String,
    /// Path and query.
    url: String,
    #[serde(default)]
    headers: Vec<(String, String)>,
}

/// The request that these texts describe.
pub(crate) fn read(head: &str, body: Option<String>) -> napi::Result<Request<Body>> {
    let head: Head = serde_json::from_str(head).map_err(invalid)?;
    let mut request = Request::new(body.map_or_else(Body::empty, Body::from));
    *request.method_mut() = Method::from_bytes(head.method.as_bytes()).map_err(invalid)?;
    *request.uri_mut() = head.url.parse::<Uri>().map_err(invalid)?;
    for (name, value) in head.headers {
        let name = HeaderName::from_bytes(name.as_bytes()).map_err(invalid)?;
        let value = HeaderValue::from_bytes(value.as_bytes()).map_err(invalid)?;
        request.headers_mut().append(name, value);
    }
    Ok(request)
}

fn invalid(error: impl std::fmt::Display) -> napi::Error {
    napi::Error::from_reason(format!("the request cannot be sent: {error}"))
}

/// The head of an answer as JSON text. `is_in_lines` tells how the body arrives.
pub(crate) fn head(parts: &Parts, is_in_lines: bool) -> String {
    let headers: Vec<_> = parts
        .headers
        .iter()
        .map(|(name, value)| (name.as_str(), String::from_utf8_lossy(value.as_bytes())))
        .collect();
    let mut head = json!({ "status": parts.status.as_u16(), "headers": headers });
    if is_in_lines {
        head["isInLines"] = true.into();
    }
    head.to_string()
}
