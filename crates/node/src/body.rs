//! A streaming answer: pulled piece by piece, each piece whatever is there.

use std::sync::Arc;

use axum::body::Body;
use futures::FutureExt;
use http_body_util::BodyExt;
use napi::bindgen_prelude::{Env, PromiseRaw};
use napi_derive::napi;
use tokio::sync::Mutex;
use tokio_util::sync::CancellationToken;

/// Text of one pull at most, so that one answer never blocks the JavaScript thread for long.
const PULL: usize = 256 * 1024;

/// The body of a streaming answer.
#[napi]
pub struct NativeBody {
    head: String,
    /// One reader at a time; the facade chains its pulls, so nobody waits here in practice.
    state: Arc<Mutex<State>>,
    cancelled: CancellationToken,
}

enum State {
    Open(Body),
    /// It broke; text that came before it has been delivered.
    Broken(String),
    Ended,
}

impl NativeBody {
    pub(crate) fn new(head: String, body: Body) -> Self {
        let state = Arc::new(Mutex::new(State::Open(body)));
        Self {
            head,
            state,
            cancelled: CancellationToken::new(),
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

    /// All the text that is there, waiting for some; null is the clean end. Rejects when the body
    /// breaks.
    #[napi(catch_unwind, ts_return_type = "Promise<string | null>")]
    pub fn next<'env>(&self, env: &'env Env) -> napi::Result<PromiseRaw<'env, Option<String>>> {
        // The pull owns what it needs: a worker that ends takes this object away under it.
        let (state, cancelled) = (Arc::clone(&self.state), self.cancelled.clone());
        env.spawn_future(async move {
            let mut state = state.lock().await;
            tokio::select! {
                biased;
                () = cancelled.cancelled() => {
                    *state = State::Ended;
                    Ok(None)
                }
                pulled = pull(&mut state) => pulled,
            }
        })
    }

    /// Ends the body and frees what feeds it. A pending pull resolves with null.
    #[napi(catch_unwind)]
    pub fn cancel(&self) {
        self.cancelled.cancel();
        // A pending pull holds the lock and frees the body itself.
        if let Ok(mut state) = self.state.try_lock() {
            *state = State::Ended;
        }
    }
}

impl Drop for NativeBody {
    fn drop(&mut self) {
        self.cancelled.cancel();
    }
}

/// Waits for the first piece, then takes what follows without waiting. Pieces are whole events or
/// whole lines, so no character is cut between two pulls.
async fn pull(state: &mut State) -> napi::Result<Option<String>> {
    let mut text = Vec::new();
    while text.len() < PULL {
        let State::Open(body) = state else { break };
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
            Some(Err(error)) => *state = State::Broken(error.to_string()),
            None => *state = State::Ended,
        }
    }
    if !text.is_empty() {
        return Ok(Some(String::from_utf8_lossy(&text).into_owned()));
    }
    match std::mem::replace(state, State::Ended) {
        State::Broken(reason) => Err(napi::Error::from_reason(reason)),
        _ => Ok(None),
    }
}
