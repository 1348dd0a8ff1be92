//! Tickets, which replace credentials.

use super::Shown;
use crate::server::{KEY, locked, patient};
use crate::websocket::UPGRADE;

#[tokio::test]
async fn a_ticket_opens_one_connection_without_credentials() {
    let shown = Shown::with("sleep 600", locked(), patient()).await;
    assert_eq!(shown.status("", "").await, 401);
    assert_eq!(shown.status("?ticket=", "").await, 403);
    assert_eq!(shown.status("?ticket=x", "").await, 403);
    // A ticket replaces credentials, so correct credentials do not help.
    assert_eq!(shown.status("?ticket=x", KEY).await, 403);
    let query = format!("?cursor=-1&ticket={}", shown.a_ticket().await);
    assert_eq!(shown.status(&query, "").await, 101);
    assert_eq!(shown.status(&query, "").await, 403);
    // A ticket is valid for one Location.
    for elsewhere in [
        "location[directory]=/elsewhere",
        "location[workspace]=wrk_a",
    ] {
        let query = format!("?ticket={}&{elsewhere}", shown.a_ticket().await);
        assert_eq!(shown.status(&query, "").await, 403, "{elsewhere}");
    }
}

#[tokio::test]
async fn an_invalid_connection_request_uses_no_ticket() {
    let shown = Shown::with("sleep 600", locked(), patient()).await;
    let ticket = shown.a_ticket().await;
    let path = format!("{}/connect?ticket={ticket}", shown.path);
    let plain = shown.served.server.ask("GET", &path, "", "").await;
    assert_eq!((plain.status, plain.body.len()), (400, 0));
    let twice = format!("?ticket={ticket}&ticket=x");
    assert_eq!(shown.status(&twice, "").await, 400);
    assert_eq!(shown.status(&format!("?ticket={ticket}"), "").await, 101);
}

#[tokio::test]
async fn a_ticket_for_a_removed_terminal_is_invalid() {
    let shown = Shown::with("sleep 600", locked(), patient()).await;
    let (good, bad) = (shown.a_ticket().await, "?ticket=x");
    let removed = shown
        .served
        .server
        .ask("DELETE", &shown.path, KEY, "")
        .await;
    assert_eq!(removed.status, 204);
    // A client without a valid ticket does not learn whether the terminal exists.
    assert_eq!(shown.status(bad, "").await, 403);
    assert_eq!(shown.status(&format!("?ticket={good}"), "").await, 404);
}

#[tokio::test]
async fn a_ticket_is_valid_only_for_a_connection() {
    let shown = Shown::with("sleep 600", locked(), patient()).await;
    let ticket = shown.a_ticket().await;
    let server = &shown.served.server;
    for (method, path) in [
        ("GET", shown.path.clone()),
        ("DELETE", shown.path.clone()),
        ("POST", format!("{}/connect", shown.path)),
        ("POST", format!("{}/connect-token", shown.path)),
        ("GET", format!("{}/connect/..", shown.path)),
        ("GET", format!("{}%2Fconnect", shown.path)),
        ("GET", "/api/session".to_owned()),
        ("GET", "/api/event".to_owned()),
        ("GET", "/api/fs/read/connect".to_owned()),
        ("GET", "/api/fs/read/api/pty/pty_x/connect".to_owned()),
    ] {
        let path = format!("{path}?ticket={ticket}");
        let reply = server
            .ask(method, &path, "x-opencode-ticket: 1\r\n", "")
            .await;
        assert_eq!(reply.status, 401, "{method} {path}");
    }
    // The same operation with another spelling of its path.
    let path = shown.path.replace("/api/pty", "//API/PTY") + "/%63onnect/";
    let mut client = server.client().await;
    let path = format!("{path}?ticket={ticket}");
    client.request("GET", &path, UPGRADE, "").await;
    assert_eq!(client.head().await.status, 101);
}
