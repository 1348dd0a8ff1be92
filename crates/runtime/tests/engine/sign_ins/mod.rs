//! Sign-ins of users at providers, against a scripted authorization server.

mod flows;
mod renewal;

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use futures::FutureExt;
use futures::future::{BoxFuture, join_all};
use http::HeaderMap;
use opencode_llm::error::AuthenticationKind;
use opencode_llm::{Auth, LlmError, LlmErrorReason, OutgoingRequest, ResolvedModel};
use opencode_net::{HttpClients, Proxies};
use opencode_oauth::Redirect;
use opencode_runtime::{ConnectOauth, CredentialValues, ProviderOAuth, RuntimeError};
use opencode_schema::integration::{
    IntegrationAttempt, IntegrationAttemptMode, IntegrationAttemptStatus, IntegrationConnection,
    IntegrationInfo, IntegrationMethod,
};
use opencode_schema::location::LocationRef;
use opencode_schema::model::ModelRef;
use opencode_secrets::Secret;
use opencode_testkit::{AuthorizationServer, Fixture, redirect_port};
use url::Url;

const MINUTE: i64 = 60 * 1000;

/// The timers while the next question of a device flow waits: those of the two sweeps, of the attempt and of the wait.
const TIMERS: usize = 4;

const PROVIDER: &str = "openai";

/// A store of the program that can fail.
#[derive(Clone, Default)]
struct Vault {
    values: Arc<Mutex<HashMap<String, String>>>,
    fails: Arc<AtomicBool>,
}

impl Vault {
    fn answer<T: Send + 'static>(&self, value: T) -> BoxFuture<'static, Result<T, String>> {
        let answer = match self.fails.load(Ordering::Relaxed) {
            true => Err("locked".to_owned()),
            false => Ok(value),
        };
        std::future::ready(answer).boxed()
    }
}

impl CredentialValues for Vault {
    fn get(&self, key: &str) -> BoxFuture<'static, Result<Option<String>, String>> {
        let value = self.values.lock().unwrap().get(key).cloned();
        self.answer(value)
    }

    fn set(&self, key: &str, value: &str) -> BoxFuture<'static, Result<(), String>> {
        if !self.fails.load(Ordering::Relaxed) {
            let mut values = self.values.lock().unwrap();
            values.insert(key.to_owned(), value.to_owned());
        }
        self.answer(())
    }

    fn remove(&self, key: &str) -> BoxFuture<'static, Result<(), String>> {
        self.values.lock().unwrap().remove(key);
        self.answer(())
    }
}

/// The application of the program.
#[derive(Clone)]
struct Application {
    origin: String,
    client_id: String,
    port: u16,
}

impl Application {
    fn oauth(&self) -> ProviderOAuth {
        let url = |path: &str| Url::parse(&format!("{}{path}", self.origin)).unwrap();
        let redirect = format!("http://127.0.0.1:{}/callback", self.port);
        ProviderOAuth {
            client_id: self.client_id.clone(),
            client_secret: None,
            token_url: url("/token"),
            authorization_url: Some(url("/authorize")),
            device_url: Some(url("/device")),
            redirect: Redirect::parse(redirect, "redirectUrl").unwrap(),
            scopes: vec!["models".to_owned()],
            parameters: vec![("audience".to_owned(), "api".to_owned())],
        }
    }
}

struct Host {
    f: Fixture,
    server: AuthorizationServer,
    application: Application,
    vault: Option<Vault>,
}

impl Host {
    async fn open() -> Self {
        Self::with(None).await
    }

    async fn with(vault: Option<Vault>) -> Self {
        let server = AuthorizationServer::start().await;
        let application = Application {
            origin: server.origin().to_owned(),
            client_id: "editor".to_owned(),
            port: redirect_port(),
        };
        let mut host = Self {
            f: Fixture::open().await,
            server,
            application,
            vault,
        };
        host.reopen().await;
        host
    }

    /// Opens a later host with the current settings.
    async fn reopen(&mut self) {
        let (application, vault) = (self.application.clone(), self.vault.clone());
        self.f.change(move |options| {
            options.provider_oauth = BTreeMap::from([(PROVIDER.to_owned(), application.oauth())]);
            let vault = vault.clone();
            options.credentials = vault.map(|it| Arc::new(it) as Arc<dyn CredentialValues>);
        });
        self.f.reopen().await;
    }

    async fn location(&self) -> Arc<opencode_location::location::Location> {
        let place = LocationRef {
            directory: self.f.project.directory(),
            workspace_id: None,
        };
        self.f.runtime().open_location(&place).await.unwrap()
    }

    async fn integration(&self) -> IntegrationInfo {
        let location = self.location().await;
        let found = self.f.runtime().integration(&location, PROVIDER).await;
        found.unwrap().unwrap()
    }

    async fn begin(&self, method: &str) -> Result<IntegrationAttempt, RuntimeError> {
        let request = ConnectOauth {
            integration_id: PROVIDER.to_owned(),
            method_id: method.to_owned(),
            label: Some("mine".to_owned()),
        };
        let location = self.location().await;
        let begun = self.f.runtime().connect_oauth(&location, request);
        self.f.within("the attempt", begun).await
    }

    fn status(&self, attempt: &IntegrationAttempt) -> IntegrationAttemptStatus {
        let status = self.f.runtime().integration_attempt(&attempt.attempt_id);
        status.unwrap()
    }

    /// The status of an attempt once it is not pending.
    async fn end(&self, attempt: &IntegrationAttempt) -> IntegrationAttemptStatus {
        let ended = async {
            loop {
                match self.status(attempt) {
                    IntegrationAttemptStatus::Pending { .. } => tokio::task::yield_now().await,
                    status => return status,
                }
            }
        };
        self.f.within("the end of the attempt", ended).await
    }

    /// Signs in with a browser.
    async fn sign_in(&self) {
        let attempt = self.begin("browser").await.unwrap();
        let page = Url::parse(&attempt.url).unwrap();
        let redirect = self.server.consent(&page);
        assert_eq!(AuthorizationServer::browse(&redirect).await.0, 200);
        let end = self.end(&attempt).await;
        assert!(
            matches!(end, IntegrationAttemptStatus::Complete { .. }),
            "{end:?}"
        );
    }

    /// Lets the time pass until the next question of a device flow, and returns the wait for it in seconds.
    async fn ask(&self) -> i64 {
        let clock = &self.f.clock;
        let (before, mut seconds) = (self.questions(), 0);
        let asked = async {
            while self.questions() == before {
                if clock.waiting() == TIMERS {
                    clock.advance(1000);
                    seconds += 1;
                }
                tokio::task::yield_now().await;
            }
        };
        self.f.within("a question", asked).await;
        seconds
    }

    /// The questions for the tokens of a device code.
    fn questions(&self) -> usize {
        let received = self.server.received("/token").into_iter();
        let of_device = |form: &HashMap<String, String>| form.contains_key("device_code");
        received.filter(|it| of_device(&it.form)).count()
    }

    fn renewals(&self) -> usize {
        let received = self.server.received("/token").into_iter();
        let of_renewal = |form: &HashMap<String, String>| form.contains_key("refresh_token");
        received.filter(|it| of_renewal(&it.form)).count()
    }

    async fn model(&self) -> Option<Arc<ResolvedModel>> {
        let selection = ModelRef {
            provider_id: PROVIDER.to_owned(),
            id: "gpt-4.1-mini".to_owned(),
            variant: None,
        };
        let location = self.location().await;
        let resolved = location.catalogue.resolve(Some(&selection));
        resolved.ok().map(|outcome| outcome.model)
    }

    /// The header with which a request to a model would be sent now.
    async fn header(&self) -> Result<String, LlmError> {
        let model = self.model().await.expect("the model is available");
        let Auth::Service(authorizer) = &model.auth else {
            panic!("{:?}", model.auth);
        };
        let clients = HttpClients::new(None, Proxies::default());
        let request = OutgoingRequest {
            url: &Url::parse("https://api.openai.com/v1/responses").unwrap(),
            headers: &HeaderMap::new(),
            body: b"",
            now: std::time::SystemTime::UNIX_EPOCH,
            clients: &clients,
        };
        let headers = self.f.within("the token", authorizer.authorize(request));
        let [(name, value)] = <[_; 1]>::try_from(headers.await?).unwrap();
        assert_eq!(name, "authorization");
        Ok(value.expose().to_owned())
    }

    fn advance(&self, minutes: i64) {
        self.f.clock.advance(minutes * MINUTE);
    }

    /// Tells the host that the provider refused this header. Returns true if it sends the request again.
    async fn refuses(&self, header: &str) -> bool {
        let model = self.model().await.expect("the model is available");
        let Auth::Service(authorizer) = &model.auth else {
            panic!("{:?}", model.auth);
        };
        let headers = [("authorization".to_owned(), Secret::new(header))];
        authorizer.refused(&headers)
    }
}
