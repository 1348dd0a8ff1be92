//! Primitives for state that tasks and threads share.
//!
//! Modules with such state import them from their parent module. So tests can compile those modules a second time with
//! primitives whose interleavings the tests choose.

pub(crate) use std::sync::{Mutex, MutexGuard, RwLock, RwLockWriteGuard};

pub(crate) use opencode_log::spawn;
pub(crate) use tokio::sync::Notify;
