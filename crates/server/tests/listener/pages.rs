//! Requests of web pages, without a password and with a password that the browser remembers.

use opencode_server::ListenOptions;
use serde_json::{Value, json};

use crate::client::Reply;
use crate::server::{KEY, Served, locked, unlocked};

fn refused(field: &str, message: &str) -> (u16, Value) {
    let body = json!({"_tag": "InvalidRequestError", "message": message, "field": field});
    (400, body)
}

/// Lists the sessions, with this `Host` header or without one.
async fn ask_for(served: &Served, host: Option<&str>, headers: &str) -> Reply {
    let host = host.map_or(String::new(), |host| format!("host: {host}\r\n"));
    let mut client = served.server.client().await;
    let head = format!("GET /api/session HTTP/1.1\r\n{host}{headers}\r\n");
    client.write(head).await.unwrap();
    client.reply().await
}

#[tokio::test]
async fn only_host_names_of_this_machine_are_answered() {
    let message = "A listener without a password answers only requests to this machine: \
                   use localhost, listen on this host name, or set a password";
    let served = Served::open(unlocked()).await;
    for host in [
        "localhost",
        "LocalHost:4096",
        "app.localhost:4096",
        "127.0.0.1:4096",
        "127.1.2.3",
        "192.168.0.1:80",
        "[::1]:4096",
    ] {
        let reply = ask_for(&served, Some(host), "").await;
        assert_eq!(reply.status, 200, "{host}");
    }
    assert_eq!(ask_for(&served, None, "").await.status, 200);
    for host in [
        "evil.example",
        "evil.example:4096",
        "localhost.evil.example",
        "127.0.0.1.evil.example",
        "evillocalhost",
        "localhost@evil.example",
        "",
        "\u{e4}",
    ] {
        let reply = ask_for(&served, Some(host), "").await;
        assert_eq!(reply.status_and_json(), refused("host", message), "{host}");
    }
    let served = Served::open(locked()).await;
    let reply = ask_for(&served, Some("evil.example"), KEY).await;
    assert_eq!(reply.status, 200);
}

/// Creates a session like a page of this origin, with a request that needs no preflight.
async fn create_from(served: &Served, origin: &str) -> Reply {
    let headers = format!("origin: {origin}\r\n");
    served
        .server
        .ask("POST", "/api/session", &headers, "{}")
        .await
}

#[tokio::test]
async fn foreign_pages_cannot_send_requests() {
    let message = "A listener without a password refuses web pages of this origin: \
                   add the origin to the option cors, or set a password";
    let options = ListenOptions {
        cors: vec!["https://app.example".into()],
        ..unlocked()
    };
    let served = Served::open(options).await;
    for origin in ["https://evil.example", "null", "file://", "\u{e4}"] {
        let reply = create_from(&served, origin).await;
        assert_eq!(
            reply.status_and_json(),
            refused("origin", message),
            "{origin}"
        );
        let headers = format!("origin: {origin}\r\n");
        let reply = served.server.ask("GET", "/api/session", &headers, "").await;
        assert_eq!(
            reply.status_and_json(),
            refused("origin", message),
            "{origin}"
        );
    }
    for origin in ["http://localhost:5173", "https://app.example"] {
        assert_eq!(create_from(&served, origin).await.status, 200, "{origin}");
        let headers = format!("origin: {origin}\r\nsec-fetch-site: cross-site\r\n");
        let reply = served.server.ask("GET", "/api/session", &headers, "").await;
        assert_eq!(reply.status, 200, "{origin}");
    }
    // Images, links and frames have no origin.
    for (site, is_answered) in [
        ("same-origin", true),
        ("none", true),
        ("same-site", false),
        ("cross-site", false),
    ] {
        let headers = format!("sec-fetch-site: {site}\r\n");
        let reply = served.server.ask("GET", "/api/session", &headers, "").await;
        assert_eq!(reply.status, if is_answered { 200 } else { 400 }, "{site}");
    }
}

#[tokio::test]
async fn a_password_stored_in_the_browser_does_not_let_foreign_pages_write() {
    let message = "Web pages of this origin may not change anything: add the origin to the option \
                   cors, or send the password as auth_token in the query";
    let options = ListenOptions {
        cors: vec!["https://app.example".into()],
        ..locked()
    };
    let served = Served::open(options).await;
    let create = async |target: &str, headers: String| {
        let reply = served.server.ask("POST", target, &headers, "{}").await;
        (reply.status, reply)
    };
    for origin in ["https://evil.example", "null"] {
        let (_, reply) = create("/api/session", format!("{KEY}origin: {origin}\r\n")).await;
        assert_eq!(
            reply.status_and_json(),
            refused("origin", message),
            "{origin}"
        );
    }
    let stranger = "origin: https://evil.example\r\n";
    assert_eq!(create("/api/session", stranger.into()).await.0, 401);
    let reply = served
        .server
        .ask("GET", "/api/session", &format!("{KEY}{stranger}"), "")
        .await;
    assert_eq!((reply.status, &reply.json()["data"]), (200, &json!([])));
    for (target, headers) in [
        ("/api/session", KEY.to_owned()),
        (
            "/api/session",
            format!("{KEY}origin: https://app.example\r\n"),
        ),
        (
            "/api/session?auth_token=b3BlbmNvZGU6czNjcmV0",
            stranger.into(),
        ),
    ] {
        assert_eq!(create(target, headers).await.0, 200, "{target}");
    }
}
