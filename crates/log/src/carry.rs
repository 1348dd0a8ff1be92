//! Functions that start tasks and threads with the log and the span of the caller. Their entries
//! belong to the same session and Location.
//!
//! The other code of a host must not start tasks or threads: those that `tokio` and the standard
//! library start have no log.

#![expect(
    clippy::disallowed_methods,
    reason = "the one place where tasks and threads are started"
)]

use std::io;
use std::pin::Pin;
use std::thread::{self, JoinHandle as Thread};

use tokio::runtime::Handle;
use tokio::task::JoinHandle;
use tokio_util::task::TaskTracker;
use tracing::Span;
use tracing::dispatcher::{get_default, with_default};
use tracing::instrument::{Instrument as _, WithSubscriber as _};

/// Returns the closure, wrapped to run with the log and the span of the caller on any thread.
pub fn within<T>(work: impl FnOnce() -> T) -> impl FnOnce() -> T {
    let (log, span) = (get_default(Clone::clone), Span::current());
    move || with_default(&log, || span.in_scope(work))
}

/// Returns the future, wrapped to run with the log and the span of the caller. It is boxed, because the code of a task
/// would otherwise stand in the addon once for each of the hundred futures that are started.
fn carried<F>(work: F) -> impl Future<Output = F::Output> + Send + 'static
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    let work: Pin<Box<dyn Future<Output = F::Output> + Send>> = Box::pin(work);
    work.in_current_span().with_current_subscriber()
}

/// Returns the closure as [`within`] does, boxed for the same reason as futures are.
fn carried_closure<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> impl FnOnce() -> T + Send + 'static {
    let work: Box<dyn FnOnce() -> T + Send> = Box::new(work);
    within(work)
}

/// `tokio::spawn` with the log and the span of the caller.
pub fn spawn<F>(work: F) -> JoinHandle<F::Output>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    tokio::spawn(carried(work))
}

/// `Handle::spawn` with the log and the span of the caller.
pub fn spawn_on<F>(runtime: &Handle, work: F) -> JoinHandle<F::Output>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    runtime.spawn(carried(work))
}

/// `TaskTracker::spawn` with the log and the span of the caller.
pub fn spawn_tracked<F>(tasks: &TaskTracker, work: F) -> JoinHandle<F::Output>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    tasks.spawn(carried(work))
}

/// `tokio::task::spawn_blocking` with the log and the span of the caller.
pub fn spawn_blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> JoinHandle<T> {
    tokio::task::spawn_blocking(carried_closure(work))
}

/// `TaskTracker::spawn_blocking` with the log and the span of the caller.
pub fn spawn_blocking_tracked<T: Send + 'static>(
    tasks: &TaskTracker,
    work: impl FnOnce() -> T + Send + 'static,
) -> JoinHandle<T> {
    tasks.spawn_blocking(carried_closure(work))
}

/// `thread::Builder::spawn` with the log and the span of the caller.
///
/// # Errors
///
/// Fails if the operating system cannot create the thread.
pub fn spawn_thread<T: Send + 'static>(
    builder: thread::Builder,
    work: impl FnOnce() -> T + Send + 'static,
) -> io::Result<Thread<T>> {
    builder.spawn(carried_closure(work))
}
