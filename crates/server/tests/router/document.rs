//! The OpenAPI document of the host.

use axum::body::Body;
use opencode_protocol::openapi;

use crate::api::{Api, request};

#[tokio::test]
async fn the_document_has_two_paths_and_one_method() {
    let api = Api::open().await;
    for path in ["/doc", "/openapi.json"] {
        let answer = api.get(path).await;
        assert_eq!(answer.header("content-type"), Some("application/json"));
        assert_eq!(answer.ok()["openapi"], "3.1.0", "{path}");
        assert_eq!(answer.text, openapi::document(), "{path}");
        for method in ["HEAD", "POST", "OPTIONS", "DELETE"] {
            let answer = api.send(request(method, path, Body::empty())).await;
            answer.is_bare(404);
        }
    }
}
