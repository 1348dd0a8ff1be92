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

use std::io;
use std::panic;
use std::sync::OnceLock;

use napi::tokio::runtime::{Builder, Runtime};
use napi_derive::napi;

/// Threads that run sessions. Waiting is asynchronous, so two serve many sessions.
const WORKERS: usize = 2;
/// Threads at most for what waits on a disk: file tools, opening Locations. They are made when they
/// are needed and go when they rest. Many, because a file on a disk that hangs takes its thread with
/// it, and sessions beside it must go on; the database has threads of its own.
const BLOCKING: usize = 256;

/// Why nothing can run in this process.
static PROBLEM: OnceLock<String> = OnceLock::new();

#[napi_derive::module_init]
fn init() {
    // Some of what the system refuses is a panic there, which the caller learns in another way.
    panic::set_hook(Box::new(|_| {}));
    let made = panic::catch_unwind(make_runtime);
    let made = made.unwrap_or_else(|_| Err(io::Error::other("no descriptor or no thread is left")));
    drop(panic::take_hook());
    opencode_host::report_panics();
    let made = made.or_else(|error| {
        // Without any runtime the binding makes one and ends the process if it cannot. This one needs
        // nothing of the system, and nothing runs in it.
        let _ = PROBLEM.set(error.to_string());
        Builder::new_current_thread().build()
    });
    if let Ok(runtime) = made {
        napi::bindgen_prelude::create_custom_tokio_runtime(runtime);
    }
}

fn make_runtime() -> io::Result<Runtime> {
    Builder::new_multi_thread()
        .worker_threads(WORKERS)
        .max_blocking_threads(BLOCKING)
        .thread_name("opencode")
        .enable_all()
        .build()
}

/// Why no host can be opened in this process; nothing if one can.
#[napi(catch_unwind)]
pub fn problem() -> Option<&'static str> {
    PROBLEM.get().map(String::as_str)
}
