//! Every operation of the contract has a route, and nothing else has one.

use std::collections::HashSet;

use axum::body::Body;
use opencode_protocol::operations::OPERATIONS;

use crate::api::{Api, request};
use crate::concrete::concrete;

const METHODS: [&str; 8] = [
    "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE",
];

#[tokio::test]
async fn all_operations_and_no_others_are_routed() {
    let (api, session) = Api::with_session().await;
    let paths: HashSet<_> = OPERATIONS.iter().map(|spec| spec.path).collect();
    for path in paths {
        // An operation that opens a connection reports every problem by its status. This request is invalid.
        let concrete = concrete(path, session.as_str()).replace("pty_x/connect", "foo/connect");
        let declared: Vec<_> = OPERATIONS
            .iter()
            .filter(|spec| spec.path == path)
            .map(|spec| spec.method.as_str())
            .collect();
        for method in METHODS {
            let response = api
                .response(request(method, &concrete, Body::empty()))
                .await;
            // A handler that finds nothing answers with JSON.
            let routed =
                response.status() != 404 || response.headers().get("content-type").is_some();
            assert_eq!(routed, declared.contains(&method), "{method} {path}");
        }
    }
}

#[tokio::test]
async fn operations_are_declared_once() {
    let routes: HashSet<_> = OPERATIONS
        .iter()
        .map(|spec| (spec.method.as_str(), spec.path))
        .collect();
    let ids: HashSet<_> = OPERATIONS.iter().map(|spec| spec.id).collect();
    assert_eq!(
        (routes.len(), ids.len()),
        (OPERATIONS.len(), OPERATIONS.len())
    );
}
