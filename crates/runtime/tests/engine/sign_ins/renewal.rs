//! The renewal of access tokens.

use super::*;

fn reason(result: Result<String, LlmError>) -> (LlmErrorReason, String) {
    let error = result.unwrap_err();
    let message = error.to_string();
    (error.reason().clone(), message)
}

#[tokio::test]
async fn requests_that_wait_share_one_renewal_and_its_tokens_are_stored() {
    let mut host = Host::open().await;
    host.server.change(|it| it.expires_in = Some(3600));
    host.sign_in().await;
    host.advance(54);
    assert_eq!(host.header().await.unwrap(), "Bearer access_secret_2");
    // Five minutes before the end.
    host.advance(1);
    host.server.hold_tokens(true);
    let requests = join_all((0..8).map(|_| host.header()));
    let open = async {
        while host.renewals() == 0 {
            tokio::task::yield_now().await;
        }
        host.server.hold_tokens(false);
    };
    let (headers, ()) = tokio::join!(requests, open);
    for header in headers {
        assert_eq!(header.unwrap(), "Bearer access_secret_3");
    }
    assert_eq!(host.renewals(), 1);
    host.reopen().await;
    assert_eq!(host.header().await.unwrap(), "Bearer access_secret_3");
    host.advance(55);
    assert_eq!(host.header().await.unwrap(), "Bearer access_secret_4");
}

#[tokio::test]
async fn a_token_is_used_until_it_ends_if_it_cannot_be_renewed() {
    let host = Host::open().await;
    host.sign_in().await;
    host.server
        .change(|it| it.renewal = Some((500, "server_error")));
    host.advance(55);
    for _ in 0..3 {
        assert_eq!(host.header().await.unwrap(), "Bearer access_secret_2");
    }
    // A failed renewal is not repeated at once.
    assert_eq!(host.renewals(), 1);
    host.advance(5);
    let (failure, message) = reason(host.header().await);
    assert!(matches!(failure, LlmErrorReason::Transport { .. }));
    let origin = host.server.origin();
    let expected = format!(
        "The access token of openai was not renewed: {origin} gives no token: server_error"
    );
    assert_eq!(message, expected);
    host.server.change(|it| it.renewal = None);
    host.advance(1);
    assert_eq!(host.header().await.unwrap(), "Bearer access_secret_3");
}

#[tokio::test]
async fn a_refused_token_is_renewed_once() {
    let host = Host::open().await;
    // A provider that does not tell how long its tokens live.
    host.server.change(|it| it.expires_in = None);
    host.sign_in().await;
    host.advance(1_000_000);
    let first = host.header().await.unwrap();
    assert_eq!(first, "Bearer access_secret_2");
    assert!(host.refuses(&first).await);
    let second = host.header().await.unwrap();
    assert_eq!(second, "Bearer access_secret_3");
    // A request that was sent with the former token gets the new one.
    assert!(host.refuses(&first).await);
    // The provider has another problem than the token.
    assert!(!host.refuses(&second).await);
    assert_eq!(host.header().await.unwrap(), second);
    assert_eq!(host.renewals(), 1);
    host.advance(1);
    assert!(host.refuses(&second).await);
    host.server
        .change(|it| it.renewal = Some((400, "invalid_grant")));
    let kind = AuthenticationKind::Expired;
    let (failure, _) = reason(host.header().await);
    assert_eq!(failure, LlmErrorReason::Authentication { kind });
}

#[tokio::test]
async fn a_sign_in_ends_when_the_provider_refuses_to_renew_it() {
    let host = Host::open().await;
    host.sign_in().await;
    host.advance(60);
    host.server
        .change(|it| it.renewal = Some((400, "invalid_grant")));
    let (failure, message) = reason(host.header().await);
    let kind = AuthenticationKind::Expired;
    assert_eq!(failure, LlmErrorReason::Authentication { kind });
    let expected = "The sign-in at openai has ended: the provider refused the refresh token. Sign in again with integrations.connectOauth.";
    assert_eq!(message, expected);
    host.server.change(|it| it.renewal = None);
    host.sign_in().await;
    assert_eq!(host.header().await.unwrap(), "Bearer access_secret_4");
    assert_eq!(host.integration().await.connections.len(), 1);
}

#[tokio::test]
async fn renewed_tokens_are_stored_before_they_are_used() {
    let vault = Vault::default();
    let host = Host::with(Some(vault.clone())).await;
    host.sign_in().await;
    host.advance(60);
    vault.fails.store(true, Ordering::Relaxed);
    let (failure, _) = reason(host.header().await);
    assert!(matches!(failure, LlmErrorReason::Transport { .. }));
    vault.fails.store(false, Ordering::Relaxed);
    host.advance(1);
    // The server has ended the former refresh token: the granted tokens are kept until they can be stored.
    assert_eq!(host.header().await.unwrap(), "Bearer access_secret_3");
    assert_eq!(host.renewals(), 1);
    let stored: Vec<_> = vault.values.lock().unwrap().values().cloned().collect();
    assert_eq!(stored.len(), 1);
    assert!(stored[0].contains("refresh_secret_3"));
}
