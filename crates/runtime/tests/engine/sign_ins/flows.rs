//! The ways to sign in, and stored sign-ins.

use super::*;

#[tokio::test]
async fn a_user_signs_in_with_a_browser_and_stays_signed_in() {
    let mut host = Host::open().await;
    let found = host.integration().await;
    let ids = found.methods.iter().filter_map(|method| match method {
        IntegrationMethod::Oauth { id, .. } => Some(id.as_str()),
        _ => None,
    });
    assert_eq!(ids.collect::<Vec<_>>(), ["browser", "device"]);
    assert_eq!(found.connections, []);
    assert!(host.model().await.is_none());

    host.sign_in().await;
    let [IntegrationConnection::Credential { label, .. }] =
        &host.integration().await.connections[..]
    else {
        panic!("no connection");
    };
    assert_eq!(label, "mine");
    let form = &host.server.received("/token")[0].form;
    assert_eq!(form["client_id"], "editor");
    assert_eq!(host.header().await.unwrap(), "Bearer access_secret_2");
    host.reopen().await;
    assert_eq!(host.header().await.unwrap(), "Bearer access_secret_2");
    // A sign-in does not keep a dropped host.
    host.f.drop_and_reopen().await;
    assert_eq!(host.header().await.unwrap(), "Bearer access_secret_2");
    assert_eq!(host.server.received("/token").len(), 1);
}

#[tokio::test]
async fn the_page_of_the_browser_has_the_parameters_of_the_program() {
    let host = Host::open().await;
    let attempt = host.begin("browser").await.unwrap();
    assert_eq!(attempt.mode, IntegrationAttemptMode::Auto);
    let page = Url::parse(&attempt.url).unwrap();
    let query: HashMap<_, _> = page.query_pairs().into_owned().collect();
    for (name, value) in [
        ("audience", "api"),
        ("scope", "models"),
        ("client_id", "editor"),
    ] {
        assert_eq!(query[name], value);
    }
    assert!(!query.contains_key("resource"));
}

#[tokio::test]
async fn a_user_signs_in_with_a_code_on_any_device() {
    let host = Host::open().await;
    host.server.change(|it| {
        it.polls = vec![(400, "authorization_pending"), (400, "slow_down")];
    });
    let attempt = host.begin("device").await.unwrap();
    assert_eq!(attempt.mode, IntegrationAttemptMode::Auto);
    assert!(attempt.url.ends_with("/enter?code=WDJB-MJHT"));
    let instructions = "Open the page and enter the code WDJB-MJHT there.";
    assert_eq!(attempt.instructions, instructions);
    let life = attempt.time.expires - attempt.time.created;
    assert_eq!(life, 15 * MINUTE);
    let runtime = host.f.runtime();
    let refused = runtime.complete_attempt(&attempt.attempt_id, None).await;
    assert!(matches!(refused, Err(RuntimeError::Integration { .. })));
    for wait in [5, 5, 10] {
        assert_eq!(host.ask().await, wait);
    }
    let end = host.end(&attempt).await;
    assert!(matches!(end, IntegrationAttemptStatus::Complete { .. }));
    assert_eq!(host.header().await.unwrap(), "Bearer access_secret_1");
}

#[tokio::test]
async fn a_code_that_no_user_enters_expires() {
    let host = Host::open().await;
    host.server.change(|it| {
        it.polls = vec![(400, "authorization_pending"); 500];
    });
    let attempt = host.begin("device").await.unwrap();
    host.ask().await;
    host.advance(15);
    let end = host.end(&attempt).await;
    assert!(
        matches!(end, IntegrationAttemptStatus::Expired { .. }),
        "{end:?}"
    );
    assert_eq!(host.integration().await.connections, []);
}

#[tokio::test]
async fn a_refusal_of_the_user_fails_the_attempt() {
    let host = Host::open().await;
    host.server
        .change(|it| it.polls = vec![(400, "access_denied")]);
    let attempt = host.begin("device").await.unwrap();
    host.ask().await;
    let IntegrationAttemptStatus::Failed { message, .. } = host.end(&attempt).await else {
        panic!("not failed");
    };
    assert_eq!(message, "the authorization was refused: access_denied");
}

#[tokio::test]
async fn an_unknown_method_is_refused() {
    let host = Host::open().await;
    let error = host.begin("oauth").await.unwrap_err();
    let message = "The integration openai has no method oauth";
    assert_eq!(error.to_string(), message);
}

#[tokio::test]
async fn a_sign_in_counts_only_for_its_application() {
    let mut host = Host::open().await;
    host.sign_in().await;
    let former = std::mem::replace(&mut host.application.client_id, "other".to_owned());
    host.reopen().await;
    assert!(host.model().await.is_none());
    // The user sees it and can remove it.
    assert_eq!(host.integration().await.connections.len(), 1);
    host.application.client_id = former;
    host.reopen().await;
    assert!(host.model().await.is_some());
    let [IntegrationConnection::Credential { id, .. }] = &host.integration().await.connections[..]
    else {
        panic!("no connection");
    };
    let removed = host.f.runtime().remove_credential(id.clone());
    removed.await.unwrap();
    assert!(host.model().await.is_none());
    assert_eq!(host.integration().await.connections, []);
}

#[tokio::test]
async fn a_key_replaces_a_sign_in() {
    let host = Host::open().await;
    host.sign_in().await;
    let location = host.location().await;
    let stored = host
        .f
        .runtime()
        .connect_key(&location, PROVIDER, "sk-mine", None);
    stored.await.unwrap();
    let model = host.model().await.unwrap();
    assert!(matches!(&model.auth, Auth::Bearer(key) if key.expose() == "sk-mine"));
    assert_eq!(host.integration().await.connections.len(), 1);
}
