//! The renewal of access tokens.

use std::sync::Arc;

use opencode_mcp::oauth::CredentialStore;
use opencode_mcp::{TokenError, Tokens};

use crate::fixture::Host;

#[tokio::test]
async fn a_token_is_renewed_five_minutes_before_its_end() {
    let host = Host::start().await;
    host.connect().await.unwrap();
    host.time.advance(3600 - 301);
    assert_eq!(host.call().await, Ok(200));
    assert_eq!(host.count("/token"), 1);
    host.time.advance(1);
    assert_eq!(host.call().await, Ok(200));
    let form = &host.server.received("/token")[1].form;
    assert_eq!(form["grant_type"], "refresh_token");
    assert_eq!(form["resource"], host.server.url().as_str());
    assert_eq!(host.call().await, Ok(200));
    assert_eq!(host.count("/token"), 2);
}

#[tokio::test]
async fn a_short_token_is_renewed_after_half_of_its_life() {
    let host = Host::start().await;
    host.server.change(|it| it.expires_in = Some(60));
    host.connect().await.unwrap();
    for (seconds, requests) in [(29, 1), (1, 2), (29, 2), (1, 3)] {
        host.time.advance(seconds);
        assert_eq!(host.call().await, Ok(200));
        assert_eq!(host.count("/token"), requests);
    }
}

#[tokio::test]
async fn a_refused_token_is_renewed_once() {
    let host = Host::start().await;
    host.server.change(|it| it.expires_in = None);
    host.connect().await.unwrap();
    host.server.revoke();
    assert_eq!(host.call().await, Ok(200));
    assert_eq!(host.count("/token"), 2);
    host.server.revoke();
    assert_eq!(host.call().await, Err(TokenError::NeedsAuth));
    assert_eq!(host.count("/token"), 2);
    host.time.advance(30);
    assert_eq!(host.call().await, Ok(200));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn fifty_calls_make_one_renewal() {
    let host = Arc::new(Host::start().await);
    host.connect().await.unwrap();
    host.time.advance(3600);
    host.server.hold_tokens(true);
    let calls: Vec<_> = (0..50)
        .map(|_| {
            let host = Arc::clone(&host);
            tokio::spawn(async move { host.call().await })
        })
        .collect();
    while host.count("/token") < 2 {
        tokio::task::yield_now().await;
    }
    host.server.hold_tokens(false);
    for call in calls {
        assert_eq!(call.await.unwrap(), Ok(200));
    }
    assert_eq!(host.count("/token"), 2);
}

#[tokio::test]
async fn a_renewal_runs_to_its_end_without_its_caller() {
    let host = Host::start().await;
    host.connect().await.unwrap();
    host.time.advance(3600);
    host.server.hold_tokens(true);
    {
        let mut call = Box::pin(host.oauth.access_token(&host.remote));
        while host.count("/token") < 2 {
            assert!(futures::poll!(&mut call).is_pending());
            tokio::task::yield_now().await;
        }
    }
    host.server.hold_tokens(false);
    host.oauth.close().await;
    assert_eq!(host.call().await, Ok(200));
    assert_eq!(host.count("/token"), 2);
    // The new token is the stored one.
    assert!(host.stored.values()[0].contains("refresh_secret_3"));
}

#[tokio::test]
async fn a_refused_renewal_removes_the_tokens() {
    let mut host = Host::start().await;
    host.connect().await.unwrap();
    host.time.advance(3600);
    host.server
        .change(|it| it.renewal = Some((400, "invalid_grant")));
    assert_eq!(host.call().await, Err(TokenError::NeedsAuth));
    assert_eq!(host.changes.0.lock().unwrap().len(), 2);
    let value = &host.stored.values()[0];
    assert!(!value.contains("_secret_"), "{value}");
    assert!(value.contains("client_1"));
    assert_eq!(host.call().await, Err(TokenError::NeedsAuth));
    host.restart();
    assert_eq!(host.call().await, Err(TokenError::NeedsAuth));
    assert_eq!(host.count("/token"), 2);
    host.connect().await.unwrap();
    assert_eq!(host.count("/register"), 1);
}

#[tokio::test]
async fn a_valid_token_outlives_a_failed_renewal() {
    let host = Host::start().await;
    host.connect().await.unwrap();
    host.time.advance(3600 - 200);
    host.server
        .change(|it| it.renewal = Some((503, "temporarily_unavailable")));
    for _ in 0..3 {
        assert_eq!(host.call().await, Ok(200));
    }
    // The server is not asked again at every call.
    assert_eq!(host.count("/token"), 2);
    host.time.advance(200);
    let message = format!(
        "{} gives no token: temporarily_unavailable",
        host.server.origin()
    );
    assert_eq!(host.call().await, Err(TokenError::Failed(message)));
    host.server.change(|it| it.renewal = None);
    host.time.advance(10);
    assert_eq!(host.call().await, Ok(200));
}

#[tokio::test]
async fn a_token_that_cannot_be_stored_is_not_used() {
    let host = Host::start().await;
    host.connect().await.unwrap();
    host.time.advance(3600);
    *host.stored.fails.lock().unwrap() = true;
    let message = "the credentials cannot be accessed: the disk is full";
    assert_eq!(host.call().await, Err(TokenError::Failed(message.into())));
}

#[tokio::test]
async fn a_removed_credential_is_not_renewed() {
    let host = Host::start().await;
    host.connect().await.unwrap();
    host.time.advance(3600);
    host.server.hold_tokens(true);
    let removed = async {
        while host.count("/token") < 2 {
            tokio::task::yield_now().await;
        }
        host.stored.remove("cred_0").await.unwrap();
        host.oauth.forget();
        host.server.hold_tokens(false);
    };
    let (called, ()) = tokio::join!(host.call(), removed);
    assert_eq!(called, Err(TokenError::NeedsAuth));
    assert!(host.stored.values().is_empty());
    assert_eq!(host.call().await, Err(TokenError::NeedsAuth));
}

#[tokio::test]
async fn a_forgotten_client_needs_another_consent() {
    let host = Host::start().await;
    host.connect().await.unwrap();
    host.time.advance(3600);
    host.server.change(|it| it.knows_clients = false);
    assert_eq!(host.call().await, Err(TokenError::NeedsAuth));
    assert!(!host.stored.values()[0].contains("_secret_"));
    host.server.change(|it| it.knows_clients = true);
    host.connect().await.unwrap();
    assert_eq!(host.count("/register"), 2);
}

#[tokio::test]
async fn a_wrong_configured_client_keeps_the_tokens() {
    let mut host = Host::start().await;
    host.options().client_id = Some("mine".into());
    host.connect().await.unwrap();
    host.time.advance(3600);
    host.server.change(|it| it.knows_clients = false);
    let message = "the authorization server does not accept the client; check `oauth.client_id` and `oauth.client_secret`";
    assert_eq!(host.call().await, Err(TokenError::Failed(message.into())));
    host.server.change(|it| it.knows_clients = true);
    host.time.advance(10);
    assert_eq!(host.call().await, Ok(200));
}
