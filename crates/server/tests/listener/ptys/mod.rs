//! Connections to terminals.
#![cfg(unix)]

mod closing;
mod frames;
mod pages;
mod tickets;

use opencode_schema::location::LocationRef;
use opencode_server::{Bounds, ListenOptions, Password};
use serde_json::{Value, json};

use crate::server::{JSON, KEY, Served, patient, unlocked};
use crate::websocket::{Message, UPGRADE, WebSocket};

/// A listener, and a script in a terminal.
struct Shown {
    served: Served,
    /// The credentials of an admitted request.
    credentials: &'static str,
    path: String,
}

impl Shown {
    async fn open(script: &str) -> Self {
        Self::with(script, unlocked(), patient()).await
    }

    async fn with(script: &str, options: ListenOptions, bounds: Bounds) -> Self {
        let credentials = if options.password == Password::Off {
            ""
        } else {
            KEY
        };
        let served = Served::with(options, bounds).await;
        let body = json!({"command": "/bin/sh", "args": ["-c", script]}).to_string();
        let headers = format!("{credentials}{JSON}");
        let created = served.server.ask("POST", "/api/pty", &headers, &body).await;
        assert_eq!(created.status, 200, "{created:?}");
        let id = created.json()["data"]["id"].as_str().unwrap().to_owned();
        Self {
            served,
            credentials,
            path: format!("/api/pty/{id}"),
        }
    }

    async fn connect(&self, query: &str) -> WebSocket {
        let client = self.served.server.client().await;
        let path = format!("{}/connect{query}", self.path);
        WebSocket::open(client, &path, self.credentials).await
    }

    /// Returns the status of a connection request with no credentials except the given ones.
    async fn status(&self, query: &str, headers: &str) -> u16 {
        let path = format!("{}/connect{query}", self.path);
        let headers = format!("{headers}{UPGRADE}");
        let mut client = self.served.server.client().await;
        client.request("GET", &path, &headers, "").await;
        let head = client.head().await;
        if [400, 403, 404].contains(&head.status) {
            let body = (head.header("content-type"), head.header("content-length"));
            assert_eq!(body, (None, Some("0".to_owned())), "{head:?}");
        }
        head.status
    }

    async fn ticket(&self, headers: &str) -> (u16, Value) {
        let path = format!("{}/connect-token", self.path);
        let headers = format!("{}{headers}", self.credentials);
        let server = &self.served.server;
        server
            .ask("POST", &path, &headers, "")
            .await
            .status_and_json()
    }

    async fn a_ticket(&self) -> String {
        let (status, answer) = self.ticket("x-opencode-ticket: 1\r\n").await;
        assert_eq!(status, 200, "{answer}");
        answer["data"]["ticket"].as_str().unwrap().to_owned()
    }

    fn place(&self) -> LocationRef {
        LocationRef {
            directory: self.served.f.project.directory(),
            workspace_id: None,
        }
    }
}

fn caught(cursor: u64) -> Message {
    let mut bytes = vec![0];
    bytes.extend(json!({"cursor": cursor}).to_string().bytes());
    Message::Binary(bytes)
}

fn closed(code: u16, reason: &str) -> Message {
    Message::Close(code, reason.to_owned())
}
