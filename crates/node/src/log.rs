//! Delivery of the log to JavaScript.

use std::time::Duration;

use napi::bindgen_prelude::{Function, spawn};
use opencode_host::{HostLog, LogBatches, LogOptions};
use tokio_util::sync::CancellationToken;

/// Maximum time that closing waits for the program to receive the last entries.
const TIMEOUT: Duration = Duration::from_secs(5);

/// Delivers the entries of a log to a function, one batch after the other.
pub(crate) struct NativeLog {
    pub(crate) log: HostLog,
    /// Cancelled when the function has received the last batch.
    delivered: CancellationToken,
}

impl NativeLog {
    /// The function receives each batch as a JSON array. It is weak: entries do not keep the process alive.
    pub(crate) fn begin(
        options: LogOptions,
        callback: Option<Function<'_, String, ()>>,
    ) -> napi::Result<Self> {
        let delivered = CancellationToken::new();
        let Some(callback) = callback else {
            let log = HostLog::off();
            delivered.cancel();
            return Ok(Self { log, delivered });
        };
        let callback = callback.build_threadsafe_function().weak::<true>();
        let callback = callback.build()?;
        let (log, batches): (HostLog, LogBatches) = HostLog::new(options);
        let done = delivered.clone().drop_guard();
        spawn(async move {
            while let Some(batch) = batches.next().await {
                // One batch at a time: a slow function fills the queue of the log, which is bounded.
                // It fails where the JavaScript thread has ended.
                if callback.call_async(batch).await.is_err() {
                    break;
                }
            }
            drop(done);
        });
        Ok(Self { log, delivered })
    }

    /// Takes nothing more. Done when the function has had everything, or does not take it.
    pub(crate) async fn end(&self) {
        self.log.end();
        let _ = tokio::time::timeout(TIMEOUT, self.delivered.cancelled()).await;
    }
}
