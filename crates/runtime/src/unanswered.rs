//! What becomes of permissions and questions that nobody answers.

use std::time::Duration;

use futures::future::BoxFuture;

use crate::core::Core;

/// How long permissions and questions wait for an answer, those of child sessions included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Unanswered {
    /// Until there is one.
    #[default]
    Wait,
    /// Not at all: they are refused as a rule would refuse them, and the turn goes on.
    Deny,
    /// So long; then they are refused in the same way.
    DenyAfter(Duration),
}

/// What measures how long something waits.
pub trait Timer: Send + Sync {
    /// Done when that time has passed since this was called.
    fn after(&self, wait: Duration) -> BoxFuture<'static, ()>;
}

/// The timer of the machine. It does not care about changes of the wall clock.
#[derive(Debug, Default, Clone, Copy)]
pub struct SystemTimer;

impl Timer for SystemTimer {
    fn after(&self, wait: Duration) -> BoxFuture<'static, ()> {
        Box::pin(tokio::time::sleep(wait))
    }
}

impl Core {
    /// Done when what is asked now has waited long enough.
    pub(crate) fn patience(&self) -> BoxFuture<'static, ()> {
        match self.unanswered {
            Unanswered::Wait => Box::pin(std::future::pending()),
            Unanswered::Deny => Box::pin(std::future::ready(())),
            Unanswered::DenyAfter(wait) => self.timer.after(wait),
        }
    }
}
