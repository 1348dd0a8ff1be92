//! Shared copies of sessions, through a scripted service.

use std::sync::Arc;

use futures::FutureExt;
use futures::future::{BoxFuture, pending};
use opencode_runtime::{RuntimeError, ShareService, ShareSessions};
use opencode_schema::session::SessionInfo;
use opencode_testkit::{Fixture, Gate, Reply};
use parking_lot::Mutex;
use serde_json::json;

/// A service that notes its calls.
#[derive(Clone, Default)]
struct Service {
    calls: Arc<Mutex<Vec<String>>>,
    /// Reached when a publication never answers.
    hangs: Option<Gate>,
}

impl Service {
    fn calls(&self) -> Vec<String> {
        self.calls.lock().clone()
    }

    fn note(&self, call: &str, session: &SessionInfo) {
        let url = session.share.as_ref().map_or("-", |it| &it.url);
        self.calls.lock().push(format!("{call} {url}"));
    }
}

impl ShareSessions for Service {
    fn publish(&self, session: &SessionInfo) -> BoxFuture<'static, Result<String, String>> {
        self.note("publish", session);
        let Some(gate) = self.hangs.clone() else {
            return std::future::ready(Ok("https://copy".into())).boxed();
        };
        async move {
            gate.come();
            pending().await
        }
        .boxed()
    }

    fn remove(&self, session: &SessionInfo) -> BoxFuture<'static, Result<(), String>> {
        self.note("remove", session);
        std::future::ready(Ok(())).boxed()
    }
}

async fn open(service: &Service, is_automatic: bool) -> Fixture {
    let service = service.clone();
    let f = Fixture::with(move |options| {
        options.share = Some(ShareService {
            sessions: Arc::new(service.clone()),
            is_automatic,
        });
    });
    let f = f.await;
    f.model.otherwise(|_| Reply::says("Hello."));
    f
}

#[tokio::test]
async fn new_sessions_are_shared_once_and_after_each_activity() {
    let service = Service::default();
    let f = open(&service, true).await;
    let mut live = f.live();
    let session = f.session().await;
    f.read_until(&mut live, "session.updated").await;
    assert_eq!(f.info(&session).await.share.unwrap().url, "https://copy");
    f.ask(&session, "Hi").await;
    f.runtime().unshare(&session).await.unwrap();
    f.ask(&session, "Again").await;
    // The session exists already, so it is not created again.
    let mut request = f.new_session();
    request.id = Some(session.clone());
    f.create(request).await;
    f.close().await;
    let calls = service.calls();
    assert_eq!(calls[0], "publish -");
    assert!(
        calls[1..].contains(&"remove https://copy".to_owned()),
        "{calls:?}"
    );
    let removed = calls
        .iter()
        .position(|it| it == "remove https://copy")
        .unwrap();
    assert!(
        !calls[removed..].contains(&"publish -".to_owned()),
        "{calls:?}"
    );
}

#[tokio::test]
async fn a_service_that_never_answers_is_given_up() {
    let gate = Gate::new();
    let service = Service {
        hangs: Some(gate.clone()),
        ..Service::default()
    };
    let f = open(&service, false).await;
    let session = f.session().await;
    let runtime = f.runtime().clone();
    let id = session.clone();
    let sharing = tokio::spawn(async move { runtime.share(&id).await });
    f.reached(&gate).await;
    f.clock.advance(60_000);
    let error = f.within("the share", sharing).await.unwrap().unwrap_err();
    assert!(error.to_string().contains("within 60 seconds"), "{error}");
    assert_eq!(f.info(&session).await.share, None);
}

#[tokio::test]
async fn closing_the_host_ends_a_publication() {
    let gate = Gate::new();
    let service = Service {
        hangs: Some(gate.clone()),
        ..Service::default()
    };
    let f = open(&service, true).await;
    f.session().await;
    f.reached(&gate).await;
    f.close().await;
}

#[tokio::test]
async fn the_copy_of_a_removed_session_is_removed() {
    let service = Service::default();
    let f = open(&service, false).await;
    let session = f.session().await;
    let shared = f.runtime().share(&session).await.unwrap();
    f.runtime().unshare_removed(shared.clone());
    f.runtime().unshare_removed(SessionInfo {
        share: None,
        ..shared
    });
    f.idle().await;
    assert_eq!(service.calls(), ["publish -", "remove https://copy"]);
}

#[tokio::test]
async fn a_disabled_location_shares_nothing_but_unshares() {
    let service = Service::default();
    let f = open(&service, true).await;
    let session = f.session().await;
    f.runtime().share(&session).await.unwrap();
    f.project
        .write("opencode.json", &json!({"share": "disabled"}).to_string());
    let location = f.info(&session).await.location;
    f.runtime().reload_location(&location).await.unwrap();
    let refused = f.runtime().share(&session).await.unwrap_err();
    assert!(matches!(refused, RuntimeError::Unavailable { .. }));
    assert_eq!(f.runtime().unshare(&session).await.unwrap().share, None);
}
