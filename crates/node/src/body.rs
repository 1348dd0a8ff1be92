//! A streaming answer. JavaScript pulls it; each pull returns all text that is available.

use std::mem;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use axum::body::Body;
use futures::FutureExt;
use http_body_util::BodyExt;
use napi::JsDeferred;
use napi::bindgen_prelude::{Either, Env, Object, spawn};
use napi_derive::napi;
use parking_lot::Mutex;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

/// Maximum number of bytes of one piece, so that one pull does not block the JavaScript thread for long.
const PIECE: usize = 256 * 1024;

/// The body of a streaming answer.
///
/// From the first pull on, one task reads it, at most one piece ahead. A pull that waits costs only its promise: a
/// single token must not start and wake further tasks.
#[napi]
pub struct NativeBody {
    head: String,
    shared: Arc<Shared>,
}

/// State that the task and the JavaScript thread share.
struct Shared {
    state: Mutex<State>,
    /// Notified when JavaScript took the ready piece.
    taken: Notify,
    cancelled: CancellationToken,
}

enum State {
    /// Before the first pull.
    Untouched(Body),
    /// The task reads, and no pull waits.
    Reading,
    /// A pull waits for the next piece.
    Awaited(Reader),
    /// The next piece is ready for a pull.
    Ready(Piece),
    /// The end was delivered.
    Ended,
}

/// The available text. `None` is the end, an error a break of the body.
type Piece = napi::Result<Option<String>>;
type Resolver = Box<dyn FnOnce(Env) -> Piece + Send>;
type Reader = JsDeferred<Option<String>, Resolver>;

impl NativeBody {
    pub(crate) fn new(head: String, body: Body) -> Self {
        let shared = Shared {
            state: Mutex::new(State::Untouched(body)),
            taken: Notify::new(),
            cancelled: CancellationToken::new(),
        };
        Self {
            head,
            shared: Arc::new(shared),
        }
    }
}

#[napi]
impl NativeBody {
    /// Status and headers as JSON.
    #[napi(getter)]
    pub fn head(&self) -> &str {
        &self.head
    }

    /// Returns the available text, or a promise if there is none yet. Null is the end. Throws or rejects if the body
    /// breaks. The caller must wait for a pull before the next one.
    #[napi(
        catch_unwind,
        ts_return_type = "string | null | Promise<string | null>"
    )]
    pub fn next<'env>(&self, env: &'env Env) -> napi::Result<Either<Option<String>, Object<'env>>> {
        let mut state = self.shared.state.lock();
        match mem::replace(&mut *state, State::Ended) {
            State::Ended => Ok(Either::A(None)),
            State::Ready(piece) => {
                if let Ok(Some(_)) = piece {
                    *state = State::Reading;
                    self.shared.taken.notify_one();
                }
                piece.map(Either::A)
            }
            State::Awaited(reader) => {
                *state = State::Awaited(reader);
                Err(napi::Error::from_reason("a pull waits already"))
            }
            State::Untouched(body) => {
                let (reader, promise) = env.create_deferred()?;
                *state = State::Awaited(reader);
                spawn(read(body, Arc::clone(&self.shared)));
                Ok(Either::B(promise))
            }
            State::Reading => {
                let (reader, promise) = env.create_deferred()?;
                *state = State::Awaited(reader);
                Ok(Either::B(promise))
            }
        }
    }

    /// Ends the body and frees its source. A pending pull resolves with null.
    #[napi(catch_unwind)]
    pub fn cancel(&self) {
        self.shared.cancelled.cancel();
        let state = mem::replace(&mut *self.shared.state.lock(), State::Ended);
        if let State::Awaited(reader) = state {
            settle(reader, Ok(None));
        }
    }
}

impl Drop for NativeBody {
    fn drop(&mut self) {
        self.cancel();
    }
}

impl Shared {
    /// Delivers a piece to a waiting pull, or keeps it for the next one. Returns true if there is room for another
    /// piece.
    fn deliver(&self, piece: Piece) -> bool {
        let is_last = !matches!(piece, Ok(Some(_)));
        let mut state = self.state.lock();
        match mem::replace(&mut *state, State::Ended) {
            State::Awaited(reader) => {
                if !is_last {
                    *state = State::Reading;
                }
                drop(state);
                settle(reader, piece);
                true
            }
            // The body was cancelled, so no pull waits.
            State::Ended => true,
            _ => {
                *state = State::Ready(piece);
                false
            }
        }
    }
}

/// Reads the body until it ends, breaks or is cancelled.
async fn read(body: Body, shared: Arc<Shared>) {
    let reading = AssertUnwindSafe(pump(body, &shared)).catch_unwind();
    if let Some(end) = shared.cancelled.run_until_cancelled(reading).await {
        // A panic of the source breaks the body. Otherwise a pull would wait forever.
        let end = end.unwrap_or_else(|_| {
            Err(napi::Error::from_reason(
                "a bug in opencode-embedded ended the stream",
            ))
        });
        shared.deliver(end.map(|()| None));
    }
}

/// Delivers all pieces. Returns an error if the body breaks.
async fn pump(mut body: Body, shared: &Shared) -> napi::Result<()> {
    loop {
        let (piece, end) = pull(&mut body).await;
        if piece.is_some() && !shared.deliver(Ok(piece)) {
            shared.taken.notified().await;
        }
        if let Some(end) = end {
            return end;
        }
    }
}

/// Waits for the first frame, then takes the available frames without waiting. Frames are whole events or lines, so no
/// character is cut between two pieces.
async fn pull(body: &mut Body) -> (Option<String>, Option<napi::Result<()>>) {
    let mut text = Vec::new();
    let mut end = None;
    while end.is_none() && text.len() < PIECE {
        let frame = if text.is_empty() {
            body.frame().await
        } else {
            match body.frame().now_or_never() {
                Some(frame) => frame,
                None => break,
            }
        };
        match frame {
            Some(Ok(frame)) => text.extend_from_slice(&frame.into_data().unwrap_or_default()),
            Some(Err(error)) => end = Some(Err(napi::Error::from_reason(error.to_string()))),
            None => end = Some(Ok(())),
        }
    }
    let text = (!text.is_empty()).then(|| String::from_utf8_lossy(&text).into_owned());
    (text, end)
}

fn settle(reader: Reader, piece: Piece) {
    match piece {
        Ok(text) => reader.resolve(Box::new(|_| Ok(text))),
        Err(error) => reader.reject(error),
    }
}
