//! Requests that JavaScript receives.

use std::sync::Arc;

use futures::{Stream, StreamExt};
use napi::bindgen_prelude::{Function, spawn};
use napi::threadsafe_function::ThreadsafeFunctionCallMode;
use napi_derive::napi;
use tokio_util::sync::CancellationToken;

/// A reader of requests in JavaScript.
#[napi]
pub struct NativeAttendance {
    stopped: CancellationToken,
}

impl NativeAttendance {
    /// Calls back with each text. The callback is weak, so it does not keep the process alive.
    pub(crate) fn begin(
        requests: impl Stream<Item = String> + Send + 'static,
        callback: &Function<'_, String, ()>,
    ) -> napi::Result<Self> {
        let callback = callback.build_threadsafe_function().weak::<true>();
        let callback = Arc::new(callback.build()?);
        let stopped = CancellationToken::new();
        let running = stopped.clone();
        spawn(async move {
            let telling = requests.for_each(|request| {
                callback.call(request, ThreadsafeFunctionCallMode::NonBlocking);
                std::future::ready(())
            });
            running.run_until_cancelled(telling).await;
        });
        Ok(Self { stopped })
    }
}

#[napi]
impl NativeAttendance {
    /// Makes no further callback, except those already under way.
    #[napi(catch_unwind)]
    pub fn stop(&self) {
        self.stopped.cancel();
    }
}

impl Drop for NativeAttendance {
    fn drop(&mut self) {
        self.stopped.cancel();
    }
}
