//! Waiting times.

use std::time::{Duration, Instant};

use futures::future::BoxFuture;

/// Measures waiting times.
pub trait Timer: Send + Sync {
    /// Completes when this duration has passed since the call.
    fn after(&self, wait: Duration) -> BoxFuture<'static, ()>;

    /// Returns the present moment. The difference of two moments is the time that passed between them, whatever
    /// happened to the wall clock.
    fn now(&self) -> Instant;
}

/// The timer of the machine. Changes of the wall clock do not affect it.
#[derive(Debug, Default, Clone, Copy)]
pub struct SystemTimer;

impl Timer for SystemTimer {
    fn after(&self, wait: Duration) -> BoxFuture<'static, ()> {
        Box::pin(tokio::time::sleep(wait))
    }

    fn now(&self) -> Instant {
        Instant::now()
    }
}
