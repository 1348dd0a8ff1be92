//! Which operation a path means: slashes may repeat or trail, fixed segments match in any case and
//! percent-encoded, parameters are decoded once and may hold anything, the rest of a path included.

#[cfg(test)]
mod fuzz;

use std::sync::Arc;
use std::task::{Context, Poll};

use axum::Router;
use axum::body::Body;
use axum::http::{HeaderValue, Method, Request, Response, StatusCode, Uri, header};
use futures::future::{BoxFuture, FutureExt};
use opencode_protocol::operation::Spec;
use opencode_protocol::operations::OPERATIONS;
use percent_encoding::{
    AsciiSet, NON_ALPHANUMERIC, PercentEncode, percent_decode_str, utf8_percent_encode,
};
use tower::Service;

/// Hands requests to the routes under the one spelling of their path that the routes know.
#[derive(Clone)]
pub(crate) struct Canonical {
    routes: Router,
    templates: Arc<Vec<Template>>,
}

/// The path of one operation.
struct Template {
    method: Method,
    segments: Vec<Segment>,
}

enum Segment {
    Fixed(&'static str),
    Parameter,
    /// All segments that remain.
    Rest,
}

impl Canonical {
    pub(crate) fn new(routes: Router) -> Self {
        let mut templates: Vec<_> = OPERATIONS.iter().map(Template::of).collect();
        // A fixed segment wins over a parameter at the same place.
        templates.sort_by_key(|it| it.segments.iter().filter(|it| !it.is_fixed()).count());
        Self {
            routes,
            templates: Arc::new(templates),
        }
    }

    pub(crate) fn canonical(&self, method: &Method, path: &str) -> Option<String> {
        let segments = segments(path)?;
        let template = self
            .templates
            .iter()
            .find(|it| it.matches(method, &segments))?;
        Some(template.write(&segments))
    }
}

/// Returns true if a method and a path address the operation.
pub(crate) fn means(spec: &'static Spec, method: &Method, path: &str) -> bool {
    segments(path).is_some_and(|segments| Template::of(spec).matches(method, &segments))
}

/// The segments of a path with their escapes resolved; nothing when one is invalid.
fn segments(path: &str) -> Option<Vec<String>> {
    let segments = path.split('/').filter(|segment| !segment.is_empty());
    segments.map(decode).collect()
}

impl Service<Request<Body>> for Canonical {
    type Response = Response<Body>;
    type Error = std::convert::Infallible;
    type Future = BoxFuture<'static, Result<Self::Response, Self::Error>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, mut request: Request<Body>) -> Self::Future {
        let uri = self
            .canonical(request.method(), request.uri().path())
            .and_then(|path| with_path(request.uri(), &path));
        match uri {
            Some(uri) => {
                *request.uri_mut() = uri;
                self.routes.call(request).boxed()
            }
            None => {
                let mut nothing = Response::new(Body::empty());
                *nothing.status_mut() = StatusCode::NOT_FOUND;
                let length = HeaderValue::from_static("0");
                nothing.headers_mut().insert(header::CONTENT_LENGTH, length);
                futures::future::ready(Ok(nothing)).boxed()
            }
        }
    }
}

impl Segment {
    fn of(text: &'static str) -> Self {
        if text.starts_with("{*") {
            Self::Rest
        } else if text.starts_with('{') {
            Self::Parameter
        } else {
            Self::Fixed(text)
        }
    }

    fn is_fixed(&self) -> bool {
        matches!(self, Self::Fixed(_))
    }
}

impl Template {
    fn of(spec: &'static Spec) -> Self {
        let segments = spec.path.split('/').filter(|it| !it.is_empty());
        Self {
            method: Method::from_bytes(spec.method.as_str().as_bytes())
                .expect("the contract's methods are methods"),
            segments: segments.map(Segment::of).collect(),
        }
    }

    fn matches(&self, method: &Method, segments: &[String]) -> bool {
        let (wanted, enough) = match self.segments.split_last() {
            Some((Segment::Rest, before)) => (before, segments.len() >= before.len()),
            _ => (&*self.segments, segments.len() == self.segments.len()),
        };
        self.method == method
            && enough
            && wanted
                .iter()
                .zip(segments)
                .all(|(wanted, given)| match wanted {
                    Segment::Fixed(text) => text.eq_ignore_ascii_case(given),
                    Segment::Parameter | Segment::Rest => true,
                })
    }

    /// The path with these segments, which must match.
    fn write(&self, segments: &[String]) -> String {
        let mut path = String::new();
        for (place, wanted) in self.segments.iter().enumerate() {
            path.push('/');
            match wanted {
                Segment::Fixed(text) => path.push_str(text),
                Segment::Parameter => path.extend(encode(&segments[place])),
                Segment::Rest => path.push_str(&rest(&segments[place..])),
            }
        }
        path
    }
}

/// Segments as the rest of a path. No segments at all are the place itself.
fn rest(segments: &[String]) -> String {
    if segments.is_empty() {
        return ".".to_owned();
    }
    let segments: Vec<String> = segments.iter().map(|it| encode(it).collect()).collect();
    segments.join("/")
}

fn encode(segment: &str) -> PercentEncode<'_> {
    utf8_percent_encode(segment, ENCODED)
}

/// Characters of identifiers that stay as they are.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'_').remove(b'-').remove(b'.');

/// A segment with its escapes resolved; nothing when an escape or the text is invalid.
fn decode(segment: &str) -> Option<String> {
    let mut rest = segment;
    while let Some(at) = rest.find('%') {
        let digits = rest.as_bytes().get(at + 1..at + 3)?;
        if !digits.iter().all(u8::is_ascii_hexdigit) {
            return None;
        }
        rest = &rest[at + 3..];
    }
    percent_decode_str(segment)
        .decode_utf8()
        .ok()
        .map(Into::into)
}

fn with_path(uri: &Uri, path: &str) -> Option<Uri> {
    let target = match uri.query() {
        Some(query) => format!("{path}?{query}"),
        None => path.to_owned(),
    };
    target.parse().ok()
}

#[cfg(test)]
mod laws;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_have_one_spelling() {
        let canonical = Canonical::new(Router::new());
        for (method, path, expected) in [
            (Method::GET, "/api/health", Some("/api/health")),
            (Method::GET, "//API//he%61lth/", Some("/api/health")),
            (
                Method::GET,
                "/api/session/active",
                Some("/api/session/active"),
            ),
            (Method::GET, "/api/session/sesX", Some("/api/session/sesX")),
            (
                Method::GET,
                "/api/session/ses_a%2Fb",
                Some("/api/session/ses_a%2Fb"),
            ),
            (
                Method::GET,
                "/api/session/ses_%C3%A4",
                Some("/api/session/ses_%C3%A4"),
            ),
            (Method::GET, "/api/session/ses_%zz", None),
            (Method::GET, "/api/session/ses_%", None),
            (Method::GET, "/api/session/ses_%ff", None),
            (
                Method::GET,
                "/api/fs/read//src/a%20b/%2e%2E/c%2Fd/",
                Some("/api/fs/read/src/a%20b/../c%2Fd"),
            ),
            (Method::GET, "/API/fs/read", Some("/api/fs/read/.")),
            (Method::POST, "/api/health", None),
            (Method::HEAD, "/api/health", None),
            (Method::GET, "/", None),
            (Method::GET, "/api/nothing", None),
        ] {
            assert_eq!(
                canonical.canonical(&method, path).as_deref(),
                expected,
                "{path}"
            );
        }
    }
}
