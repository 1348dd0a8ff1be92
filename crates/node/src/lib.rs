//! The addon: it carries requests and answers across the border as text and decides nothing.
//!
//! Everything structured crosses as JSON text and is parsed on the other side, in the realm of the
//! caller. Failures are data. Work is queued on the JavaScript thread, in order, and done elsewhere.

#![deny(clippy::undocumented_unsafe_blocks)]
#![cfg_attr(
    test,
    allow(dead_code, reason = "without a JavaScript runtime nothing is exported")
)]

mod attendance;
mod body;
mod host;
mod listener;
mod log;
mod request;

use napi::tokio::runtime::Builder;

/// Threads that run sessions. Waiting is asynchronous, so two serve many sessions.
const WORKERS: usize = 2;
/// Threads at most for what waits on a disk: file tools, opening Locations. They are made when they
/// are needed and go when they rest. Many, because a file on a disk that hangs takes its thread with
/// it, and sessions beside it must go on; the database has threads of its own.
const BLOCKING: usize = 256;

#[napi_derive::module_init]
fn init() {
    opencode_host::report_panics();
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
