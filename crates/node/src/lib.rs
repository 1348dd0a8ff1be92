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

use std::{
    io,
    panic::{self, catch_unwind},
    sync::OnceLock,
};

use napi::tokio::runtime::{Builder, Runtime};
use napi_derive::napi;

/// Threads that run sessions. Waiting is asynchronous, so two serve many sessions.
const WORKERS: usize = 2;
/// Threads at most for what waits on a disk: file tools, opening Locations. They are made when they
/// are needed and go when they rest. Many, because a file on a disk that hangs takes its thread with
/// it, and sessions beside it must go on; the database has threads of its own.
const BLOCKING: usize = 256;

/// Why this process has no runtime: the system gave it no descriptors or no threads.
static NOT_STARTED: OnceLock<String> = OnceLock::new();

/// The system runs this while it loads the library, where a panic would end the process.
#[napi_derive::module_init]
fn init() {
    // Tokio panics where it gets no thread or no descriptor. That is no bug, so nothing reports it.
    panic::set_hook(Box::new(|_| ()));
    let started = catch_unwind(start).unwrap_or_else(|_| {
        Err(io::Error::other(
            "the system gave it no thread or descriptor",
        ))
    });
    opencode_host::report_panics();
    let runtime = started.or_else(|error| {
        let _ = NOT_STARTED.set(error.to_string());
        // The binding ends the process where it cannot make a runtime. This one needs neither a thread
        // nor a descriptor, and runs nothing.
        Builder::new_current_thread().build()
    });
    if let Ok(runtime) = runtime {
        napi::bindgen_prelude::create_custom_tokio_runtime(runtime);
    }
}

fn start() -> io::Result<Runtime> {
    Builder::new_multi_thread()
        .worker_threads(WORKERS)
        .max_blocking_threads(BLOCKING)
        .thread_name("opencode")
        .enable_all()
        .build()
}

/// Why no host can be opened in this process, or null. To be asked before anything else is called.
#[napi(catch_unwind)]
pub fn not_started() -> Option<String> {
    NOT_STARTED.get().cloned()
}
