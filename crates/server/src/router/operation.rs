//! The way of a request: decode, call, encode, the same for every operation.
//!
//! The order of problems is part of the contract: an unknown session, or a Location that cannot be
//! opened, is told before anything that is wrong with the rest of the request. For a request without
//! problems neither is looked up first; its handler finds out by itself, so that nothing is awaited
//! before a prompt is in the writer's queue.

use std::borrow::Cow;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{RawPathParams, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, Response, StatusCode, header};
use axum::response::IntoResponse;
use axum::routing::{MethodFilter, on};
use futures::FutureExt;
use opencode_protocol::decode::Decoder;
use opencode_protocol::failure::Failure;
use opencode_protocol::operation::{Channel, LINES_TYPE, Method, Middleware, Operation, Payload};
use opencode_runtime::Runtime;
use opencode_schema::id::SessionID;
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::router::selector::{Opened, Selector};
use crate::wire::failure::{failure, json, of_session, panicked, refuse};
use crate::wire::lines::Lines;
use crate::wire::peer::admits_page;

/// The header by which the client of the embedding program says so. It grants nothing.
const EMBEDDED: &str = "x-opencode-embedded";

/// The input of a handler.
pub(crate) struct Call<O: Operation> {
    pub(crate) runtime: Runtime,
    pub(crate) params: O::Params,
    pub(crate) query: O::Query,
    pub(crate) payload: O::Payload,
    /// The lines of the body, for operations that take lines.
    pub(crate) lines: Lines,
    /// True if the request carries the headers that its operation declares, and comes from no other page. A page
    /// cannot make
    /// a browser send these headers.
    pub(crate) vouched: bool,
    /// True if the embedding program sends the request with its own client. That client refuses mistakes that the
    /// contract
    /// tolerates.
    pub(crate) is_embedded: bool,
    /// The Location that query or headers select. To most operations that says nothing, so only
    /// those that ask are refused because of it.
    pub(crate) selector: Result<Selector, Failure>,
}

/// The output of a handler: the declared value, nothing, or a stream.
pub(crate) enum Answer<T> {
    Value(T),
    Nothing,
    Raw(Response<Body>),
}

struct Decoders<O: Operation> {
    params: Decoder<O::Params>,
    query: Decoder<O::Query>,
    payload: Decoder<O::Payload>,
}

/// Routes an operation to its handler.
pub(crate) fn route<O, F, R>(handler: F) -> Router<Runtime>
where
    O: Operation + 'static,
    O::Params: DeserializeOwned + JsonSchema + Send + 'static,
    O::Query: DeserializeOwned + JsonSchema + Send + 'static,
    O::Payload: DeserializeOwned + JsonSchema + Send + 'static,
    O::Success: Serialize + Send + 'static,
    F: Fn(Call<O>) -> R + Clone + Send + Sync + 'static,
    R: Future<Output = Result<Answer<O::Success>, Failure>> + Send + 'static,
{
    let decoders = Arc::new(Decoders::<O> {
        params: Decoder::new(Channel::Params),
        query: Decoder::new(Channel::Query),
        payload: Decoder::new(Channel::Payload),
    });
    let serve = move |State(runtime): State<Runtime>, params: RawPathParams, request: Request| {
        let (decoders, handler) = (Arc::clone(&decoders), handler.clone());
        // A bug in one handler must end one request, not the host.
        AssertUnwindSafe(serve::<O, F, R>(
            decoders, handler, runtime, params, request,
        ))
        .catch_unwind()
        .map(|answer| answer.unwrap_or_else(|_| panicked()))
    };
    Router::new().route(O::SPEC.path, on(filter(O::SPEC.method), serve))
}

fn filter(method: Method) -> MethodFilter {
    match method {
        Method::Get => MethodFilter::GET,
        Method::Post => MethodFilter::POST,
        Method::Put => MethodFilter::PUT,
        Method::Patch => MethodFilter::PATCH,
        Method::Delete => MethodFilter::DELETE,
    }
}

async fn serve<O, F, R>(
    decoders: Arc<Decoders<O>>,
    handler: F,
    runtime: Runtime,
    params: RawPathParams,
    request: Request,
) -> Response<Body>
where
    O: Operation,
    O::Params: DeserializeOwned + JsonSchema,
    O::Query: DeserializeOwned + JsonSchema,
    O::Payload: DeserializeOwned + JsonSchema,
    O::Success: Serialize,
    F: Fn(Call<O>) -> R,
    R: Future<Output = Result<Answer<O::Success>, Failure>>,
{
    let (head, body) = request.into_parts();
    let problem = match decode::<O>(&decoders, runtime.clone(), &params, &head, body).await {
        Ok(call) => match handler(call).await {
            Ok(Answer::Value(value)) => return json(StatusCode::OK, &value),
            Ok(Answer::Nothing) => return StatusCode::NO_CONTENT.into_response(),
            Ok(Answer::Raw(response)) => return response,
            Err(failure) => {
                let mut params = params.iter();
                let session = params.find(|(name, _)| *name == "sessionID");
                return refuse(&of_session(failure, session.map(|(_, id)| id)));
            }
        },
        Err(problem) => problem,
    };
    match first_problem::<O>(&runtime, &params, &head).await {
        Some(failure) => refuse(&failure),
        None => problem.into_response(),
    }
}

/// Why a request cannot be read.
enum Problem {
    Refused(Failure),
    ContentType(String),
}

impl From<Failure> for Problem {
    fn from(failure: Failure) -> Self {
        Self::Refused(failure)
    }
}

impl Problem {
    fn into_response(self) -> Response<Body> {
        match self {
            Self::Refused(failure) => refuse(&failure),
            Self::ContentType(given) => {
                let message = format!("Unsupported content-type: {given}");
                (StatusCode::UNSUPPORTED_MEDIA_TYPE, message).into_response()
            }
        }
    }
}

async fn decode<O>(
    decoders: &Decoders<O>,
    runtime: Runtime,
    params: &RawPathParams,
    head: &Parts,
    body: Body,
) -> Result<Call<O>, Problem>
where
    O: Operation,
    O::Params: DeserializeOwned + JsonSchema,
    O::Query: DeserializeOwned + JsonSchema,
    O::Payload: DeserializeOwned + JsonSchema,
{
    let params: Vec<_> = params.iter().collect();
    let params = decoders.params.pairs(&params)?;
    let pairs = query(head);
    let query = decoders.query.pairs(&pairs)?;
    let selector = Selector::of(&pairs, &head.headers);
    let mut lines = Lines::default();
    let text = match O::SPEC.payload {
        Payload::Json(_) => {
            expect_type(&head.headers, "application/json")?;
            read(body).await?
        }
        Payload::Lines => {
            expect_type(&head.headers, LINES_TYPE)?;
            lines = Lines::of(body);
            NO_FIELDS
        }
        // An undeclared body is ignored.
        Payload::None => NO_FIELDS,
    };
    Ok(Call {
        runtime,
        params,
        query,
        payload: decoders.payload.body(&text)?,
        lines,
        vouched: is_vouched(O::SPEC.headers, head),
        is_embedded: head.headers.contains_key(EMBEDDED),
        selector,
    })
}

fn is_vouched(declared: &[(&str, &str)], head: &Parts) -> bool {
    let carries = |(name, value): &(&str, &str)| {
        let given = head.headers.get(*name);
        given.is_some_and(|given| given.as_bytes() == value.as_bytes())
    };
    declared.iter().all(carries) && admits_page(head)
}

const NO_FIELDS: Bytes = Bytes::from_static(b"{}");

async fn read(body: Body) -> Result<Bytes, Failure> {
    axum::body::to_bytes(body, usize::MAX)
        .await
        .map_err(|error| Failure::InvalidRequest {
            message: format!("The body cannot be read: {error}"),
            kind: Some(Channel::Payload),
            field: None,
        })
}

/// Refuses every other content type. None at all counts as the expected one.
fn expect_type(headers: &HeaderMap, expected: &str) -> Result<(), Problem> {
    let Some(given) = headers.get(header::CONTENT_TYPE) else {
        return Ok(());
    };
    let given = String::from_utf8_lossy(given.as_bytes());
    let essence = given.split(';').next().unwrap_or_default().trim();
    if essence.eq_ignore_ascii_case(expected) {
        return Ok(());
    }
    Err(Problem::ContentType(given.into_owned()))
}

/// The names and values of the query.
pub(crate) fn query(head: &Parts) -> Vec<(Cow<'_, str>, Cow<'_, str>)> {
    let text = head.uri.query().unwrap_or_default();
    url::form_urlencoded::parse(text.as_bytes()).collect()
}

/// Returns the problem of the session in the path or of the selected Location. It is reported before all other
/// problems.
async fn first_problem<O: Operation>(
    runtime: &Runtime,
    params: &RawPathParams,
    head: &Parts,
) -> Option<Failure> {
    let middleware = O::SPEC.middleware;
    if middleware.contains(&Middleware::Location) {
        let selector = Selector::of(&query(head), &head.headers);
        return Opened::of(runtime, selector).await.err();
    }
    if !middleware.contains(&Middleware::Session) {
        return None;
    }
    let (_, given) = params.iter().find(|(name, _)| *name == "sessionID")?;
    match SessionID::parse(given) {
        Ok(id) => runtime.session(&id).await.err().map(failure),
        Err(_) => Some(Failure::invalid_field("sessionID", "Invalid session ID")),
    }
}
