//! Synchronisation primitives for shared state.
//!
//! Modules for concurrent use import these from their parent module. Tests compile those modules a
//! second time with primitives that run chosen interleavings.

pub(crate) use std::sync::atomic::AtomicU64;
pub(crate) use std::sync::{Mutex, MutexGuard};

pub(crate) use tokio::sync::Notify;
