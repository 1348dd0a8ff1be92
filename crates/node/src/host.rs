//! The host across the border.

use std::collections::HashMap;
use std::convert::Infallible;
use std::sync::Arc;

use axum::body::Body;
use axum::http::{Response, StatusCode, header};
use futures::future::BoxFuture;
use futures::{FutureExt, stream};
use napi::bindgen_prelude::{Buffer, Either, Either3, Env, Function, PromiseRaw};
use napi_derive::napi;
use opencode_host::{
    EMBEDDED, Host, HostOptions, LARGE_BODY, ListenOptions, RegistrationKind, lines_of_large_body,
};
use parking_lot::Mutex;
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio_util::sync::CancellationToken;

use crate::attendance::NativeAttendance;
use crate::body::NativeBody;
use crate::listener::NativeListener;
use crate::log::NativeLog;
use crate::request;

/// Content types of endless answers: events, and the lines of an export.
const STREAMS: [&[u8]; 2] = [b"text/event-stream", b"application/x-ndjson"];

/// Opens a host. The options are complete JSON. If the result is a text, it is a tagged failure as JSON. The callback
/// receives the entries of the log as JSON arrays; without it there is no log.
#[napi(
    catch_unwind,
    ts_args_type = "options: string, logOptions: string, log: ((entries: string) => void) | null",
    ts_return_type = "Promise<string | NativeHost>"
)]
pub fn open<'env>(
    env: &'env Env,
    options: String,
    log_options: String,
    log: Option<Function<'_, String, ()>>,
) -> napi::Result<PromiseRaw<'env, Either<String, NativeHost>>> {
    let options: HostOptions = read(&options)?;
    let log = NativeLog::begin(read(&log_options)?, log)?;
    env.spawn_future(async move {
        Ok(match Host::open_with_log(options, log.log.clone()).await {
            Ok(host) => Either::B(NativeHost {
                host: Arc::new(host),
                log: Arc::new(log),
                calls: Calls::default(),
            }),
            Err(failure) => {
                log.end().await;
                Either::A(text(&failure))
            }
        })
    })
}

fn read<T: DeserializeOwned>(options: &str) -> napi::Result<T> {
    serde_json::from_str(options).map_err(invalid)
}

fn invalid(error: serde_json::Error) -> napi::Error {
    napi::Error::from_reason(format!("invalid options: {error}"))
}

fn kind_named(name: &str) -> napi::Result<RegistrationKind> {
    let kind = RegistrationKind::named(name);
    kind.ok_or_else(|| napi::Error::from_reason(format!("invalid kind: {name}")))
}

fn text(failure: &impl Serialize) -> String {
    serde_json::to_string(failure).expect("a tagged failure is plain data")
}

/// An open host.
#[napi]
pub struct NativeHost {
    host: Arc<Host>,
    log: Arc<NativeLog>,
    /// Pending requests that can be cancelled. Locked for a look-up.
    calls: Calls,
}

type Calls = Arc<Mutex<HashMap<u32, CancellationToken>>>;

/// A complete answer with a binary body.
#[napi(object)]
pub struct NativeBytes {
    /// Status and headers as JSON.
    pub head: String,
    /// The body.
    pub bytes: Buffer,
}

type Answered = Either3<String, NativeBody, NativeBytes>;
type Answer = BoxFuture<'static, napi::Result<Answered>>;

#[napi]
impl NativeHost {
    /// Sends a request: its head as JSON `{method, url, headers}`, its body as text. Requests are admitted in the
    /// order of these calls. A complete answer is its head as JSON `{status, headers}`, a line feed and its body. A
    /// binary body comes as bytes, a streaming answer as a body to pull from. If the head of such a body has `isInLines`,
    /// the body is a large answer: first the answer with an empty `data`, then arrays with its elements. A `call` other
    /// than 0 is a number for cancelling the request.
    #[napi(
        catch_unwind,
        ts_return_type = "Promise<string | NativeBody | NativeBytes>"
    )]
    pub fn request<'env>(
        &self,
        env: &'env Env,
        head: String,
        body: Option<String>,
        call: u32,
    ) -> napi::Result<PromiseRaw<'env, Answered>> {
        let request = request::read(&head, body)?;
        let is_embedded = request.headers().contains_key(EMBEDDED);
        let response = self.host.request(request);
        let pending = (call != 0).then(|| Pending::new(Arc::clone(&self.calls), call));
        let answer: Answer = async move {
            let response = match &pending {
                Some(pending) => pending.cancel.run_until_cancelled(response).await,
                None => Some(response.await),
            };
            match response {
                Some(Ok(response)) => answer(response, is_embedded).await,
                Some(Err(_)) => Err(napi::Error::from_reason("the host is closed")),
                None => Err(napi::Error::from_reason("the request was cancelled")),
            }
        }
        .boxed();
        env.spawn_future(answer)
    }

    /// Cancels a pending request: its promise rejects. Work that must complete, such as an admission, continues.
    /// Ignores unknown calls.
    #[napi(catch_unwind)]
    pub fn cancel(&self, call: u32) {
        let calls = self.calls.lock();
        if let Some(cancel) = calls.get(&call) {
            cancel.cancel();
        }
    }

    /// Returns null if no Session Drain runs, else a promise that resolves when none runs. The promise does not keep
    /// the host alive: dropping the host ends its drains and the promise.
    #[napi(catch_unwind, ts_return_type = "Promise<void> | null")]
    pub fn until_idle<'env>(&self, env: &'env Env) -> napi::Result<Option<PromiseRaw<'env, ()>>> {
        let mut idle = self.host.until_idle().boxed();
        if (&mut idle).now_or_never().is_some() {
            return Ok(None);
        }
        env.spawn_future(idle.map(Ok)).map(Some)
    }

    /// Serves requests on a socket. The options are complete JSON. If the result is a text, it is a tagged failure as
    /// JSON.
    #[napi(catch_unwind, ts_return_type = "Promise<string | NativeListener>")]
    pub fn listen<'env>(
        &self,
        env: &'env Env,
        options: String,
    ) -> napi::Result<PromiseRaw<'env, Either<String, NativeListener>>> {
        let options: ListenOptions = read(&options)?;
        let host = Arc::clone(&self.host);
        env.spawn_future(async move {
            Ok(match host.listen(options).await {
                Ok(listener) => Either::B(NativeListener::new(listener)),
                Err(failure) => Either::A(text(&failure)),
            })
        })
    }

    /// Calls back with each permission request of all sessions, first those that already wait: JSON `{"asked":
    /// request}`, and `{"ended": id}` at its end, until the result is stopped. Does not keep the process alive.
    #[napi(catch_unwind, ts_args_type = "callback: (request: string) => void")]
    pub fn asked_permissions(
        &self,
        callback: Function<'_, String, ()>,
    ) -> napi::Result<NativeAttendance> {
        NativeAttendance::begin(self.host.asked_permissions(), &callback)
    }

    /// Calls back with the questions of all sessions, in the same way.
    #[napi(catch_unwind, ts_args_type = "callback: (request: string) => void")]
    pub fn asked_questions(
        &self,
        callback: Function<'_, String, ()>,
    ) -> napi::Result<NativeAttendance> {
        NativeAttendance::begin(self.host.asked_questions(), &callback)
    }

    /// Calls back with the functions of the program that the host calls, as JSON arrays of notices: `{"call": {id,
    /// function, input}}`, `{"permitted": id}` and `{"ended": id}`, until the result is stopped. Only the first call of
    /// this method receives them. Does not keep the process alive.
    #[napi(catch_unwind, ts_args_type = "callback: (notices: string) => void")]
    pub fn program_calls(
        &self,
        callback: Function<'_, String, ()>,
    ) -> napi::Result<NativeAttendance> {
        NativeAttendance::begin(self.host.program_calls(), &callback)
    }

    /// Sends a message about such a call as JSON: `{"result": value}`, `{"error": {message, stack}}`, `{"progress":
    /// {structured, content}}` or `{"permission": {action, resources, save}}`. Returns false if the call does not wait
    /// any more.
    #[napi(catch_unwind)]
    pub fn answer(&self, call: u32, message: String) -> bool {
        self.host.receive(call, &message)
    }

    /// Registers what a program gives, for the Location of a directory or for all. The kind is `tool`, `contextSource`,
    /// `provider`, `hook` or `environment`, and the definition is JSON. Returns its number, which is unique in its kind,
    /// or a tagged failure as JSON.
    #[napi(catch_unwind)]
    pub fn register(
        &self,
        kind: String,
        definition: String,
        directory: Option<String>,
    ) -> napi::Result<Either<u32, String>> {
        let given = kind_named(&kind)?.read(&definition).map_err(invalid)?;
        Ok(match self.host.register(given, directory) {
            Ok(number) => Either::A(number),
            Err(failure) => Either::B(text(&failure)),
        })
    }

    /// Removes what a program registered. Its running calls continue. Ignores an unknown number.
    #[napi(catch_unwind)]
    pub fn unregister(&self, kind: String, number: u32) -> napi::Result<()> {
        self.host.unregister(kind_named(&kind)?, number);
        Ok(())
    }

    /// Begins the recovery that the options chose. Only the first call has an effect.
    #[napi(catch_unwind)]
    pub fn begin_recovery(&self) {
        self.host.begin_recovery();
    }

    /// Trusts the project of a Location from now on, or no longer. Without a directory it is the default Location. A
    /// text is a tagged failure as JSON.
    #[napi(catch_unwind, ts_return_type = "Promise<string | null>")]
    pub fn trust<'env>(
        &self,
        env: &'env Env,
        directory: Option<String>,
        trusted: bool,
    ) -> napi::Result<PromiseRaw<'env, Option<String>>> {
        let host = Arc::clone(&self.host);
        env.spawn_future(async move {
            let decided = host.trust(directory, trusted).await;
            Ok(decided.err().map(|failure| text(&failure)))
        })
    }

    /// Replaces the budget of the host, given as JSON. A text is a tagged failure as JSON.
    #[napi(catch_unwind)]
    pub fn set_budget(&self, limits: String) -> Option<String> {
        let set = self.host.set_budget(&limits);
        set.err().map(|failure| text(&failure))
    }

    /// Adds a warning about a function of the program to the log. The fields are a JSON object; `sessionID` and
    /// `directory` in it name the subject.
    #[napi(catch_unwind)]
    pub fn warn(&self, message: String, fields: String) {
        self.host.warn(&message, &fields);
    }

    /// Settles running work, ends the streams, closes the database and delivers the rest of the log. A second call is
    /// harmless.
    #[napi(catch_unwind, ts_return_type = "Promise<void>")]
    pub fn close<'env>(&self, env: &'env Env) -> napi::Result<PromiseRaw<'env, ()>> {
        let (host, log) = (Arc::clone(&self.host), Arc::clone(&self.log));
        env.spawn_future(async move {
            host.close().await;
            log.end().await;
            Ok(())
        })
    }
}

/// A request that can be cancelled, as long as it is pending.
struct Pending {
    calls: Calls,
    call: u32,
    cancel: CancellationToken,
}

impl Pending {
    fn new(calls: Calls, call: u32) -> Self {
        let cancel = CancellationToken::new();
        let mut pending = calls.lock();
        pending.insert(call, cancel.clone());
        drop(pending);
        Self {
            calls,
            call,
            cancel,
        }
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        let mut calls = self.calls.lock();
        calls.remove(&self.call);
    }
}

async fn answer(response: Response<Body>, is_embedded: bool) -> napi::Result<Answered> {
    let (parts, body) = response.into_parts();
    let head = |is_in_lines| request::head(&parts, is_in_lines);
    let kind = parts.headers.get(header::CONTENT_TYPE);
    if kind.is_some_and(|kind| STREAMS.contains(&kind.as_bytes())) {
        return Ok(Either3::B(NativeBody::new(head(false), body)));
    }
    let failed = |error: String| napi::Error::from_reason(error);
    let bytes = axum::body::to_bytes(body, usize::MAX)
        .await
        .map_err(|error| failed(error.to_string()))?;
    if is_embedded && parts.status == StatusCode::OK && bytes.len() >= LARGE_BODY {
        let body = bytes.clone();
        let cutting = opencode_log::spawn_blocking(move || lines_of_large_body(&body));
        let lines = cutting.await.map_err(|error| failed(error.to_string()))?;
        if let Some(lines) = lines {
            let lines = stream::iter(lines.into_iter().map(Ok::<_, Infallible>));
            return Ok(Either3::B(NativeBody::new(
                head(true),
                Body::from_stream(lines),
            )));
        }
    }
    Ok(match std::str::from_utf8(&bytes) {
        Ok(body) => Either3::A(format!("{}\n{body}", head(false))),
        Err(_) => Either3::C(NativeBytes {
            head: head(false),
            bytes: Vec::from(bytes).into(),
        }),
    })
}
