//! The paths of operations, and the values of their parameters.

use axum::body::Body;
use serde_json::json;

use crate::api::{Api, request};

#[tokio::test]
async fn a_path_has_several_spellings() {
    let (api, session) = Api::with_session().await;
    for path in [
        "/api/health",
        "/api/health/",
        "//api///health//",
        "/API/Health",
        "/%61pi/h%65alth",
        "/api/health?x=1&y",
    ] {
        assert_eq!(api.get(path).await.ok(), json!({"healthy": true}), "{path}");
    }
    for path in [
        format!("/api/session/{session}"),
        format!("/Api//SESSION/{session}/"),
        format!("/api/session/{}", session.as_str().replace('_', "%5F")),
    ] {
        let info = api.get(&path).await.ok();
        assert_eq!(info["data"]["id"], json!(session), "{path}");
    }
    // The case of identifiers is significant.
    let shouted = session.as_str().to_uppercase().replace("SES_", "ses_");
    if shouted != session.as_str() {
        let answer = api.get(&format!("/api/session/{shouted}")).await;
        assert_eq!(answer.status, 404, "{answer:?}");
    }
}

#[tokio::test]
async fn unknown_paths_are_not_found() {
    let (api, session) = Api::with_session().await;
    for (method, path) in [
        ("GET", "/"),
        ("GET", "/api"),
        ("GET", "/api/nothing"),
        ("GET", "/api/healthy"),
        ("GET", "/api/health/more"),
        ("GET", "/health"),
        ("POST", "/api/health"),
        ("HEAD", "/api/health"),
        ("OPTIONS", "/api/health"),
        ("PUT", "/api/session"),
        ("DELETE", "/api/session/active"),
        ("GET", "/api/agent/build"),
        ("POST", "/api/agent"),
        ("GET", "/api/location/reload"),
        ("DELETE", "/api/integration/nope"),
        ("GET", "/api/pty/pty_x/connect/more"),
        ("POST", "/api/fs/read/a.txt"),
        ("GET", "/api/fs"),
        ("GET", "/api/fs/lists"),
        ("GET", "/api/session/import"),
        ("POST", "/api/session/interrupted"),
        ("GET", "/api/session/ses_%zz"),
        ("GET", "/api/session/ses_%2"),
        ("GET", "/api/session/ses_%ff"),
        ("GET", "/api/%"),
    ] {
        let answer = api.send(request(method, path, Body::empty())).await;
        answer.is_bare(404);
        if method != "HEAD" {
            assert_eq!(
                answer.header("content-length"),
                Some("0"),
                "{method} {path}"
            );
        }
    }
    let path = format!("/api/session/{session}/prompt");
    api.get(&path).await.is_bare(404);
}

#[tokio::test]
async fn a_parameter_is_decoded_once_and_may_contain_any_character() {
    let api = Api::open().await;
    for (given, decoded) in [
        ("ses_a%2Fb", "ses_a/b"),
        ("ses_a%252Fb", "ses_a%2Fb"),
        ("ses_%20%3F%23", "ses_ ?#"),
        ("ses_%C3%A4", "ses_ä"),
        ("ses_a+b", "ses_a+b"),
        ("ses_..", "ses_.."),
        ("ses_a:b@c$d&e=f", "ses_a:b@c$d&e=f"),
    ] {
        let answer = api.get(&format!("/api/session/{given}")).await;
        assert_eq!(
            answer.status_and_json(),
            (
                404,
                json!({
                    "_tag": "SessionNotFoundError",
                    "sessionID": decoded,
                    "message": format!("Session not found: {decoded}"),
                })
            )
        );
    }
}

#[tokio::test]
async fn a_parameter_may_be_as_long_as_an_identifier() {
    let api = Api::open().await;
    let id = |length: usize| format!("ses_{}", "x".repeat(length - 4));
    let created = api.post_json("/api/session", &json!({"id": id(256)})).await;
    assert_eq!(created.ok()["data"]["id"], json!(id(256)));
    let found = api.get(&format!("/api/session/{}", id(256))).await;
    assert_eq!(found.ok(), created.json());
    let answer = api.get(&format!("/api/session/{}", id(257))).await;
    assert_eq!(
        answer.status_and_json(),
        (
            400,
            json!({
                "_tag": "InvalidRequestError",
                "message": "Invalid session ID",
                "field": "sessionID",
            })
        )
    );
}

#[tokio::test]
async fn a_fixed_segment_takes_precedence_over_a_parameter() {
    let api = Api::open().await;
    for path in [
        "/api/session/active",
        "/api/session/ACTIVE",
        "/api/session/%61ctive",
    ] {
        assert_eq!(api.get(path).await.ok(), json!({"data": {}}), "{path}");
    }
    for path in [
        "/api/session/interrupted",
        "/api/session/INTERRUPTED/",
        "/api/session/interrupte%64",
    ] {
        assert_eq!(api.get(path).await.ok(), json!({"data": []}), "{path}");
    }
    // In this place a fixed segment of another path is a normal parameter, and not the id of a session.
    for (method, path) in [
        ("POST", "/api/session/interrupted/prompt"),
        ("GET", "/api/session/interrupted/inbox"),
        ("DELETE", "/api/session/import/inbox/msg_x"),
        ("POST", "/api/session/import/move"),
    ] {
        let answer = api.send(request(method, path, Body::empty())).await;
        let told = json!({
            "_tag": "InvalidRequestError",
            "message": "Invalid session ID",
            "field": "sessionID",
        });
        assert_eq!(answer.status_and_json(), (400, told), "{method} {path}");
    }
}
