//! Access tokens of remote servers.

use std::sync::Arc;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use opencode_mcp::{CallError, Challenge, RemoteServer, ServerConfig, State, TokenError, Tokens};
use parking_lot::Mutex;
use serde_json::json;

use crate::bench::{Bench, DEADLINE, call};
use crate::http_server::{Answer, HttpServer, Request};

/// The challenges of a server, as a test compares them.
type Challenges = Vec<(u16, Option<String>, Option<String>)>;

/// Tokens that a test chooses.
#[derive(Default)]
struct Wallet {
    token: Mutex<Option<String>>,
    /// The next result after a refusal; then it is the token.
    after_refusal: Mutex<Option<Result<String, TokenError>>>,
    refused: Mutex<Challenges>,
}

impl Tokens for Wallet {
    fn access_token<'a>(
        &'a self,
        server: &'a RemoteServer,
    ) -> BoxFuture<'a, Result<Option<String>, TokenError>> {
        assert_eq!(server.name, "s");
        let token = self.token.lock().clone();
        async move { Ok(token) }.boxed()
    }

    fn refused<'a>(
        &'a self,
        _server: &'a RemoteServer,
        challenge: Challenge,
    ) -> BoxFuture<'a, Result<String, TokenError>> {
        let challenge = (
            challenge.status,
            challenge.www_authenticate,
            challenge.token,
        );
        self.refused.lock().push(challenge);
        let result = self
            .after_refusal
            .lock()
            .clone()
            .unwrap_or(Err(TokenError::NeedsAuth));
        if let Ok(token) = &result {
            *self.token.lock() = Some(token.clone());
        }
        async move { result }.boxed()
    }
}

/// Starts a server that accepts only one token, and gives this answer to other requests.
async fn server(token: &'static str, refusal: fn() -> Answer) -> HttpServer {
    HttpServer::start(move |request: &Request| {
        let is_right = request.header("authorization") == format!("Bearer {token}");
        (!is_right).then(refusal)
    })
    .await
}

async fn bench(config: ServerConfig, wallet: &Arc<Wallet>) -> Bench {
    let bench = Bench::new(Arc::clone(wallet) as Arc<dyn Tokens>);
    bench.configure([("s", config)]);
    bench.start().await;
    bench
}

const METADATA: &str = "Bearer resource_metadata=\"https://a.example/.well-known\"";

fn with_challenge() -> Answer {
    Answer::challenge(401, METADATA)
}

#[tokio::test]
async fn a_refused_request_is_repeated_once_with_another_token() {
    for (refusal, status, challenge) in [
        (with_challenge as fn() -> Answer, 401, Some(METADATA)),
        (|| Answer::status(401), 401, None),
        (
            || Answer::body(401, "application/json", "{\"error\":\"x\"}"),
            401,
            None,
        ),
        (
            || Answer::challenge(403, "Bearer error=\"insufficient_scope\""),
            403,
            Some("Bearer error=\"insufficient_scope\""),
        ),
    ] {
        let server = server("new", refusal).await;
        let wallet = Arc::new(Wallet::default());
        *wallet.token.lock() = Some("old".to_owned());
        *wallet.after_refusal.lock() = Some(Ok("new".to_owned()));
        let bench = bench(server.config(&[], true), &wallet).await;
        assert_eq!(bench.state("s"), State::Connected, "{status} {challenge:?}");
        call(&bench.tool("s_echo"), json!({})).await.unwrap();
        let challenge = challenge.map(str::to_owned);
        let expected = [(status, challenge, Some("old".to_owned()))];
        assert_eq!(*wallet.refused.lock(), expected);
        bench.servers.close().await;
    }
}

#[tokio::test]
async fn each_request_has_the_current_token() {
    let server = HttpServer::start(|_| None).await;
    let wallet = Arc::new(Wallet::default());
    let bench = bench(server.config(&[], true), &wallet).await;
    let tool = bench.tool("s_echo");
    for token in ["one", "two"] {
        *wallet.token.lock() = Some(token.to_owned());
        call(&tool, json!({})).await.unwrap();
    }
    let calls = server.with_method("tools/call");
    let sent: Vec<_> = calls
        .iter()
        .map(|request| request.header("authorization"))
        .collect();
    assert_eq!(sent, ["Bearer one", "Bearer two"]);
    assert_eq!(
        server.with_method("initialize")[0].header("authorization"),
        ""
    );
    bench.servers.close().await;
}

#[tokio::test]
async fn a_server_waits_for_the_user() {
    for (error, state) in [
        (TokenError::NeedsAuth, State::NeedsAuth),
        (
            TokenError::NeedsClientRegistration("no registration".to_owned()),
            State::NeedsClientRegistration("no registration".to_owned()),
        ),
        (
            TokenError::Failed("the server is down".to_owned()),
            State::Failed("the server is down".to_owned()),
        ),
    ] {
        let server = server("right", with_challenge).await;
        let wallet = Arc::new(Wallet::default());
        *wallet.after_refusal.lock() = Some(Err(error));
        let bench = bench(server.config(&[], true), &wallet).await;
        assert_eq!(bench.state("s"), state);
        // Only the right server connects again.
        *wallet.token.lock() = Some("right".to_owned());
        let other = server.url.join("/other").unwrap();
        bench.servers.authorized("s", &other);
        assert_eq!(bench.state("s"), state);
        bench.servers.authorized("s", &server.url);
        bench.servers.settled(DEADLINE).await;
        match state {
            State::Failed(_) => assert_eq!(bench.state("s"), state),
            _ => assert_eq!(bench.state("s"), State::Connected),
        }
        bench.servers.close().await;
    }
}

#[tokio::test]
async fn a_token_that_is_refused_twice_needs_the_user() {
    let server = server("right", with_challenge).await;
    let wallet = Arc::new(Wallet::default());
    *wallet.after_refusal.lock() = Some(Ok("wrong".to_owned()));
    let bench = bench(server.config(&[], true), &wallet).await;
    assert_eq!(bench.state("s"), State::NeedsAuth);
    assert_eq!(wallet.refused.lock().len(), 1);
    assert_eq!(server.requests.lock().len(), 2);
    bench.servers.close().await;
}

#[tokio::test]
async fn a_token_that_is_revoked_fails_the_call_and_the_server_waits_for_the_user() {
    let server = server("right", with_challenge).await;
    let wallet = Arc::new(Wallet::default());
    *wallet.token.lock() = Some("right".to_owned());
    let bench = bench(server.config(&[], true), &wallet).await;
    assert_eq!(bench.state("s"), State::Connected);
    *wallet.token.lock() = Some("revoked".to_owned());
    let error = call(&bench.tool("s_echo"), json!({})).await.unwrap_err();
    let message = "The user must authorize the host at the server.";
    assert_eq!(error, CallError::Failed(message.to_owned()));
    bench.until_state("s", &State::NeedsAuth).await;
    bench.servers.close().await;
}

#[tokio::test]
async fn tokens_are_not_used_if_the_configuration_says_so() {
    let refusal = with_challenge;
    for (headers, uses_oauth) in [
        (&[][..], false),
        (&[("Authorization", "Bearer own")][..], true),
    ] {
        let server = server("right", refusal).await;
        let wallet = Arc::new(Wallet::default());
        *wallet.token.lock() = Some("right".to_owned());
        let bench = bench(server.config(headers, uses_oauth), &wallet).await;
        assert!(
            matches!(bench.state("s"), State::Failed(_)),
            "{:?}",
            bench.state("s")
        );
        assert!(wallet.refused.lock().is_empty());
        let sent = server.requests.lock()[0].header("authorization").to_owned();
        assert_ne!(sent, "Bearer right");
        bench.servers.close().await;
    }
}
