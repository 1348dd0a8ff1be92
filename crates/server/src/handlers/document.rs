//! The OpenAPI document of the contract, for tools without our client.

use axum::Router;
use axum::body::Body;
use axum::http::{Response, StatusCode};
use axum::routing::{MethodFilter, MethodRouter, on};
use opencode_protocol::openapi;

use crate::wire::failure::json_text;

/// Routes both paths of the document.
pub(crate) fn routes() -> Router {
    Router::new()
        .route("/doc", document())
        .route("/openapi.json", document())
}

fn document() -> MethodRouter {
    let nothing = || async { StatusCode::NOT_FOUND };
    on(MethodFilter::GET, write)
        .on(MethodFilter::HEAD, nothing)
        .fallback(nothing)
}

async fn write() -> Response<Body> {
    json_text(StatusCode::OK, openapi::document().to_owned())
}
