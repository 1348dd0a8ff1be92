//! Waiting times.

use std::time::Duration;

use futures::future::BoxFuture;

/// Measures waiting times.
pub trait Timer: Send + Sync {
    /// Completes when this duration has passed since the call.
    fn after(&self, wait: Duration) -> BoxFuture<'static, ()>;
}

/// The timer of the machine. Changes of the wall clock do not affect it.
#[derive(Debug, Default, Clone, Copy)]
pub struct SystemTimer;

impl Timer for SystemTimer {
    fn after(&self, wait: Duration) -> BoxFuture<'static, ()> {
        Box::pin(tokio::time::sleep(wait))
    }
}
