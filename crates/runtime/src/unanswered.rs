//! The treatment of permissions and questions without an answer.

use std::time::Duration;

use futures::future::BoxFuture;

use crate::core::Core;

/// Time that permissions and questions wait for an answer, including those of child sessions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Unanswered {
    /// They wait without a limit.
    #[default]
    Wait,
    /// They do not wait: they are refused in the same way as by a rule, and the turn continues.
    Deny,
    /// They wait for this duration; then they are refused in the same way.
    DenyAfter(Duration),
}

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

impl Core {
    /// Completes when a request that is made now has waited long enough.
    pub(crate) fn patience(&self) -> BoxFuture<'static, ()> {
        match self.unanswered {
            Unanswered::Wait => Box::pin(std::future::pending()),
            Unanswered::Deny => Box::pin(std::future::ready(())),
            Unanswered::DenyAfter(wait) => self.timer.after(wait),
        }
    }
}
