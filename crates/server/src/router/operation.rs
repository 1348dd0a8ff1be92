//! The way of a request: decode, call, encode, the same for every operation.
//!
//! The order of problems is part of the contract: an unknown session, or a Location that cannot be opened, is reported
//! before any problem of the rest of the request. A request without problems causes neither look-up: its handler finds
//! out by itself, so that nothing is awaited before a prompt is in the writer's queue.

use std::borrow::Cow;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::extract::Request;
use axum::http::request::Parts;
use axum::http::{HeaderMap, Response, StatusCode, header};
use axum::response::IntoResponse;
use futures::FutureExt;
use futures::future::BoxFuture;
use opencode_protocol::decode::Decoder;
use opencode_protocol::failure::Failure;
use opencode_protocol::operation::{Channel, LINES_TYPE, Method, Middleware, Operation, Payload};
use opencode_runtime::Runtime;
use opencode_schema::id::SessionID;
use serde::de::DeserializeOwned;

use crate::router::answer::{Answer, Answered};
use crate::router::path::Params;
use crate::router::selector::{Opened, Selector};
use crate::wire::failure::{failure, of_session, panicked, refuse};
use crate::wire::lines::Lines;
use crate::wire::peer::{Peer, admits_page};

/// The header with which the client of the embedding program identifies itself. It grants nothing.
pub const EMBEDDED: &str = "x-opencode-embedded";

/// The input of a handler.
pub(crate) struct Call<O: Operation> {
    pub(crate) runtime: Runtime,
    pub(crate) params: O::Params,
    pub(crate) query: O::Query,
    pub(crate) payload: O::Payload,
    /// The lines of the body, for operations that take lines.
    pub(crate) lines: Lines,
    /// True if the request carries the headers that its operation declares, and comes from no other page. A page
    /// cannot make a browser send these headers.
    pub(crate) vouched: bool,
    /// True if the embedding program sends the request with its own client. That client refuses mistakes that the
    /// contract tolerates.
    pub(crate) is_embedded: bool,
    /// True if the embedding program sends the request with its own client in memory. Requests of other clients that the
    /// program forwards do not count.
    pub(crate) is_host: bool,
    /// The Location that query or headers select. Most operations do not use it, so an invalid selection fails only
    /// the operations that do.
    pub(crate) selector: Result<Selector, Failure>,
}

struct Decoders<O: Operation> {
    params: Decoder<O::Params>,
    query: Decoder<O::Query>,
    payload: Decoder<O::Payload>,
}

/// An operation and the code that serves it.
pub(crate) struct Route {
    #[cfg(test)]
    pub(crate) id: &'static str,
    pub(crate) method: Method,
    pub(crate) path: &'static str,
    serve: Box<Serve>,
}

type Serve = dyn Fn(Runtime, Params, Request) -> BoxFuture<'static, Response<Body>> + Send + Sync;

impl Route {
    /// Creates the route of an operation that reads its request itself.
    pub(crate) fn new<O, F, R>(serve: F) -> Self
    where
        O: Operation,
        F: Fn(Runtime, Params, Request) -> R + Send + Sync + 'static,
        R: Future<Output = Response<Body>> + Send + 'static,
    {
        let serve = move |runtime, params, request| {
            let work: BoxFuture<'static, _> = Box::pin(serve(runtime, params, request));
            // A bug in one handler must end one request, not the host.
            AssertUnwindSafe(work)
                .catch_unwind()
                .map(|answer| answer.unwrap_or_else(|_| panicked()))
                .boxed()
        };
        Self {
            #[cfg(test)]
            id: O::SPEC.id,
            method: O::SPEC.method,
            path: O::SPEC.path,
            serve: Box::new(serve),
        }
    }

    pub(crate) fn serve(
        &self,
        runtime: Runtime,
        params: Params,
        request: Request,
    ) -> BoxFuture<'static, Response<Body>> {
        (self.serve)(runtime, params, request)
    }
}

/// Routes an operation to its handler.
pub(crate) fn route<O>(handler: impl Handler<O>) -> Route
where
    O: Operation + 'static,
    O::Params: DeserializeOwned + Send + Sync + 'static,
    O::Query: DeserializeOwned + Send + Sync + 'static,
    O::Payload: DeserializeOwned + Send + Sync + 'static,
{
    let decoders = Arc::new(Decoders::<O> {
        params: Decoder::of_operation(O::SPEC.id, Channel::Params),
        query: Decoder::of_operation(O::SPEC.id, Channel::Query),
        payload: Decoder::of_operation(O::SPEC.id, Channel::Payload),
    });
    Route::new::<O, _, _>(move |runtime, params, request| {
        let (decoders, handler) = (Arc::clone(&decoders), handler.clone());
        async move { serve(&decoders, handler, runtime, params, request).await }
    })
}

/// The function that serves an operation. Its value becomes the declared answer.
pub(crate) trait Handler<O: Operation>: Clone + Send + Sync + 'static {
    type Answer: Answer<O::Success>;

    fn handle(&self, call: Call<O>) -> impl Future<Output = Answered<Self::Answer>> + Send;
}

impl<O, F, R, A> Handler<O> for F
where
    O: Operation,
    F: Fn(Call<O>) -> R + Clone + Send + Sync + 'static,
    R: Future<Output = Answered<A>> + Send,
    A: Answer<O::Success>,
{
    type Answer = A;

    fn handle(&self, call: Call<O>) -> impl Future<Output = Answered<A>> + Send {
        self(call)
    }
}

async fn serve<O>(
    decoders: &Decoders<O>,
    handler: impl Handler<O>,
    runtime: Runtime,
    params: Params,
    request: Request,
) -> Response<Body>
where
    O: Operation,
    O::Params: DeserializeOwned,
    O::Query: DeserializeOwned,
    O::Payload: DeserializeOwned,
{
    let (head, body) = request.into_parts();
    let problem = match decode::<O>(decoders, runtime.clone(), &params, &head, body).await {
        Ok(call) => match handler.handle(call).await {
            Ok(answer) => return answer.into_response(),
            Err(refusal) => return refuse(&of_session(refusal.0, session_of(&params))),
        },
        Err(problem) => problem,
    };
    respond(problem, O::SPEC.middleware, &runtime, &params, &head).await
}

/// Answers a request with a problem. A problem of the session in the path or of the selected Location is reported before
/// all other problems.
async fn respond(
    problem: Problem,
    middleware: &[Middleware],
    runtime: &Runtime,
    params: &Params,
    head: &Parts,
) -> Response<Body> {
    match first_problem(middleware, runtime, params, head).await {
        Some(failure) => refuse(&failure),
        None => problem.into_response(),
    }
}

/// Returns the session in the path of a request, as the client wrote it.
fn session_of(params: &Params) -> Option<&str> {
    let mut params = params.iter();
    let (_, id) = params.find(|(name, _)| *name == "sessionID")?;
    Some(id)
}

/// The reason why a request cannot be read.
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
    params: &Params,
    head: &Parts,
    body: Body,
) -> Result<Call<O>, Problem>
where
    O: Operation,
    O::Params: DeserializeOwned,
    O::Query: DeserializeOwned,
    O::Payload: DeserializeOwned,
{
    let params = decoders.params.pairs(params)?;
    let pairs = query(head);
    let query = decoders.query.pairs(&pairs)?;
    let selector = Selector::of(&pairs, &head.headers);
    let received = match O::SPEC.payload {
        Payload::Json(_) => json(head, body).await?,
        Payload::Lines => lines(head, body)?,
        // An undeclared body is ignored.
        Payload::None => Received::default(),
    };
    Ok(Call {
        runtime,
        params,
        query,
        payload: decoders.payload.body(&received.text)?,
        lines: received.lines,
        vouched: is_vouched(O::SPEC.headers, head),
        is_embedded: head.headers.contains_key(EMBEDDED),
        is_host: head.headers.contains_key(EMBEDDED) && head.extensions.get::<Peer>().is_none(),
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

/// The body of a request: a JSON object, or lines beside an object without fields.
struct Received {
    text: Bytes,
    lines: Lines,
}

impl Default for Received {
    fn default() -> Self {
        Self {
            text: Bytes::from_static(b"{}"),
            lines: Lines::default(),
        }
    }
}

async fn json(head: &Parts, body: Body) -> Result<Received, Problem> {
    expect_type(&head.headers, "application/json")?;
    let read = axum::body::to_bytes(body, usize::MAX).await;
    let text = read.map_err(|error| Failure::InvalidRequest {
        message: format!("The body cannot be read: {error}"),
        kind: Some(Channel::Payload),
        field: None,
    })?;
    Ok(Received {
        text,
        ..Received::default()
    })
}

fn lines(head: &Parts, body: Body) -> Result<Received, Problem> {
    expect_type(&head.headers, LINES_TYPE)?;
    Ok(Received {
        lines: Lines::of(body),
        ..Received::default()
    })
}

/// Refuses every other content type. A request without one counts as having the expected one.
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

/// Returns the names and values of the query.
pub(crate) fn query(head: &Parts) -> Vec<(Cow<'_, str>, Cow<'_, str>)> {
    let text = head.uri.query().unwrap_or_default();
    url::form_urlencoded::parse(text.as_bytes()).collect()
}

/// Returns the problem of the session in the path or of the selected Location.
async fn first_problem(
    middleware: &[Middleware],
    runtime: &Runtime,
    params: &Params,
    head: &Parts,
) -> Option<Failure> {
    if middleware.contains(&Middleware::Location) {
        let selector = Selector::of(&query(head), &head.headers);
        return Opened::of(runtime, selector).await.err();
    }
    if !middleware.contains(&Middleware::Session) {
        return None;
    }
    match SessionID::parse(session_of(params)?) {
        Ok(id) => runtime.session(&id).await.err().map(failure),
        Err(_) => Some(Failure::invalid_field("sessionID", "Invalid session ID")),
    }
}
