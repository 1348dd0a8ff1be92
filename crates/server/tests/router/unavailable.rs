//! Operations of features that this host does not have: they say so, after all that is wrong with a
//! request.

use axum::body::Body;
use serde_json::json;

use crate::api::{Api, concrete, request};

/// The service, and a request that is right in every way.
const OPERATIONS: &[(&str, &str, &str, &str)] = &[
    (
        "session.revert.stage",
        "POST",
        "/api/session/{sessionID}/revert/stage",
        r#"{"messageID":"msg_x"}"#,
    ),
    (
        "session.revert.clear",
        "POST",
        "/api/session/{sessionID}/revert/clear",
        "",
    ),
    (
        "session.revert.commit",
        "POST",
        "/api/session/{sessionID}/revert/commit",
        "",
    ),
    ("pty.list", "GET", "/api/pty", ""),
    (
        "pty.create",
        "POST",
        "/api/pty",
        r#"{"command":"ls","args":["-l"],"env":{"A":"b"}}"#,
    ),
    ("pty.get", "GET", "/api/pty/{ptyID}", ""),
    (
        "pty.update",
        "PUT",
        "/api/pty/{ptyID}",
        r#"{"size":{"rows":1,"cols":1}}"#,
    ),
    ("pty.remove", "DELETE", "/api/pty/{ptyID}", ""),
    (
        "pty.connectToken",
        "POST",
        "/api/pty/{ptyID}/connect-token",
        "",
    ),
    (
        "pty.connect",
        "GET",
        "/api/pty/{ptyID}/connect?cursor=-1&ticket=t",
        "",
    ),
];

#[tokio::test]
async fn what_is_not_there_says_so() {
    let (api, session) = Api::with_session().await;
    for (service, method, path, body) in OPERATIONS {
        let path = concrete(path, session.as_str());
        let answer = api.send(request(method, &path, Body::from(*body))).await;
        let told = json!({
            "_tag": "ServiceUnavailableError",
            "message": format!("This host does not offer {service}"),
            "service": service,
        });
        assert_eq!(answer.told(), (503, told), "{method} {path}");
    }
}

#[tokio::test]
async fn an_unknown_session_is_told_first() {
    let api = Api::open().await;
    let of_sessions = OPERATIONS
        .iter()
        .filter(|(_, _, path, _)| path.contains("{sessionID}"));
    for (_, method, path, body) in of_sessions {
        let path = concrete(path, "ses_nope");
        let answer = api.send(request(method, &path, Body::from(*body))).await;
        let told = json!({
            "_tag": "SessionNotFoundError",
            "sessionID": "ses_nope",
            "message": "Session not found: ses_nope",
        });
        assert_eq!(answer.told(), (404, told), "{method} {path}");
    }
}

#[tokio::test]
async fn what_does_not_fit_is_told_first() {
    let (api, session) = Api::with_session().await;
    for (method, path, body, kind, message) in [
        (
            "GET",
            format!("/api/session/{session}/permission/foo"),
            "",
            "Params",
            "Expected a string starting with \"per\", got \"foo\"\n  at [\"requestID\"]",
        ),
        (
            "POST",
            format!("/api/session/{session}/question/foo/reject"),
            "",
            "Params",
            "Expected a string starting with \"que\", got \"foo\"\n  at [\"requestID\"]",
        ),
        (
            "GET",
            "/api/pty/foo".to_owned(),
            "",
            "Params",
            "Expected a string starting with \"pty\", got \"foo\"\n  at [\"ptyID\"]",
        ),
        (
            "GET",
            "/api/fs/find".to_owned(),
            "",
            "Query",
            "Missing key\n  at [\"query\"]",
        ),
        (
            "GET",
            "/api/fs/find?query=&limit=0".to_owned(),
            "",
            "Query",
            "Expected a value greater than or equal to 1, got 0\n  at [\"limit\"]",
        ),
        (
            "POST",
            format!("/api/session/{session}/permission"),
            r#"{"action":"bash","resources":"ls"}"#,
            "Payload",
            "Expected array, got \"ls\"\n  at [\"resources\"]",
        ),
        (
            "POST",
            format!("/api/session/{session}/permission/per_x/reply"),
            r#"{"reply":"maybe"}"#,
            "Payload",
            "Expected \"once\" | \"always\" | \"reject\", got \"maybe\"\n  at [\"reply\"]",
        ),
        (
            "POST",
            format!("/api/session/{session}/question/que_x/reply"),
            r#"{"answers":["a"]}"#,
            "Payload",
            "Expected array, got \"a\"\n  at [\"answers\"][0]",
        ),
        (
            "POST",
            format!("/api/session/{session}/revert/stage"),
            r#"{"messageID":"foo"}"#,
            "Payload",
            "Expected a string starting with \"msg_\", got \"foo\"\n  at [\"messageID\"]",
        ),
        (
            "PUT",
            "/api/pty/pty_x".to_owned(),
            r#"{"size":{"rows":0,"cols":1}}"#,
            "Payload",
            "Expected a value greater than 0, got 0\n  at [\"size\"][\"rows\"]",
        ),
    ] {
        let answer = api.send(request(method, &path, body.into())).await;
        let told = json!({"_tag": "InvalidRequestError", "message": message, "kind": kind});
        assert_eq!(answer.told(), (400, told), "{method} {path}");
    }
}
