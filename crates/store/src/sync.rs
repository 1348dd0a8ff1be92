//! What threads share state with.
//!
//! The modules made for many of them take these from their parent module, so that tests compile
//! those modules once more on primitives whose interleavings they choose.

pub(crate) use std::sync::atomic::AtomicU64;
pub(crate) use std::sync::{Mutex, MutexGuard};

pub(crate) use tokio::sync::Notify;
