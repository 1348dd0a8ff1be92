//! The addon: it sends requests and answers across the border as text, and makes no decisions.
//!
//! Structured values cross as JSON text, so that each side creates its own values: those of JavaScript belong to the
//! realm of the caller. Failures are data. The JavaScript thread only queues work, in order; other threads do it.

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

/// Number of threads that run sessions. All waits are asynchronous, so two threads serve many sessions.
const WORKERS: usize = 2;
/// Maximum number of threads for work that blocks on a disk: file tools, opening Locations. The runtime starts them on
/// demand and ends idle ones. The number is large because an access to a disk that does not answer blocks its thread,
/// and other sessions must continue. The database has its own threads.
const BLOCKING: usize = 256;

/// The reason that this process has no runtime, such as a lack of descriptors or threads.
static NOT_STARTED: OnceLock<String> = OnceLock::new();

/// The system calls this function while it loads the library. A panic here would end the process.
#[napi_derive::module_init]
fn init() {
    // Tokio panics if the system refuses a thread or a descriptor. This is not a bug, so it is not reported.
    panic::set_hook(Box::new(|_| ()));
    let started = catch_unwind(start).unwrap_or_else(|_| {
        Err(io::Error::other(
            "the system gave it no thread or descriptor",
        ))
    });
    opencode_host::report_panics();
    let runtime = started.or_else(|error| {
        let _ = NOT_STARTED.set(error.to_string());
        // napi ends the process if it cannot create a runtime. This runtime needs no thread and no descriptor, and runs
        // nothing.
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

/// Returns the reason that no host can be opened in this process, or null. Callers check it before any other call.
#[napi(catch_unwind)]
pub fn not_started() -> Option<String> {
    NOT_STARTED.get().cloned()
}
