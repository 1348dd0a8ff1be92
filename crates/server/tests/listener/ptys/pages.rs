//! WebSockets of foreign web pages. Browsers open them to any address and add stored credentials.

use opencode_server::ListenOptions;
use serde_json::json;

use super::Shown;
use crate::server::{KEY, locked, patient, unlocked};

const FOREIGN: &str = "origin: https://evil.example\r\n";
const SANDBOXED: &str = "origin: null\r\n";
const LOCAL: &str = "origin: http://localhost:3000\r\n";
const OWN: &str = "origin: http://LOCALHOST\r\n";
const CONFIGURED: &str = "origin: https://app.example\r\n";

/// Pages and the results of their connections. A program that is not a browser sends no origin.
const PAGES: [(&str, u16); 6] = [
    ("", 101),
    (FOREIGN, 403),
    (SANDBOXED, 403),
    (LOCAL, 101),
    (OWN, 101),
    (CONFIGURED, 101),
];

async fn shown(options: ListenOptions) -> Shown {
    let cors = vec!["https://app.example".to_owned()];
    Shown::with("sleep 600", ListenOptions { cors, ..options }, patient()).await
}

#[tokio::test]
async fn without_a_password_foreign_pages_open_no_connection() {
    let shown = shown(unlocked()).await;
    for (page, status) in PAGES {
        assert_eq!(shown.status("", page).await, status, "{page}");
        // If no password is set, a password in the address has no effect.
        let token = "?auth_token=b3BlbmNvZGU6czNjcmV0";
        assert_eq!(shown.status(token, page).await, status, "{page}");
        let ticket = format!("?ticket={}", shown.a_ticket().await);
        assert_eq!(
            shown.status(&ticket, page).await,
            status,
            "{page} by ticket"
        );
    }
    // A host name that a foreign DNS server can resolve to this machine.
    let path = format!("{}/connect", shown.path);
    let mut client = shown.served.server.client().await;
    let rebound = format!(
        "GET {path} HTTP/1.1\r\nhost: evil.example\r\norigin: http://evil.example\r\n{}\r\n",
        crate::websocket::UPGRADE
    );
    client.write(rebound).await.unwrap();
    assert_eq!(client.head().await.status, 400);
}

#[tokio::test]
async fn with_a_password_foreign_pages_must_send_it() {
    let shown = shown(locked()).await;
    let token = "?auth_token=b3BlbmNvZGU6czNjcmV0";
    for (page, status) in PAGES {
        // Browsers add stored credentials to every request of a page.
        let remembered = format!("{KEY}{page}");
        assert_eq!(shown.status("", &remembered).await, status, "{page}");
        let ticket = format!("?ticket={}", shown.a_ticket().await);
        assert_eq!(
            shown.status(&ticket, page).await,
            status,
            "{page} by ticket"
        );
        assert_eq!(shown.status("", page).await, 401, "{page}");
        assert_eq!(shown.status(token, page).await, 101, "{page} that knows it");
        let both = format!("{token}&ticket={}", shown.a_ticket().await);
        assert_eq!(shown.status(&both, page).await, status, "{page} with both");
    }
}

#[tokio::test]
async fn foreign_pages_get_no_ticket() {
    let header = "x-opencode-ticket: 1\r\n";
    let shown = shown(locked()).await;
    let forbidden = json!({
        "_tag": "ForbiddenError",
        "message": "Invalid PTY connect token request",
    });
    assert_eq!(shown.ticket("").await, (403, forbidden.clone()));
    for (page, status) in PAGES {
        let (found, answer) = shown.ticket(&format!("{header}{page}")).await;
        if status == 403 {
            assert_eq!((found, answer), (403, forbidden.clone()), "{page}");
        } else {
            assert_eq!(found, 200, "{page}");
        }
    }
}
