//! Requests whose credential a service makes.

use std::sync::atomic::{AtomicUsize, Ordering};

use futures::FutureExt;
use futures::future::BoxFuture;
use opencode_llm::{Auth, Authorizer, ErrorKind, LlmErrorReason, OutgoingRequest};
use opencode_secrets::Secret;

use super::server::{Server, ok, refuse};
use super::*;

/// Puts the size of the body and one header into its header.
struct Signer;

impl Authorizer for Signer {
    fn authorize<'a>(
        &'a self,
        request: OutgoingRequest<'a>,
    ) -> BoxFuture<'a, Result<Vec<(String, Secret)>, LlmError>> {
        let title = request.headers["x-title"].to_str().unwrap();
        let signed = format!(
            "signed-{}-{title}-{}",
            request.body.len(),
            request.url.path()
        );
        async move { Ok(vec![("x-signature".to_owned(), Secret::new(signed))]) }.boxed()
    }
}

/// Always has the same token.
struct Fixed(&'static str);

impl Authorizer for Fixed {
    fn authorize<'a>(
        &'a self,
        _: OutgoingRequest<'a>,
    ) -> BoxFuture<'a, Result<Vec<(String, Secret)>, LlmError>> {
        let token = vec![("x-token".to_owned(), Secret::new(self.0))];
        async move { Ok(token) }.boxed()
    }
}

/// Never has a credential ready.
struct Silent;

impl Authorizer for Silent {
    fn authorize<'a>(
        &'a self,
        _: OutgoingRequest<'a>,
    ) -> BoxFuture<'a, Result<Vec<(String, Secret)>, LlmError>> {
        std::future::pending().boxed()
    }
}

/// Has another token after each refusal.
#[derive(Default)]
struct Renewing(AtomicUsize);

impl Authorizer for Renewing {
    fn authorize<'a>(
        &'a self,
        _: OutgoingRequest<'a>,
    ) -> BoxFuture<'a, Result<Vec<(String, Secret)>, LlmError>> {
        let token = format!("token-{}", self.0.load(Ordering::Relaxed));
        async move { Ok(vec![("x-token".to_owned(), Secret::new(token))]) }.boxed()
    }

    fn refused(&self, headers: &[(String, Secret)]) -> bool {
        let number = self.0.fetch_add(1, Ordering::Relaxed);
        assert_eq!(headers[0].1.expose(), format!("token-{number}"));
        true
    }
}

/// The tokens that a server received.
fn tokens(server: &Server) -> Vec<String> {
    let seen = server.seen.lock().unwrap();
    let token = |head: &str| {
        let line = head.lines().find_map(|line| line.strip_prefix("x-token: "));
        line.unwrap_or_default().to_owned()
    };
    seen.iter().map(|request| token(&request.head)).collect()
}

fn signed(base_url: &str, authorizer: impl Authorizer + 'static) -> LlmRequest {
    request(base_url, |model| {
        model.auth = Auth::Service(Arc::new(authorizer));
        model.headers = vec![("x-title".into(), "plan".into())];
    })
}

#[tokio::test]
async fn a_service_signs_the_request_that_is_sent() {
    let server = Server::start(vec![ok(&format!("{HELLO}{STOP}{DONE}"))]).await;
    let (events, error) = outcome(signed(&server.base_url, Signer)).await;
    assert_eq!(error, None);
    assert!(says_hi(&events));
    let seen = server.seen.lock().unwrap();
    let size = seen[0].body.to_string().len();
    let expected = format!("x-signature: signed-{size}-plan-/v1/chat/completions\r\n");
    assert!(
        seen[0].head.to_lowercase().contains(&expected),
        "{}",
        seen[0].head
    );
}

#[tokio::test]
async fn a_made_credential_is_redacted_in_failures() {
    let refusal = refuse(403, "", "no entry for token-4711");
    let server = Server::start(vec![refusal]).await;
    let error = failure(signed(&server.base_url, Fixed("token-4711"))).await;
    assert!(format!("{error:?}").contains("no entry for"), "{error:?}");
    assert!(!format!("{error:?}").contains("token-4711"), "{error:?}");
}

#[tokio::test]
async fn a_refused_credential_is_replaced_once() {
    let refusal = || refuse(401, "", "unknown token");
    let hello = ok(&format!("{HELLO}{STOP}{DONE}"));
    let server = Server::start(vec![refusal(), hello]).await;
    let (events, error) = outcome(signed(&server.base_url, Renewing::default())).await;
    assert_eq!(error, None);
    assert!(says_hi(&events));
    assert_eq!(tokens(&server), ["token-0", "token-1"]);

    let server = Server::start(vec![refusal(), refusal()]).await;
    let error = failure(signed(&server.base_url, Renewing::default())).await;
    assert_eq!(error.status(), Some(401));
    assert_eq!(tokens(&server), ["token-0", "token-1"]);
    // Another refusal, and a service without another credential.
    for (status, authorizer) in [
        (403, Arc::new(Renewing::default()) as Arc<dyn Authorizer>),
        (401, Arc::new(Fixed("token"))),
    ] {
        let server = Server::start(vec![refuse(status, "", "no")]).await;
        let request = request(&server.base_url, |model| {
            model.auth = Auth::Service(authorizer);
        });
        assert_eq!(failure(request).await.status(), Some(status));
        assert_eq!(tokens(&server).len(), 1);
    }
}

#[tokio::test(start_paused = true)]
async fn a_service_without_an_answer_fails_the_request() {
    let error = failure(signed("http://127.0.0.1:9/v1", Silent)).await;
    assert!(
        matches!(error.reason(), LlmErrorReason::Transport { .. }),
        "{error:?}"
    );
    assert!(
        error.to_string().contains("credential was not ready"),
        "{}",
        error.to_string()
    );
    assert_eq!(error.kind(), ErrorKind::Timeout);
}
