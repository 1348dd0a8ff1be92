//! A listener with routes of a test, or with those of a runtime.

use std::time::Duration;

use axum::Router;
use opencode_schema::id::SessionID;
use opencode_server::{Bounds, ListenOptions, Listener, Password};
use opencode_testkit::Fixture;

use crate::client::{Client, Reply, within};

/// Limits that no slow test reaches.
pub(crate) fn patient() -> Bounds {
    let timeout = Duration::from_secs(600);
    Bounds {
        head_timeout: timeout,
        body_timeout: timeout,
        answer_timeout: timeout,
        close_timeout: timeout,
        ping: timeout,
        ..Bounds::default()
    }
}

/// A short limit of the listener, for tests that exceed it.
pub(crate) const SOON: Duration = Duration::from_millis(50);

/// A listener.
pub(crate) struct Server(pub(crate) Listener);

impl Server {
    pub(crate) async fn on(routes: Router, options: ListenOptions, bounds: Bounds) -> Self {
        let bound = within("a listener", Listener::bind(routes, options, bounds)).await;
        Self(bound.unwrap())
    }

    pub(crate) async fn client(&self) -> Client {
        Client::connect(&self.0.url()).await
    }

    /// Sends a request on a new connection.
    pub(crate) async fn ask(&self, method: &str, path: &str, headers: &str, body: &str) -> Reply {
        self.client().await.ask(method, path, headers, body).await
    }
}

/// A runtime, and a listener on all of its routes.
pub(crate) struct Served {
    pub(crate) f: Fixture,
    pub(crate) server: Server,
}

impl Served {
    pub(crate) async fn open(options: ListenOptions) -> Self {
        Self::with(options, patient()).await
    }

    pub(crate) async fn with(options: ListenOptions, bounds: Bounds) -> Self {
        let f = Fixture::open().await;
        let routes = opencode_server::router(f.runtime().clone());
        let server = Server::on(routes, options, bounds).await;
        Self { f, server }
    }

    /// A served runtime with one session.
    pub(crate) async fn with_session(options: ListenOptions) -> (Self, SessionID) {
        let served = Self::open(options).await;
        let session = served.f.session().await;
        (served, session)
    }
}

/// Options with a password.
pub(crate) fn locked() -> ListenOptions {
    ListenOptions {
        password: Password::Given("s3cret".into()),
        ..ListenOptions::default()
    }
}

/// Options without a password.
pub(crate) fn unlocked() -> ListenOptions {
    ListenOptions {
        password: Password::Off,
        ..ListenOptions::default()
    }
}

/// The header with that password, for the name `opencode`.
pub(crate) const KEY: &str = "authorization: Basic b3BlbmNvZGU6czNjcmV0\r\n";
/// A body that is JSON.
pub(crate) const JSON: &str = "content-type: application/json\r\n";
