//! Finds the operation of a request, once, and calls its handler.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::body::{Body, HttpBody};
use axum::http::{Request, Response, StatusCode, header};
use futures::future::{BoxFuture, FutureExt, ready};
use opencode_runtime::Runtime;
use tower::Service;

use crate::router::operation::Route;
use crate::router::path::{Params, Template, parse_segments};

/// The operations of the contract as a service. All clones share their routes.
#[derive(Clone)]
pub(crate) struct Dispatch {
    runtime: Runtime,
    paths: Arc<[Path]>,
}

/// A path and its operations, one for each method.
struct Path {
    template: Template,
    routes: Vec<Route>,
}

impl Dispatch {
    pub(crate) fn new(runtime: Runtime, routes: Vec<Route>) -> Self {
        let mut by_path: BTreeMap<_, Vec<Route>> = BTreeMap::new();
        for route in routes {
            by_path.entry(route.path).or_default().push(route);
        }
        let paths = by_path.into_iter().map(|(path, routes)| Path {
            template: Template::new(path),
            routes,
        });
        let mut paths: Vec<_> = paths.collect();
        // A fixed segment takes precedence over a parameter at the same place.
        paths.sort_by_key(|path| path.template.parameters());
        Self {
            runtime,
            paths: paths.into(),
        }
    }

    /// Returns the route of a request and its parameters. `None` for an unknown path, and for a known path with
    /// another method.
    fn find(&self, request: &Request<Body>) -> Option<(&Route, Params)> {
        let segments = parse_segments(request.uri().path())?;
        let mut paths = self.paths.iter();
        let (path, params) = paths.find_map(|path| Some((path, path.template.read(&segments)?)))?;
        let method = request.method().as_str();
        let mut routes = path.routes.iter();
        let route = routes.find(|route| route.method.as_str() == method)?;
        Some((route, params))
    }
}

impl Service<Request<Body>> for Dispatch {
    type Response = Response<Body>;
    type Error = std::convert::Infallible;
    type Future = BoxFuture<'static, Result<Self::Response, Self::Error>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let Some((route, params)) = self.find(&request) else {
            return ready(Ok(not_found())).boxed();
        };
        let response = route.serve(self.runtime.clone(), params, request);
        response.map(|it| Ok(with_length(it))).boxed()
    }
}

/// Adds the header `content-length` to a response with a body of known length (RFC 9110, section 8.6).
fn with_length(mut response: Response<Body>) -> Response<Body> {
    if let Some(length) = response.body().size_hint().exact()
        && response.status() != StatusCode::NO_CONTENT
    {
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_LENGTH, length.into());
    }
    response
}

/// Returns the answer to a request without an operation.
fn not_found() -> Response<Body> {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::NOT_FOUND;
    with_length(response)
}
