//! The addon: it carries requests and answers across the border as text and decides nothing.
//!
//! Everything structured crosses as JSON text and is parsed on the other side, in the realm of the
//! caller. Failures are data. Work is queued on the JavaScript thread, in order, and done elsewhere.

#![deny(clippy::undocumented_unsafe_blocks)]
#![cfg_attr(
    test,
    allow(dead_code, reason = "without a JavaScript runtime nothing is exported")
)]

mod body;
mod host;
mod request;

use napi::tokio::runtime::Builder;

/// Threads that run sessions. Waiting is asynchronous, so two serve many sessions; reading files
/// and the database has threads of its own.
const WORKERS: usize = 2;
/// Threads for reading files and the database.
const BLOCKING: usize = 16;

#[napi_derive::module_init]
fn init() {
    let runtime = Builder::new_multi_thread()
        .worker_threads(WORKERS)
        .max_blocking_threads(BLOCKING)
        .thread_name("opencode")
        .enable_all()
        .build();
    // Without ours the binding makes a default one, which works as well.
    if let Ok(runtime) = runtime {
        napi::bindgen_prelude::create_custom_tokio_runtime(runtime);
    }
}
