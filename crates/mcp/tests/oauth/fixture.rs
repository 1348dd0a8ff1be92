//! A host that authorizes itself at the scripted server.

use std::sync::atomic::{AtomicI64, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::FutureExt;
use futures::future::BoxFuture;
use opencode_mcp::oauth::{
    Connections, CredentialError, CredentialStore, OAuth, OAuthServices, StoredCredential,
};
use opencode_mcp::{Challenge, OAuthOptions, RemoteServer, TokenError, Tokens};
use opencode_net::{HttpClients, Proxies};
use opencode_oauth::{AnswerMode, AuthorizationError, Callbacks};
use opencode_schema::clock::{Clock, Millis};
use opencode_secrets::Secret;

use crate::authorization::{AuthorizationServer, redirect_port};

/// Stored credentials: integration, label and the rest.
#[derive(Default)]
pub(crate) struct Stored {
    pub(crate) rows: Mutex<Vec<(String, String, StoredCredential)>>,
    made: AtomicU32,
    pub(crate) fails: Mutex<bool>,
}

impl Stored {
    pub(crate) fn values(&self) -> Vec<String> {
        let rows = self.rows.lock().unwrap();
        let value = |row: &(_, _, StoredCredential)| row.2.value.expose().to_owned();
        rows.iter().map(value).collect()
    }

    fn check(&self) -> Result<(), CredentialError> {
        match *self.fails.lock().unwrap() {
            true => Err(CredentialError("the disk is full".into())),
            false => Ok(()),
        }
    }
}

impl CredentialStore for Stored {
    fn load<'a>(
        &'a self,
        integration: &'a str,
    ) -> BoxFuture<'a, Result<Vec<StoredCredential>, CredentialError>> {
        let rows = self.rows.lock().unwrap();
        let of = rows.iter().filter(|row| row.0 == integration);
        let found = of.map(|row| row.2.clone()).collect();
        async move { Ok(found) }.boxed()
    }

    fn insert<'a>(
        &'a self,
        integration: &'a str,
        label: &'a str,
        value: Secret,
    ) -> BoxFuture<'a, Result<String, CredentialError>> {
        async move {
            self.check()?;
            let id = format!("cred_{}", self.made.fetch_add(1, Ordering::Relaxed));
            let stored = StoredCredential {
                id: id.clone(),
                value,
            };
            let row = (integration.to_owned(), label.to_owned(), stored);
            self.rows.lock().unwrap().push(row);
            Ok(id)
        }
        .boxed()
    }

    fn update<'a>(
        &'a self,
        id: &'a str,
        label: Option<&'a str>,
        value: Secret,
    ) -> BoxFuture<'a, Result<bool, CredentialError>> {
        async move {
            self.check()?;
            let mut rows = self.rows.lock().unwrap();
            let Some(row) = rows.iter_mut().find(|row| row.2.id == id) else {
                return Ok(false);
            };
            row.2.value = value;
            if let Some(label) = label {
                label.clone_into(&mut row.1);
            }
            Ok(true)
        }
        .boxed()
    }

    fn remove<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<(), CredentialError>> {
        self.rows.lock().unwrap().retain(|row| row.2.id != id);
        async { Ok(()) }.boxed()
    }
}

/// A clock that a test advances.
#[derive(Default)]
pub(crate) struct Time(AtomicI64);

impl Time {
    pub(crate) fn advance(&self, seconds: i64) {
        self.0.fetch_add(seconds * 1000, Ordering::Relaxed);
    }
}

impl Clock for Time {
    fn now(&self) -> Millis {
        self.0.load(Ordering::Relaxed)
    }
}

#[derive(Default)]
pub(crate) struct Changes(pub(crate) Mutex<Vec<String>>);

impl Connections for Changes {
    fn changed(&self, integration: &str) {
        self.0.lock().unwrap().push(integration.to_owned());
    }
}

fn client() -> reqwest::Client {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let tls = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(rustls::RootCertStore::empty())
        .with_no_client_auth();
    let builder = reqwest::Client::builder()
        .tls_backend_preconfigured(tls)
        .no_proxy();
    let never = reqwest::redirect::Policy::none();
    builder.redirect(never).build().unwrap()
}

/// A host, its server and the browser of its user.
pub(crate) struct Host {
    pub(crate) server: AuthorizationServer,
    pub(crate) remote: RemoteServer,
    pub(crate) stored: Arc<Stored>,
    pub(crate) time: Arc<Time>,
    pub(crate) changes: Arc<Changes>,
    pub(crate) oauth: OAuth,
    http: reqwest::Client,
}

impl Host {
    pub(crate) async fn start() -> Self {
        let server = AuthorizationServer::start().await;
        let remote = RemoteServer {
            name: "notes".into(),
            url: server.url(),
            headers: Vec::new(),
            oauth: Some(OAuthOptions {
                callback_port: Some(redirect_port()),
                ..OAuthOptions::default()
            }),
        };
        let (stored, time, changes) = (Arc::default(), Arc::default(), Arc::default());
        let oauth = open(&stored, &time, &changes);
        Self {
            server,
            remote,
            stored,
            time,
            changes,
            oauth,
            http: client(),
        }
    }

    /// Continues with the stored data of a host that ended.
    pub(crate) fn restart(&mut self) {
        self.oauth = open(&self.stored, &self.time, &self.changes);
    }

    pub(crate) fn options(&mut self) -> &mut OAuthOptions {
        self.remote.oauth.as_mut().unwrap()
    }

    /// Calls the MCP server the way a transport does, and returns the status. A refused call is repeated once.
    pub(crate) async fn call(&self) -> Result<u16, TokenError> {
        let mut token = self.oauth.access_token(&self.remote).await?;
        for is_last in [false, true] {
            let mut request = self.http.post(self.remote.url.clone());
            if let Some(token) = &token {
                request = request.bearer_auth(token);
            }
            let answer = request.send().await.unwrap();
            let status = answer.status().as_u16();
            if !matches!(status, 401 | 403) || is_last {
                return Ok(status);
            }
            let header = answer.headers().get("www-authenticate");
            let challenge = Challenge {
                status,
                www_authenticate: header.map(|it| it.to_str().unwrap().to_owned()),
                token: token.take(),
            };
            token = Some(self.oauth.refused(&self.remote, challenge).await?);
        }
        unreachable!()
    }

    /// Lets the user give consent in the browser.
    pub(crate) async fn connect(&self) -> Result<(), AuthorizationError> {
        let mut authorization = self.oauth.authorize(&self.remote, "mine").await?;
        assert_eq!(authorization.browser.mode(), AnswerMode::Redirect);
        let redirect = self.server.consent(&authorization.page);
        let (answer, (status, page)) = tokio::join!(
            authorization.browser.answered(),
            AuthorizationServer::browse(&redirect)
        );
        assert_eq!(status, 200, "{page}");
        assert!(!page.contains("secret"), "{page}");
        authorization.exchange.finish(answer).await
    }

    /// Number of requests that a path received.
    pub(crate) fn count(&self, path: &str) -> usize {
        self.server.received(path).len()
    }
}

fn open(stored: &Arc<Stored>, time: &Arc<Time>, changes: &Arc<Changes>) -> OAuth {
    OAuth::new(OAuthServices {
        store: Arc::clone(stored) as Arc<dyn CredentialStore>,
        clients: HttpClients::new(None, Proxies::default()),
        clock: Arc::clone(time) as Arc<dyn Clock>,
        limit: Duration::from_millis(500),
        callbacks: Arc::new(Callbacks::default()),
        connections: Arc::clone(changes) as Arc<dyn Connections>,
    })
}
