//! What tasks and threads share state with.
//!
//! The modules made for many of them take these from their parent module, so that tests compile
//! those modules once more on primitives whose interleavings they choose.

pub(crate) use std::sync::{Mutex, MutexGuard, RwLock, RwLockWriteGuard};

pub(crate) use opencode_log::spawn;
pub(crate) use tokio::sync::Notify;
