//! The consent of the user.

use opencode_mcp::TokenError;
use opencode_mcp::oauth::OAuth;
use opencode_oauth::{AnswerMode, AuthorizationError};
use opencode_secrets::Secret;
use url::Url;

use crate::authorization::AuthorizationServer;
use crate::fixture::Host;

#[tokio::test]
async fn a_server_is_usable_after_the_consent() {
    let host = Host::start().await;
    assert_eq!(host.call().await, Err(TokenError::NeedsAuth));
    host.connect().await.unwrap();
    assert_eq!(host.call().await, Ok(200));
    let registered = &host.server.received("/register")[0].json;
    assert_eq!(registered["client_name"], "opencode");
    assert_eq!(registered["token_endpoint_auth_method"], "none");
    let form = &host.server.received("/token")[0].form;
    assert_eq!(form["resource"], host.server.url().as_str());
    assert_eq!(form["client_id"], "client_1");
    assert_eq!(*host.changes.0.lock().unwrap(), ["mcp:notes"]);
    let rows = host.stored.rows.lock().unwrap().clone();
    let [(integration, label, stored)] = rows.as_slice() else {
        panic!("{rows:?}")
    };
    assert_eq!(
        (integration.as_str(), label.as_str()),
        ("mcp:notes", "mine")
    );
    assert!(OAuth::connects(&host.remote, &stored.value));
    for secret in host.server.secrets() {
        assert!(!format!("{rows:?}").contains(&secret));
    }
}

#[tokio::test]
async fn a_refusal_by_the_user_ends_the_authorization() {
    let host = Host::start().await;
    host.server.change(|it| it.consents = false);
    assert_eq!(
        host.connect().await,
        Err(AuthorizationError::Refused("access_denied".into()))
    );
    assert_eq!(host.call().await, Err(TokenError::NeedsAuth));
}

#[tokio::test]
async fn an_expired_code_is_refused() {
    let host = Host::start().await;
    host.server.change(|it| it.accepts_codes = false);
    let refused = host.connect().await.unwrap_err();
    let message = "the authorization was refused: the code has expired, or was used already";
    assert_eq!(refused.to_string(), message);
}

#[tokio::test]
async fn only_the_right_state_ends_the_waiting() {
    let host = Host::start().await;
    let mut authorization = host.oauth.authorize(&host.remote, "mine").await.unwrap();
    let redirect = host.server.consent(&authorization.page);
    let mut wrong = redirect.clone();
    wrong.set_query(Some("code=evil&state=evil"));
    let mut elsewhere = redirect.clone();
    elsewhere.set_path("/elsewhere");
    for address in [wrong, elsewhere] {
        assert_eq!(AuthorizationServer::browse(&address).await.0, 400);
    }
    let (answer, (status, _)) = tokio::join!(
        authorization.browser.answered(),
        AuthorizationServer::browse(&redirect)
    );
    assert_eq!(status, 200);
    // The browser repeats the request.
    assert_eq!(AuthorizationServer::browse(&redirect).await.0, 400);
    authorization.exchange.finish(answer).await.unwrap();
    assert_eq!(host.call().await, Ok(200));
}

#[tokio::test]
async fn another_issuer_in_the_answer_is_refused() {
    let host = Host::start().await;
    host.server
        .change(|it| it.issuer_of_answer = Some("https://evil.example".into()));
    let refused = host.connect().await.unwrap_err();
    assert_eq!(refused.to_string(), "another authorization server answered");
    assert_eq!(host.count("/token"), 0);
}

#[tokio::test]
async fn authorizations_share_a_port() {
    let host = Host::start().await;
    let mut first = host.oauth.authorize(&host.remote, "one").await.unwrap();
    let mut second = host.oauth.authorize(&host.remote, "two").await.unwrap();
    assert_eq!(second.browser.mode(), AnswerMode::Redirect);
    for authorization in [&mut second, &mut first] {
        let redirect = host.server.consent(&authorization.page);
        let (_, (status, _)) = tokio::join!(
            authorization.browser.answered(),
            AuthorizationServer::browse(&redirect)
        );
        assert_eq!(status, 200);
    }
    drop((first, second));
    // The port is free for the next one, although the listener has just ended.
    host.connect().await.unwrap();
}

#[tokio::test]
async fn the_user_enters_the_answer_if_the_port_is_taken() {
    let mut host = Host::start().await;
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    host.options().callback_port = Some(taken.local_addr().unwrap().port());
    for is_address in [true, false] {
        let authorization = host.oauth.authorize(&host.remote, "mine").await.unwrap();
        assert_eq!(authorization.browser.mode(), AnswerMode::Entered);
        let redirect = host.server.consent(&authorization.page);
        let code = redirect.query_pairs().find(|it| it.0 == "code").unwrap();
        let input = match is_address {
            true => redirect.to_string(),
            false => code.1.into_owned(),
        };
        assert!(
            authorization
                .browser
                .entered("http://x/?code=1&state=2")
                .is_err()
        );
        let answer = authorization.browser.entered(&input).unwrap();
        authorization.exchange.finish(answer).await.unwrap();
        assert_eq!(host.call().await, Ok(200));
    }
}

#[tokio::test]
async fn the_user_enters_the_answer_if_the_redirect_address_is_elsewhere() {
    let mut host = Host::start().await;
    host.options().redirect_uri = Some("https://example.com/cb".into());
    let authorization = host.oauth.authorize(&host.remote, "mine").await.unwrap();
    assert_eq!(authorization.browser.mode(), AnswerMode::Entered);
    let redirect = host.server.consent(&authorization.page);
    assert!(redirect.as_str().starts_with("https://example.com/cb?"));
    let answer = authorization.browser.entered(redirect.as_str()).unwrap();
    authorization.exchange.finish(answer).await.unwrap();
}

#[tokio::test]
async fn a_configured_client_is_not_registered() {
    let mut host = Host::start().await;
    host.server.change(|it| it.registers = false);
    let needs = Err(TokenError::NeedsClientRegistration(format!(
        "{} registers no clients; register one there and set `oauth.client_id`",
        host.server.origin()
    )));
    assert_eq!(host.call().await, needs);
    let refused = host.connect().await.unwrap_err();
    assert!(matches!(
        refused,
        AuthorizationError::NeedsClientRegistration(_)
    ));
    host.options().client_id = Some("mine".into());
    host.options().client_secret = Some("client_secret_1".into());
    assert_eq!(host.call().await, Err(TokenError::NeedsAuth));
    host.connect().await.unwrap();
    assert_eq!(host.call().await, Ok(200));
    assert_eq!(host.count("/register"), 0);
    // The secret stays in the configuration.
    assert!(!host.stored.values()[0].contains("client_secret_1"));
    // Tokens of another client are not used.
    host.options().client_id = Some("other".into());
    assert_eq!(host.call().await, Err(TokenError::NeedsAuth));
}

#[tokio::test]
async fn an_authorization_ends_with_its_host_and_its_client_stays() {
    let mut host = Host::start().await;
    let authorization = host.oauth.authorize(&host.remote, "mine").await.unwrap();
    let redirect = host.server.consent(&authorization.page);
    drop(authorization);
    host.restart();
    let port = redirect.port().unwrap();
    let next = host.oauth.authorize(&host.remote, "mine").await.unwrap();
    assert_eq!(
        next.page
            .query_pairs()
            .find(|it| it.0 == "client_id")
            .unwrap()
            .1,
        "client_1"
    );
    // The answer to the former authorization belongs to none.
    assert_eq!(AuthorizationServer::browse(&redirect).await.0, 400);
    drop(next);
    assert_eq!(host.count("/register"), 1);
    host.connect().await.unwrap();
    assert_eq!(host.count("/register"), 1);
    assert_eq!(port, host.options().callback_port.unwrap());
    host.restart();
    assert_eq!(host.call().await, Ok(200));
}

#[tokio::test]
async fn a_client_that_the_server_forgot_is_registered_again() {
    let host = Host::start().await;
    host.server.change(|it| it.knows_clients = false);
    let refused = host.connect().await.unwrap_err();
    assert!(refused.to_string().contains("does not know this client"));
    host.server.change(|it| it.knows_clients = true);
    host.connect().await.unwrap();
    assert_eq!(host.count("/register"), 2);
}

#[tokio::test]
async fn more_scopes_need_another_consent() {
    let host = Host::start().await;
    host.connect().await.unwrap();
    assert_eq!(host.call().await, Ok(200));
    host.server.change(|it| it.scope = Some("files:write"));
    assert_eq!(host.call().await, Err(TokenError::NeedsAuth));
    host.connect().await.unwrap();
    assert_eq!(host.call().await, Ok(200));
    let value = &host.stored.values()[0];
    assert!(
        value.contains(r#""scopes":["files:write","tools"]"#),
        "{value}"
    );
}

#[tokio::test]
async fn a_credential_of_another_address_is_not_used() {
    let mut host = Host::start().await;
    host.connect().await.unwrap();
    let other = AuthorizationServer::start().await;
    let own = std::mem::replace(&mut host.remote.url, other.url());
    assert_eq!(host.call().await, Err(TokenError::NeedsAuth));
    let value = Secret::new(host.stored.values()[0].as_str());
    assert!(!OAuth::connects(&host.remote, &value));
    host.remote.url = own;
    assert_eq!(host.call().await, Ok(200));
}

#[tokio::test]
async fn tokens_are_not_sent_without_encryption() {
    let mut host = Host::start().await;
    host.remote.url = Url::parse("http://mcp.example/mcp").unwrap();
    let refused = host.oauth.authorize(&host.remote, "mine").await.err();
    assert_eq!(
        refused.unwrap().to_string(),
        "tokens are sent to https addresses only"
    );
}
