//! One request that is ready to be sent.

use std::time::{Duration, SystemTime};

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue};
use opencode_llm::canonical::authorizer::OutgoingRequest;
use opencode_llm::canonical::error::{
    HttpFailure, LlmError, LlmErrorReason, TransportKind, page_message, place,
};
use opencode_llm::canonical::model::{Auth, ResolvedModel, Timeouts};
use opencode_llm::canonical::request::LlmRequest;
use opencode_net::{HttpClients, root_cause};
use opencode_secrets::Secret;
use opencode_secrets::{Redactor, Secrets};
use reqwest::{Client, Response};
use tokio::time::Instant;
use url::Url;

use crate::protocol::WireRequest;

/// Maximum number of bytes read of an error body. More than a failure keeps, so that redaction sees
/// every kept secret whole.
const MAX_ERROR_BODY: usize = 64 << 10;

/// Maximum time that a service may take for the credential of one request.
const AUTHORIZATION_TIMEOUT: Duration = Duration::from_secs(30);

/// The surroundings of one attempt.
#[derive(Clone, Copy)]
pub(super) struct Exchange<'a> {
    pub(super) clients: &'a HttpClients,
    pub(super) now: SystemTime,
}

/// A request with its address, headers and body.
pub(super) struct Call {
    pub(super) target: Target,
    headers: HeaderMap,
    /// The headers that a service made for this request.
    fresh: Vec<(String, Secret)>,
    body: Bytes,
}

/// The data of a request that is needed while its answer is read. Excludes the body, which can be large.
pub(super) struct Target {
    pub(super) route: String,
    /// Provider and model in the catalogue, as `provider/model`.
    model: String,
    pub(super) url: Url,
    pub(super) redactor: Redactor,
    timeouts: Timeouts,
}

/// A response with an unread body.
pub(super) struct Opened {
    pub(super) response: Response,
    /// The time at which the limit of the whole attempt passes.
    pub(super) deadline: Option<Instant>,
}

impl Call {
    /// Creates a request with its credential. `timeouts` apply if the model has none of its own.
    pub(super) async fn new(
        request: &LlmRequest,
        wire: &WireRequest,
        body: Bytes,
        timeouts: Timeouts,
        exchange: Exchange<'_>,
    ) -> Result<Self, LlmError> {
        let url = address(request, &wire.path)?;
        let mut headers = headers(request, wire)?;
        let fresh = authorize(&request.model, &url, &headers, &body, exchange).await?;
        for (name, secret) in &fresh {
            insert(&mut headers, name, secret.expose())?;
        }
        let mut secrets = secrets(request, &headers, &url);
        for (_, secret) in &fresh {
            secrets.learn_credential(secret.expose());
        }
        let redactor = secrets.of_failures();
        let target = Target {
            route: request.model.route(),
            model: format!("{}/{}", request.model.provider_id, request.model.model_id),
            url,
            redactor,
            timeouts: request.model.timeouts.or(timeouts),
        };
        Ok(Self {
            target,
            headers,
            fresh,
            body,
        })
    }

    /// True if the server refused the credential, and its service may have another one.
    pub(super) fn may_repeat(&self, model: &ResolvedModel, error: &LlmError) -> bool {
        match &model.auth {
            Auth::Service(service) => error.status() == Some(401) && service.refused(&self.fresh),
            Auth::None | Auth::Bearer(_) | Auth::Header { .. } => false,
        }
    }

    /// Sends the request once.
    pub(super) async fn send(&self, client: &Client, now: SystemTime) -> Result<Opened, LlmError> {
        let deadline = from_now(self.target.timeouts.total);
        let first = from_now(self.target.timeouts.header);
        let sending = client
            .post(self.target.url.clone())
            .headers(self.headers.clone())
            .body(self.body.clone())
            .send();
        let response = within(earlier(first, deadline), sending)
            .await
            .ok_or_else(|| self.target.timed_out())?
            .map_err(|error| self.target.transport(&error))?;
        let opened = Opened { response, deadline };
        // Redirects are not followed, so every status from 300 on is a refusal.
        match opened.response.status().as_u16() < 300 {
            true => Ok(opened),
            false => Err(self.refused(opened, now).await),
        }
    }

    async fn refused(&self, mut opened: Opened, now: SystemTime) -> LlmError {
        let (body, body_truncated) = self.error_body(&mut opened).await;
        let status = opened.response.status().as_u16();
        HttpFailure {
            model: &self.target.model,
            method: "POST",
            url: self.target.url.as_str(),
            request_headers: &listed(&self.headers),
            status,
            response_headers: &listed(opened.response.headers()),
            body: &String::from_utf8_lossy(&body),
            body_truncated,
            now,
        }
        .into_error()
        .redacted(&self.target.redactor)
    }

    /// Returns the part of the body that can be read, and true if it is truncated. A body that
    /// breaks off does not change the refusal.
    async fn error_body(&self, opened: &mut Opened) -> (Vec<u8>, bool) {
        let mut body = Vec::new();
        loop {
            match self.target.chunk(opened).await {
                Some(Ok(Some(chunk))) => body.extend_from_slice(&chunk),
                Some(Ok(None)) => return (body, false),
                Some(Err(_)) | None => return (body, true),
            }
            if body.len() > MAX_ERROR_BODY {
                body.truncate(MAX_ERROR_BODY);
                return (body, true);
            }
        }
    }
}

impl Target {
    /// Returns the failure of an answer that is an HTML page.
    pub(super) fn page(&self, status: u16) -> LlmError {
        LlmError::invalid_output(&self.route, page_message(&self.place(), status))
            .redacted(&self.redactor)
    }

    /// Logs the start of an answer.
    pub(super) fn log_answer(&self) {
        let model = &self.model;
        tracing::debug!(model, url = self.shown_url(), "a model server answers");
    }

    /// Logs a request without an answer. The turn logs its consequences.
    pub(super) fn log_refusal(&self, error: &LlmError) {
        let (model, status) = (&self.model, error.status());
        tracing::debug!(model, status, %error, "a request to a model server failed");
    }

    /// Returns the model and its address.
    fn place(&self) -> String {
        place(&self.model, &self.url)
    }

    /// Returns the next piece of the body, or `None` if a time limit passes first.
    pub(super) async fn chunk(
        &self,
        opened: &mut Opened,
    ) -> Option<Result<Option<Bytes>, reqwest::Error>> {
        let limit = earlier(from_now(self.timeouts.chunk), opened.deadline);
        within(limit, opened.response.chunk()).await
    }

    /// Returns the failure of a configured time limit.
    pub(super) fn timed_out(&self) -> LlmError {
        let message = format!("{} did not answer in time", self.place());
        self.broken(TransportKind::Timeout, message)
    }

    /// Returns the failure of a client that cannot be set up.
    pub(super) fn not_set_up(&self, problem: &str) -> LlmError {
        let message = format!("{} cannot be reached: {problem}", self.place());
        self.broken(TransportKind::Connect, message)
    }

    fn transport(&self, error: &reqwest::Error) -> LlmError {
        let kind = if error.is_timeout() {
            TransportKind::Timeout
        } else if error.is_connect() {
            TransportKind::Connect
        } else {
            TransportKind::Exchange
        };
        let (place, cause) = (self.place(), root_cause(error));
        let message = match kind {
            TransportKind::Connect => format!("{place} cannot be reached: {cause}"),
            _ => format!("{place} broke the exchange off before an answer: {cause}"),
        };
        self.broken(kind, message)
    }

    /// Returns the failure of an answer that broke off.
    pub(super) fn cut(&self, error: &reqwest::Error) -> LlmError {
        let (place, cause) = (self.place(), root_cause(error));
        let message = format!("{place} broke its answer off: {cause}");
        LlmError::unfinished(&self.route, message).redacted(&self.redactor)
    }

    fn broken(&self, kind: TransportKind, message: String) -> LlmError {
        LlmError::transport(kind, Some(self.shown_url()), message).redacted(&self.redactor)
    }

    /// Returns the address without secrets.
    pub(super) fn shown_url(&self) -> String {
        self.redactor.url(self.url.as_str())
    }
}

/// Returns the time at which a limit passes. A limit that is too large to represent does not apply.
fn from_now(limit: Option<Duration>) -> Option<Instant> {
    Instant::now().checked_add(limit?)
}

/// Returns the earlier of two optional points in time.
fn earlier(one: Option<Instant>, other: Option<Instant>) -> Option<Instant> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}

/// Returns the result of a future, or `None` if the deadline passes first.
async fn within<T>(deadline: Option<Instant>, future: impl Future<Output = T>) -> Option<T> {
    match deadline {
        Some(deadline) => tokio::time::timeout_at(deadline, future).await.ok(),
        None => Some(future.await),
    }
}

/// Collects the secrets that the request sends to the server.
fn secrets(request: &LlmRequest, headers: &HeaderMap, url: &Url) -> Secrets {
    let mut secrets = Secrets::default();
    for (name, value) in listed(headers) {
        secrets.learn_header(&name, &value);
    }
    match &request.model.auth {
        Auth::None | Auth::Service(_) => {}
        Auth::Bearer(secret) | Auth::Header { secret, .. } => {
            secrets.learn_credential(secret.expose());
        }
    }
    secrets.learn_url(url.as_str());
    secrets.learn_path(url.as_str(), &request.model.model_id);
    secrets.learn_members(&request.effective_overlay());
    secrets
}

fn address(request: &LlmRequest, path: &str) -> Result<Url, LlmError> {
    let model = &request.model;
    let base = model.endpoint.base_url.trim_end_matches('/');
    let url = Url::parse(&format!("{base}{path}"))
        .ok()
        .filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host());
    let Some(mut url) = url else {
        let reason = LlmErrorReason::NoRoute {
            provider: model.provider_id.clone(),
            model: model.model_id.clone(),
        };
        let message = format!(
            "The model {}/{} has no usable base URL",
            model.provider_id, model.model_id
        );
        return Err(LlmError::new(reason, message));
    };
    for (name, value) in model.endpoint.query.iter().chain(&request.http.query) {
        url.query_pairs_mut().append_pair(name, value);
    }
    Ok(url)
}

/// Builds the headers. Later headers replace earlier ones, except lists, which are joined. The
/// credential comes last.
fn headers(request: &LlmRequest, wire: &WireRequest) -> Result<HeaderMap, LlmError> {
    let mut headers = HeaderMap::new();
    headers.insert(
        http::header::CONTENT_TYPE,
        HeaderValue::from_static("application/json"),
    );
    let configured = request.model.headers.iter().chain(&request.http.headers);
    for (name, value) in wire.headers.iter().chain(configured.clone()) {
        insert(&mut headers, name, value)?;
    }
    for (name, value) in &wire.lists {
        let same = |given: &&(String, String)| given.0.eq_ignore_ascii_case(name);
        let given = configured.clone().filter(same).map(|(_, value)| value);
        let values: Vec<&str> = std::iter::once(value)
            .chain(given)
            .map(String::as_str)
            .collect();
        insert(&mut headers, name, &values.join(","))?;
    }
    add_auth(&mut headers, &request.model)?;
    Ok(headers)
}

fn add_auth(headers: &mut HeaderMap, model: &ResolvedModel) -> Result<(), LlmError> {
    match &model.auth {
        Auth::None | Auth::Service(_) => Ok(()),
        Auth::Bearer(secret) => {
            let value = format!("Bearer {}", secret.expose());
            insert(headers, "authorization", &value)
        }
        Auth::Header { name, secret } => insert(headers, name, secret.expose()),
    }
}

/// Returns the headers that a service makes for this request. The service sees all other headers and the body.
async fn authorize(
    model: &ResolvedModel,
    url: &Url,
    headers: &HeaderMap,
    body: &[u8],
    exchange: Exchange<'_>,
) -> Result<Vec<(String, Secret)>, LlmError> {
    let Auth::Service(authorizer) = &model.auth else {
        return Ok(Vec::new());
    };
    let outgoing = OutgoingRequest {
        url,
        headers,
        body,
        now: exchange.now,
        clients: exchange.clients,
    };
    let authorized = within(
        from_now(Some(AUTHORIZATION_TIMEOUT)),
        authorizer.authorize(outgoing),
    );
    authorized.await.unwrap_or_else(|| {
        let place = place(&format!("{}/{}", model.provider_id, model.model_id), url);
        let message = format!("{place} was not asked: its credential was not ready in time");
        let mut secrets = Secrets::default();
        secrets.learn_path(url.as_str(), &model.model_id);
        let redactor = secrets.of_failures();
        let url = Some(redactor.url(url.as_str()));
        Err(LlmError::transport(TransportKind::Timeout, url, message).redacted(&redactor))
    })
}

fn insert(headers: &mut HeaderMap, name: &str, value: &str) -> Result<(), LlmError> {
    // The value may be a secret, so the message contains only the name.
    let refused = || LlmError::invalid_request(format!("The header {name:?} cannot be sent"));
    let name = HeaderName::from_bytes(name.as_bytes()).map_err(|_| refused())?;
    let value = HeaderValue::from_str(value).map_err(|_| refused())?;
    headers.insert(name, value);
    Ok(())
}

fn listed(headers: &HeaderMap) -> Vec<(String, String)> {
    headers
        .iter()
        .map(|(name, value)| {
            let value = String::from_utf8_lossy(value.as_bytes());
            (name.as_str().to_owned(), value.into_owned())
        })
        .collect()
}
