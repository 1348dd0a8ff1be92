//! Authorization servers that lie.

use opencode_mcp::TokenError;
use opencode_oauth::AuthorizationError;
use serde_json::{Value, json};

use crate::authorization::AuthorizationServer;
use crate::fixture::Host;

const METADATA: &str = "/.well-known/oauth-authorization-server";

/// Checks that an authorization fails with this message, and that the status of the server is "needs auth".
async fn fails(host: &Host, message: &str) {
    match host.oauth.authorize(&host.remote, "mine").await {
        Ok(_) => panic!("authorized, instead of: {message}"),
        Err(AuthorizationError::Failed(found)) => assert!(found.contains(message), "{found}"),
        Err(other) => panic!("{other:?}"),
    }
    assert_eq!(host.call().await, Err(TokenError::NeedsAuth));
    assert_eq!(host.count("/register"), 0);
}

async fn metadata_fails(metadata: Value, message: &str) {
    let host = Host::start().await;
    host.server.change(|it| it.metadata = metadata);
    fails(&host, message).await;
}

async fn resource_fails(resource: Value, message: &str) {
    let host = Host::start().await;
    host.server.change(|it| it.resource = resource);
    fails(&host, message).await;
}

#[tokio::test]
async fn metadata_of_another_server_is_refused() {
    let other = "is that of another server";
    resource_fails(json!({"resource": "https://evil.example/mcp"}), other).await;
    let issuer = "names another issuer";
    metadata_fails(json!({"issuer": "https://evil.example"}), issuer).await;
    let none = json!({"authorization_servers": []});
    resource_fails(none, "none of its authorization servers").await;
}

#[tokio::test]
async fn addresses_without_encryption_are_refused() {
    for name in [
        "authorization_endpoint",
        "token_endpoint",
        "registration_endpoint",
    ] {
        for address in [
            "http://evil.example/x",
            "file:///etc/passwd",
            "javascript:alert(1)",
            "https://user:pass@evil.example/x",
            "",
        ] {
            let message = format!("its {name} is not an https address");
            metadata_fails(json!({(name): address}), &message).await;
        }
    }
    let servers = json!({"authorization_servers": ["http://evil.example"]});
    resource_fails(servers, "its authorization server is not an https address").await;
}

#[tokio::test]
async fn a_server_needs_the_proof_key_and_codes() {
    let plain = json!({"code_challenge_methods_supported": ["plain"]});
    metadata_fails(plain, "PKCE").await;
    let implicit = json!({"response_types_supported": ["token"]});
    metadata_fails(implicit, "no authorization codes").await;
}

#[tokio::test]
async fn answers_are_bounded() {
    let host = Host::start().await;
    let mut endless = b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n\"".to_vec();
    endless.resize(endless.len() + 300_000, b'x');
    host.server.change(|it| it.raw = Some((METADATA, endless)));
    fails(&host, "too many bytes").await;
    host.server
        .change(|it| it.raw = Some((METADATA, b"HTTP/1.1 200 OK\r\n\r\n[]".to_vec())));
    fails(&host, "has another format").await;
    host.server.change(|it| {
        it.raw = None;
        it.silent = Some(METADATA);
    });
    fails(&host, "does not answer in time").await;
}

#[tokio::test]
async fn redirects_are_not_followed() {
    let (host, evil) = (Host::start().await, AuthorizationServer::start().await);
    let redirect = |path: &str| {
        let to = evil.origin();
        format!("HTTP/1.1 307 Moved\r\nlocation: {to}{path}\r\ncontent-length: 0\r\n\r\n")
    };
    let raw = redirect(METADATA).into_bytes();
    host.server.change(|it| it.raw = Some((METADATA, raw)));
    fails(&host, "none of its authorization servers").await;
    let raw = redirect("/token").into_bytes();
    host.server.change(|it| it.raw = Some(("/token", raw)));
    let failed = host.connect().await.unwrap_err();
    assert!(failed.to_string().contains("answers with status 307"));
    assert!(evil.received(METADATA).is_empty());
    assert!(evil.received("/token").is_empty());
}

#[tokio::test]
async fn the_texts_of_a_server_are_not_repeated() {
    for code in ["code_secret_1", "refresh_secret_3", "a\nb"] {
        let host = Host::start().await;
        host.connect().await.unwrap();
        host.time.advance(3600);
        host.server.change(|it| it.renewal = Some((400, code)));
        let failed = host.call().await.unwrap_err().to_string();
        assert!(
            failed.ends_with("gives no token: an unknown error"),
            "{failed}"
        );
    }
}

#[tokio::test]
async fn tokens_in_another_form_are_refused() {
    for body in [
        r#"{"access_token":"a b","token_type":"bearer"}"#,
        r#"{"access_token":"","token_type":"bearer"}"#,
        r#"{"access_token":"a\r\nx: y","token_type":"bearer"}"#,
        r#"{"access_token":"a","token_type":"mac"}"#,
        r#"{"token_type":"bearer"}"#,
        "[]",
    ] {
        let host = Host::start().await;
        let raw = format!("HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n{body}");
        host.server
            .change(|it| it.raw = Some(("/token", raw.into_bytes())));
        let failed = host.connect().await.unwrap_err();
        assert!(failed.to_string().contains("another format"), "{failed}");
    }
}

#[tokio::test]
async fn a_server_without_metadata_needs_no_more_than_a_hint() {
    let host = Host::start().await;
    let missing = b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n".to_vec();
    let path = "/.well-known/oauth-protected-resource/mcp";
    host.server.change(|it| it.raw = Some((path, missing)));
    // A server of an older specification is its own authorization server.
    host.connect().await.unwrap();
    assert_eq!(host.call().await, Ok(200));
}
