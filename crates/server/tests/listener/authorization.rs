//! A request without credentials is refused before anything else in it is checked.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use opencode_protocol::operation::Middleware;
use opencode_protocol::operations::OPERATIONS;
use opencode_server::ListenOptions;
use serde_json::json;

use crate::server::{JSON, KEY, Served, locked, unlocked};

const ACCEPTED: &str = "content-type: application/json\r\naccept-encoding: gzip\r\n";

#[test]
fn every_operation_requires_authorization() {
    let open: Vec<_> = OPERATIONS
        .iter()
        .filter(|spec| !spec.middleware.contains(&Middleware::Authorization))
        .map(|spec| spec.id)
        .collect();
    assert_eq!(open, [""; 0], "operations without credentials");
}

#[tokio::test]
async fn requests_without_credentials_are_refused_before_anything_else() {
    let served = Served::open(locked()).await;
    for spec in OPERATIONS {
        let segments = spec.path.split('/');
        let filled = segments.map(|it| if it.starts_with('{') { "x" } else { it });
        let path = format!("{}?limit=x", filled.collect::<Vec<_>>().join("/"));
        let method = spec.method.as_str();
        let reply = served.server.ask(method, &path, ACCEPTED, "{").await;
        let expected = json!({"_tag": "UnauthorizedError", "message": "Authentication required"});
        assert_eq!(reply.status_and_json(), (401, expected), "{method} {path}");
        let challenge = reply.header("www-authenticate");
        assert_eq!(challenge.unwrap(), "Basic realm=\"Secure Area\"", "{path}");
    }
    for path in ["/api/nothing", "//API//x", "/%61pi"] {
        let reply = served.server.ask("GET", path, "", "").await;
        assert_eq!(
            (reply.status, reply.body.is_empty()),
            (401, false),
            "{path}"
        );
    }
    for path in ["/", "/doc", "/openapi.json", "/nothing", "/apis/x"] {
        let reply = served.server.ask("GET", path, "", "").await;
        let challenge = reply.header("www-authenticate");
        assert_eq!(
            (reply.status, reply.text(), challenge.as_deref()),
            (401, "", Some("Basic realm=\"Secure Area\"")),
            "{path}"
        );
    }
}

#[tokio::test]
async fn with_credentials_the_other_checks_follow_in_order() {
    let (served, session) = Served::with_session(locked()).await;
    let headers = format!("{KEY}{JSON}");
    let token = "auth_token=b3BlbmNvZGU6czNjcmV0";
    for (path, headers, status) in [
        (format!("/api/session/{session}/prompt"), "", 401),
        ("/api/session/ses_nope/prompt".into(), &*headers, 404),
        (format!("/api/session/{session}/prompt"), &*headers, 400),
        (format!("/api/session/{session}/prompt?{token}"), JSON, 400),
        (
            format!("/api/session/{session}/prompt?auth_token=x"),
            &*headers,
            401,
        ),
    ] {
        let reply = served.server.ask("POST", &path, headers, "{").await;
        assert_eq!(reply.status, status, "{path} {headers}: {reply:?}");
    }
    let reply = served.server.ask("GET", "/api/health", KEY, "").await;
    assert_eq!(reply.status_and_json(), (200, json!({"healthy": true})));
    let reply = served.server.ask("GET", "/nothing", KEY, "").await;
    let length = reply.header("content-length");
    assert_eq!((reply.status, length.as_deref()), (404, Some("0")));
}

#[tokio::test]
async fn the_name_is_checked_with_the_password() {
    let options = ListenOptions {
        username: Some("me".into()),
        ..locked()
    };
    let served = Served::open(options).await;
    let mine = "authorization: Basic bWU6czNjcmV0\r\n";
    for (headers, status) in [(mine, 200), (KEY, 401)] {
        let reply = served.server.ask("GET", "/api/health", headers, "").await;
        assert_eq!(reply.status, status, "{headers}");
    }
}

#[tokio::test]
async fn without_a_password_no_credentials_are_required() {
    let served = Served::open(unlocked()).await;
    assert!(served.server.0.login().is_none());
    for headers in ["", KEY, "authorization: Bearer x\r\n"] {
        let reply = served.server.ask("GET", "/api/health", headers, "").await;
        assert_eq!(reply.status, 200, "{headers}");
    }
}

#[tokio::test]
async fn a_listener_without_options_creates_a_password() {
    let first = Served::open(ListenOptions::default()).await;
    let second = Served::open(ListenOptions::default()).await;
    let logins = [&first, &second].map(|it| it.server.0.login().cloned().unwrap());
    assert_ne!(logins[0].password, logins[1].password);
    for (login, status) in logins.iter().zip([200, 401]) {
        assert_eq!(login.username, "opencode");
        let key = STANDARD.encode(format!("{}:{}", login.username, login.password));
        let headers = format!("authorization: Basic {key}\r\n");
        let reply = first.server.ask("GET", "/api/health", &headers, "").await;
        assert_eq!(reply.status, status);
    }
    let reply = first.server.ask("GET", "/api/health", "", "").await;
    assert_eq!(reply.status, 401);
}
