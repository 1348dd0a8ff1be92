//! A router with its own runtime, and its answers.

use axum::Router;
use axum::body::Body;
use axum::http::{HeaderMap, Request, Response};
use http_body_util::BodyExt;
use opencode_schema::id::SessionID;
use opencode_testkit::Fixture;
use serde_json::Value;
use tower::ServiceExt;

use crate::sse::Sse;

/// An open host.
pub(crate) struct Api {
    pub(crate) f: Fixture,
    router: Router,
}

/// An answer whose body is read.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) text: String,
}

impl Answer {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let value = self.headers.get(name)?;
        Some(value.to_str().unwrap())
    }

    /// The body as JSON.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// The body of a success as JSON.
    pub(crate) fn ok(&self) -> Value {
        assert_eq!(self.status, 200, "{self:?}");
        self.json()
    }

    /// Checks that the answer has only a status.
    pub(crate) fn is_bare(&self, status: u16) {
        let bare =
            self.status == status && self.text.is_empty() && self.header("content-type").is_none();
        assert!(bare, "{self:?}");
    }

    /// Status and body in one value.
    pub(crate) fn status_and_json(&self) -> (u16, Value) {
        (self.status, self.json())
    }
}

impl Api {
    pub(crate) async fn open() -> Self {
        Self::on(Fixture::open().await)
    }

    /// The host of this runtime.
    pub(crate) fn on(f: Fixture) -> Self {
        let router = opencode_server::router(f.runtime().clone());
        Self { f, router }
    }

    /// Opens the data that this process would leave behind if it was killed now.
    pub(crate) async fn kill(mut self) -> Self {
        self.f.kill().await;
        Self::on(self.f)
    }

    /// A host with one session.
    pub(crate) async fn with_session() -> (Self, SessionID) {
        let api = Self::open().await;
        let session = api.f.session().await;
        (api, session)
    }

    pub(crate) async fn response(&self, request: Request<Body>) -> Response<Body> {
        let what = format!("{} {}", request.method(), request.uri());
        let answered = self.router.clone().oneshot(request);
        let Ok(response) = self.f.within(&what, answered).await;
        response
    }

    pub(crate) async fn send(&self, request: Request<Body>) -> Answer {
        let (head, body) = self.response(request).await.into_parts();
        let body = self.f.within("the body", body.collect()).await;
        let bytes = body.expect("the body is whole").to_bytes();
        Answer {
            status: head.status.as_u16(),
            headers: head.headers,
            text: String::from_utf8(bytes.to_vec()).unwrap(),
        }
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        self.send(request("GET", path, Body::empty())).await
    }

    /// Posts without a body.
    pub(crate) async fn post(&self, path: &str) -> Answer {
        self.send(request("POST", path, Body::empty())).await
    }

    /// Posts JSON.
    pub(crate) async fn post_json(&self, path: &str, body: &Value) -> Answer {
        self.post_text(path, Some("application/json"), body.to_string())
            .await
    }

    /// Creates a session and returns it.
    pub(crate) async fn create(&self, body: Value) -> Value {
        self.post_json("/api/session", &body).await.ok()["data"].clone()
    }

    /// Puts JSON.
    pub(crate) async fn put_json(&self, path: &str, body: &Value) -> Answer {
        let json = Some("application/json");
        self.send_text("PUT", path, json, body.to_string()).await
    }

    /// Patches with JSON.
    pub(crate) async fn patch_json(&self, path: &str, body: &Value) -> Answer {
        let json = Some("application/json");
        self.send_text("PATCH", path, json, body.to_string()).await
    }

    /// Deletes.
    pub(crate) async fn delete(&self, path: &str) -> Answer {
        self.send(request("DELETE", path, Body::empty())).await
    }

    /// Posts any bytes as any type.
    pub(crate) async fn post_text(
        &self,
        path: &str,
        content_type: Option<&str>,
        body: impl Into<Body>,
    ) -> Answer {
        self.send_text("POST", path, content_type, body).await
    }

    async fn send_text(
        &self,
        method: &str,
        path: &str,
        content_type: Option<&str>,
        body: impl Into<Body>,
    ) -> Answer {
        let mut request = request(method, path, body.into());
        if let Some(content_type) = content_type {
            let value = content_type.parse().unwrap();
            request.headers_mut().insert("content-type", value);
        }
        self.send(request).await
    }

    /// Opens a stream, which must succeed.
    pub(crate) async fn stream(&self, path: &str) -> Sse {
        let response = self.response(request("GET", path, Body::empty())).await;
        assert_eq!(response.status(), 200, "{path}");
        Sse::new(response)
    }
}

pub(crate) fn request(method: &str, path: &str, body: Body) -> Request<Body> {
    let request = Request::builder().method(method).uri(path);
    request.body(body).unwrap()
}
