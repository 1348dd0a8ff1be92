//! One HTTP exchange with a server: a message, and what its response says about it.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt as _;
use http::header::{ACCEPT, CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use rmcp::model::{ClientJsonRpcMessage, ClientRequest, JsonRpcMessage, RequestId};
use rmcp::transport::streamable_http_client::{
    AuthRequiredError, HttpStatusError, InsufficientScopeError, StreamableHttpError,
    StreamableHttpPostResponse,
};
use sse_stream::{Sse, SseStream};
use tokio::sync::watch;

use super::answer::{self, Read};
use super::bounded_events::bounded;
use super::http::Failure;
use crate::limits::MAX_MESSAGE;
use crate::link::Link;

const SESSION_ID: HeaderName = HeaderName::from_static("mcp-session-id");

/// Maximum length of the body of a failure without a message, in bytes. The rest is not read.
const MAX_FAILURE_BODY: usize = 64 * 1024;

/// Maximum time to wait for the answer to the request for the event stream.
const STREAM_ANSWER: Duration = Duration::from_secs(2);

/// Headers that the transport sets itself.
const RESERVED: [&str; 3] = ["accept", "mcp-session-id", "last-event-id"];

/// A message on its way.
pub(super) struct Exchange<'a> {
    pub(super) http: &'a reqwest::Client,
    pub(super) uri: &'a str,
    pub(super) message: &'a ClientJsonRpcMessage,
    pub(super) session: Option<&'a str>,
    pub(super) headers: &'a HashMap<HeaderName, HeaderValue>,
    /// True if an answer can arrive over the event stream of the session. `None` before the server has answered the
    /// request for the stream.
    pub(super) listens: &'a watch::Sender<Option<bool>>,
    pub(super) link: &'a Arc<Link>,
    /// True if the message is sent again in a new session.
    pub(super) is_repeated: bool,
}

impl Exchange<'_> {
    /// Sends the message.
    ///
    /// # Errors
    ///
    /// Fails if there is no answer to a request, or no acceptance of another message. The failure is that of an expired
    /// session if the server says that it does not know the session.
    pub(super) async fn send(
        &self,
        token: Option<String>,
    ) -> Result<StreamableHttpPostResponse, Failure> {
        let mut request = self.http.post(self.uri);
        request = request.header(ACCEPT, "text/event-stream, application/json");
        if let Some(token) = token {
            request = request.bearer_auth(token);
        }
        for (name, value) in self.headers {
            if RESERVED.contains(&name.as_str()) {
                return Err(StreamableHttpError::ReservedHeaderConflict(
                    name.to_string(),
                ));
            }
            request = request.header(name, value);
        }
        if let Some(session) = self.session {
            request = request.header(SESSION_ID, session);
        }
        let response = request.json(self.message).send().await?;
        if let Some(challenge) = challenge(response.status(), response.headers())? {
            return Err(challenge);
        }
        match self.message {
            JsonRpcMessage::Request(request) => {
                let is_typed = matches!(request.request, ClientRequest::InitializeRequest(_));
                self.answer(response, &request.id, is_typed).await
            }
            _ => self.acceptance(response).await,
        }
    }

    async fn answer(
        &self,
        response: reqwest::Response,
        id: &RequestId,
        is_typed: bool,
    ) -> Result<StreamableHttpPostResponse, Failure> {
        let status = response.status();
        let begun = text_header(response.headers(), &SESSION_ID);
        let kind = text_header(response.headers(), &CONTENT_TYPE).unwrap_or_default();
        let kind = kind
            .split(';')
            .next()
            .unwrap_or_default()
            .trim()
            .to_ascii_lowercase();
        let answered = |message| Ok(StreamableHttpPostResponse::Json(message, begun.clone()));
        if status.is_success() && kind == "text/event-stream" {
            let (id, link) = (id.clone(), Arc::clone(self.link));
            let events = SseStream::from_bytes_stream(bounded(response.bytes_stream()));
            let events =
                events.map(move |event| event.map(|it| correlated(it, &id, is_typed, &link)));
            return Ok(StreamableHttpPostResponse::Sse(events.boxed(), begun));
        }
        if matches!(status, StatusCode::ACCEPTED | StatusCode::NO_CONTENT) {
            return match self.session.is_some() && self.listens().await {
                true => Ok(StreamableHttpPostResponse::Accepted),
                false => answered(answer::failure(
                    "The server accepted the request and sent no answer.",
                    id,
                )),
            };
        }
        let retry_after = text_header(response.headers(), &RETRY_AFTER);
        let is_message = status.is_success() || kind.ends_with("json");
        let body = self.body(response, is_message).await?;
        // A failure can be an event, too.
        let mut lines = body.split(|byte| matches!(byte, b'\n' | b'\r'));
        let event = lines
            .find_map(|line| line.strip_prefix(b"data:"))
            .filter(|_| kind == "text/event-stream");
        let is_refused = matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN);
        match answer::read(event.unwrap_or(&body), id, is_typed) {
            Read::Answer { message, has_id } if !is_refused => {
                // An error with the id can be about another kind of session, which the tool knows.
                let can_forget = !has_id || status == StatusCode::NOT_FOUND;
                let refusal = answer::refusal(&message).filter(|_| can_forget);
                match refusal.is_some_and(|text| self.forgets(status, text)) {
                    true => Err(StreamableHttpError::SessionExpired),
                    false => answered(*message),
                }
            }
            Read::Other if status.is_success() => answered(answer::failure(
                "The server sent no answer to the request.",
                id,
            )),
            _ => Err(self.no_answer(status, &kind, &body, retry_after)),
        }
    }

    /// True if an answer can arrive over the event stream. Both requests can be on their way at once.
    async fn listens(&self) -> bool {
        let mut listens = self.listens.subscribe();
        let known = listens.wait_for(Option::is_some);
        match tokio::time::timeout(STREAM_ANSWER, known).await {
            Ok(Ok(known)) => *known == Some(true),
            // A server may answer the request for the stream only when it has an event.
            Err(_) => true,
            Ok(Err(_)) => false,
        }
    }

    /// Returns the failure of a request whose response is no message.
    fn no_answer(
        &self,
        status: StatusCode,
        kind: &str,
        body: &[u8],
        retry_after: Option<String>,
    ) -> Failure {
        let text = answer::body_text(body);
        // A failure of a server or a gateway can name another kind of session.
        if status.is_client_error() && self.forgets(status, &text) {
            return StreamableHttpError::SessionExpired;
        }
        let described = match (status.is_success(), text.is_empty()) {
            (false, true) if is_temporary(status) => {
                return HttpStatusError::new(status.as_u16(), retry_after).into();
            }
            (false, true) => format!("HTTP {status}"),
            (false, false) => format!("HTTP {status}: {text}"),
            (true, true) => {
                format!("The server sent an empty answer of the content type {kind:?}.")
            }
            (true, false) => {
                format!(
                    "The server sent no answer of the protocol, but the content type {kind:?}: {text}"
                )
            }
        };
        StreamableHttpError::UnexpectedServerResponse(described.into())
    }

    /// Returns the acceptance of a message that has no answer.
    async fn acceptance(
        &self,
        response: reqwest::Response,
    ) -> Result<StreamableHttpPostResponse, Failure> {
        let status = response.status();
        if status.is_success() {
            return Ok(StreamableHttpPostResponse::Accepted);
        }
        let body = self.body(response, false).await?;
        Err(self.no_answer(status, "", &body, None))
    }

    /// Reads the body. Only that of a message may be large.
    async fn body(
        &self,
        response: reqwest::Response,
        is_message: bool,
    ) -> Result<Vec<u8>, Failure> {
        let mut chunks = response.bytes_stream();
        let mut body = Vec::new();
        let limit = if is_message {
            MAX_MESSAGE
        } else {
            MAX_FAILURE_BODY
        };
        while let Some(chunk) = chunks.next().await {
            let chunk = chunk?;
            if body.len() + chunk.len() > limit {
                if is_message {
                    return Err(StreamableHttpError::ResponseBodyTooLarge { max_size: limit });
                }
                body.extend_from_slice(&chunk[..limit - body.len()]);
                break;
            }
            body.extend_from_slice(&chunk);
        }
        Ok(body)
    }

    /// True if the server does not know the session. A message is sent again only once.
    fn forgets(&self, status: StatusCode, text: &str) -> bool {
        let is_forgotten = status == StatusCode::NOT_FOUND || answer::forgets_session(text);
        self.session.is_some() && !self.is_repeated && is_forgotten
    }
}

/// True if another attempt can succeed.
fn is_temporary(status: StatusCode) -> bool {
    status == StatusCode::TOO_MANY_REQUESTS || status.is_server_error()
}

/// Returns the refusal of a token.
fn challenge(status: StatusCode, headers: &HeaderMap) -> Result<Option<Failure>, Failure> {
    let Some(header) = headers.get(WWW_AUTHENTICATE) else {
        return Ok(None);
    };
    if !matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN) {
        return Ok(None);
    }
    let header = header.to_str().map_err(|_| {
        let reason = "invalid www-authenticate header value";
        StreamableHttpError::UnexpectedServerResponse(reason.into())
    })?;
    let header = header.to_owned();
    Ok(Some(if status == StatusCode::UNAUTHORIZED {
        StreamableHttpError::AuthRequired(AuthRequiredError::new(header))
    } else {
        StreamableHttpError::InsufficientScope(InsufficientScopeError::new(header, None))
    }))
}

fn text_header(headers: &HeaderMap, name: &HeaderName) -> Option<String> {
    let value = headers.get(name)?.to_str().ok()?;
    Some(value.to_owned())
}

/// Returns an event that answers the request, or another one that waits, if it is an answer.
fn correlated(event: Sse, id: &RequestId, is_typed: bool, link: &Link) -> Sse {
    changed(event, |data| answer::event(data, id, is_typed, link))
}

/// Returns an event of a stream without a request. It answers a request that waits, if it is an answer.
pub(super) fn streamed(event: Sse, link: &Link) -> Sse {
    changed(event, |data| answer::streamed(data, link))
}

/// Returns the event with the data that the function returns for a message. The rest stays.
fn changed(mut event: Sse, change: impl FnOnce(&str) -> Option<String>) -> Sse {
    if matches!(event.event.as_deref(), None | Some("" | "message"))
        && let Some(data) = &mut event.data
    {
        let text = answer::text_of(data.as_bytes());
        if let Some(changed) = change(&text) {
            *data = changed;
        } else if text != *data {
            *data = text.into_owned();
        }
    }
    event
}
