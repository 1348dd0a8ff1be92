//! Kills the child processes of a host if the host dies without a clean shutdown.
//!
//! A [`Guard`] is a `/bin/sh` that reads from a pipe. Only the host holds the other end. When the
//! host dies, the pipe ends and the guard kills one session. The owner of the session owns the
//! guard, and ends the remaining processes before it drops the guard.
//!
//! Processes are started with `posix_spawn`, because forking a large host process takes tens of
//! milliseconds and stops its other threads.
#![cfg(unix)]
#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

mod kept;
mod processes;
mod program;
mod spawn;
#[cfg(test)]
mod tests;
mod watch;

pub use kept::{Exit, Kept, Process, start};
pub use program::program;
pub use spawn::leader;
pub use watch::{Guard, reap};
