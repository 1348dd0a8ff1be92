//! Streamable HTTP with the access tokens of a server.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt as _;
use futures::stream::BoxStream;
use http::{HeaderName, HeaderValue};
use rmcp::model::{ClientJsonRpcMessage, ClientRequest, JsonRpcMessage, RequestId};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::{
    SseError, StreamableHttpClient, StreamableHttpClientTransportConfig, StreamableHttpError,
    StreamableHttpPostResponse, StreamableHttpResponseLimits,
};
use tokio::sync::{Mutex, watch};
use tokio::time::Instant;

use super::exchange::{Exchange, streamed};
use crate::config::RemoteServer;
use crate::limits::{MAX_ERROR, MAX_IN_FLIGHT, MAX_MESSAGE, cut};
use crate::link::{End, Link};
use crate::tokens::{Challenge, TokenError, Tokens};

/// The failure of a request.
pub(super) type Failure = StreamableHttpError<reqwest::Error>;

/// An event of a server, by the type of the library.
pub(super) type Events = BoxStream<'static, Result<sse_stream::Sse, SseError>>;

/// Minimum time between the beginnings of two event streams, because a server chooses when they end.
const MIN_STREAM_GAP: Duration = Duration::from_millis(100);

/// Returns the transport of a remote server.
///
/// # Errors
///
/// Fails if a header of the configuration is not a header.
pub(crate) fn transport(
    server: &RemoteServer,
    http: reqwest::Client,
    tokens: Arc<dyn Tokens>,
    link: &Arc<Link>,
) -> Result<StreamableHttpClientTransport<Http>, String> {
    let mut headers = HashMap::new();
    for (name, value) in &server.headers {
        let name = HeaderName::from_bytes(name.as_bytes())
            .map_err(|_| format!("{name:?} is not the name of a header."))?;
        let mut value = HeaderValue::from_str(value)
            .map_err(|_| format!("The value of the header {name} is not valid."))?;
        value.set_sensitive(true);
        headers.insert(name, value);
    }
    let uses_tokens = server.oauth.is_some() && !headers.contains_key(&http::header::AUTHORIZATION);
    let mut config = StreamableHttpClientTransportConfig::with_uri(server.url.as_str());
    config.custom_headers = headers;
    config.max_concurrent_requests = MAX_IN_FLIGHT;
    config.max_sse_event_size = MAX_MESSAGE;
    config.max_json_response_size = MAX_MESSAGE;
    let client = Http(Arc::new(Client {
        http,
        server: server.clone(),
        tokens: uses_tokens.then_some(tokens),
        link: Arc::clone(link),
        begun: Mutex::new(Begun::default()),
        listens: watch::channel(None).0,
    }));
    Ok(StreamableHttpClientTransport::with_client(client, config))
}

/// The HTTP client of one connection.
#[derive(Clone)]
pub(crate) struct Http(Arc<Client>);

struct Client {
    http: reqwest::Client,
    server: RemoteServer,
    /// `None` if the server must not use OAuth, or if the configuration has its own token.
    tokens: Option<Arc<dyn Tokens>>,
    link: Arc<Link>,
    begun: Mutex<Begun>,
    /// True if the server has an event stream, false if not. `None` before it has answered the request for the stream.
    listens: watch::Sender<Option<bool>>,
}

#[derive(Default)]
struct Begun {
    /// The last beginning of an event stream.
    stream: Option<Instant>,
    /// True if the server has a session. Another initialisation begins a new session.
    session: bool,
    /// The requests whose session the server has forgotten. The library sends each once more, in a new session.
    forgotten: HashSet<RequestId>,
}

impl Client {
    /// Sends a request with the current token. If the server refuses the token, sends it once more with
    /// another token.
    async fn send<T, F>(&self, request: impl Fn(Option<String>) -> F) -> Result<T, Failure>
    where
        F: Future<Output = Result<T, Failure>>,
    {
        let Some(tokens) = &self.tokens else {
            return request(None).await.map_err(without_address);
        };
        let token = tokens.access_token(&self.server).await;
        let token = token.map_err(|error| self.no_token(error))?;
        let failure = match request(token.clone()).await {
            Ok(answer) => return Ok(answer),
            Err(failure) => failure,
        };
        let Some(challenge) = challenge(&failure, token) else {
            return Err(without_address(failure));
        };
        let status = challenge.status;
        let token = tokens.refused(&self.server, challenge).await;
        let token = token.map_err(|error| self.no_token(error))?;
        let answer = request(Some(token)).await;
        if let Err(failure) = &answer
            && status == 401
            && challenge_status(failure) == Some(401)
        {
            self.link.finish(End::NeedsAuth);
        }
        answer.map_err(without_address)
    }

    /// Returns the failure of a request without a token. If only the user can get one, ends the connection.
    fn no_token(&self, error: TokenError) -> Failure {
        let message = cut(error.to_string(), MAX_ERROR);
        match error {
            TokenError::NeedsAuth => self.link.finish(End::NeedsAuth),
            TokenError::NeedsClientRegistration(reason) => {
                let reason = cut(reason, MAX_ERROR);
                self.link.finish(End::NeedsClientRegistration(reason));
            }
            TokenError::Failed(_) => {}
        }
        StreamableHttpError::UnexpectedServerResponse(message.into())
    }

    /// Returns when the next event stream may begin.
    async fn wait_for_stream(&self) {
        let now = Instant::now();
        let start = {
            let mut begun = self.begun.lock().await;
            let earliest = begun.stream.map_or(now, |last| last + MIN_STREAM_GAP);
            let start = earliest.max(now);
            begun.stream = Some(start);
            start
        };
        tokio::time::sleep_until(start).await;
    }

    /// Called with each message. Returns true if it is sent again. A new session can have other tools.
    async fn begins(&self, message: &ClientJsonRpcMessage) -> bool {
        let JsonRpcMessage::Request(request) = message else {
            return false;
        };
        let mut begun = self.begun.lock().await;
        if matches!(request.request, ClientRequest::InitializeRequest(_)) {
            self.listens.send_replace(None);
            if std::mem::replace(&mut begun.session, true) {
                self.link.changes.all();
            }
        }
        begun.forgotten.remove(&request.id)
    }

    /// Called if the server does not know the session of a message.
    async fn forgets(&self, message: &ClientJsonRpcMessage) {
        if let JsonRpcMessage::Request(request) = message {
            let mut begun = self.begun.lock().await;
            // A request that is not sent again stays.
            if begun.forgotten.len() >= 2 * MAX_IN_FLIGHT {
                begun.forgotten.clear();
            }
            begun.forgotten.insert(request.id.clone());
        }
    }
}

/// Returns the refusal of a token.
fn challenge(failure: &Failure, token: Option<String>) -> Option<Challenge> {
    let status = challenge_status(failure)?;
    let www_authenticate = match failure {
        StreamableHttpError::AuthRequired(error) => Some(error.www_authenticate_header.clone()),
        StreamableHttpError::InsufficientScope(error) => {
            Some(error.www_authenticate_header.clone())
        }
        _ => None,
    };
    Some(Challenge {
        status,
        www_authenticate,
        token,
    })
}

fn challenge_status(failure: &Failure) -> Option<u16> {
    match failure {
        StreamableHttpError::AuthRequired(_) => Some(401),
        // The library reports each 403 with a challenge in this way.
        StreamableHttpError::InsufficientScope(error) => error
            .www_authenticate_header
            .contains("insufficient_scope")
            .then_some(403),
        // The library has no other sign of a 401 without a challenge. A test covers it.
        StreamableHttpError::UnexpectedServerResponse(text) => {
            text.starts_with("HTTP 401").then_some(401)
        }
        StreamableHttpError::Client(error) => (error.status()?.as_u16() == 401).then_some(401),
        _ => None,
    }
}

/// Removes the address, which can contain secrets, from the failure.
fn without_address(failure: Failure) -> Failure {
    match failure {
        StreamableHttpError::Client(error) => StreamableHttpError::Client(error.without_url()),
        other => other,
    }
}

impl StreamableHttpClient for Http {
    type Error = reqwest::Error;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        token: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<StreamableHttpPostResponse, Failure> {
        let limits = StreamableHttpResponseLimits::default();
        self.post_message_with_response_limits(uri, message, session, token, headers, limits)
            .await
    }

    async fn post_message_with_response_limits(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        _token: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
        _limits: StreamableHttpResponseLimits,
    ) -> Result<StreamableHttpPostResponse, Failure> {
        let is_repeated = self.0.begins(&message).await;
        let exchange = Exchange {
            http: &self.0.http,
            uri: &uri,
            message: &message,
            session: session.as_deref(),
            headers: &headers,
            listens: &self.0.listens,
            link: &self.0.link,
            is_repeated,
        };
        let answer = Box::pin(self.0.send(|token| exchange.send(token))).await;
        if let Err(StreamableHttpError::SessionExpired) = &answer {
            self.0.forgets(&message).await;
        }
        answer
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session: Arc<str>,
        _token: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<(), Failure> {
        let token = match &self.0.tokens {
            Some(tokens) => tokens.access_token(&self.0.server).await.ok().flatten(),
            None => None,
        };
        let http = &self.0.http;
        let deleted = http.delete_session(uri, session, token, headers).await;
        deleted.map_err(without_address)
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        session: Option<Arc<str>>,
        last_event: Option<String>,
        token: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<Events, Failure> {
        self.get_stream_with_max_sse_event_size(
            uri,
            session,
            last_event,
            token,
            headers,
            MAX_MESSAGE,
        )
        .await
    }

    async fn get_stream_with_max_sse_event_size(
        &self,
        uri: Arc<str>,
        session: Option<Arc<str>>,
        last_event: Option<String>,
        _token: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
        limit: usize,
    ) -> Result<Events, Failure> {
        self.0.wait_for_stream().await;
        let is_first = last_event.is_none();
        let request = |token| {
            self.0.http.get_stream_with_max_sse_event_size(
                Arc::clone(&uri),
                session.clone(),
                last_event.clone(),
                token,
                headers.clone(),
                limit,
            )
        };
        let events = Box::pin(self.0.send(request)).await;
        if is_first {
            // The library opens a stream that broke again, so a later refusal does not count.
            self.0.listens.send_if_modified(|listens| {
                let is_new = listens.is_none() || events.is_ok();
                if is_new {
                    *listens = Some(events.is_ok());
                }
                is_new
            });
        }
        let link = Arc::clone(&self.0.link);
        let events = events?.map(move |event| event.map(|it| streamed(it, &link)));
        Ok(events.boxed())
    }
}
