//! The treatment of permissions and questions without an answer.

use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;

use crate::timer::Timer;

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

/// The time that requests to users wait for an answer.
#[derive(Clone)]
pub(crate) struct AnswerTimeout {
    pub(crate) unanswered: Unanswered,
    pub(crate) timer: Arc<dyn Timer>,
}

impl AnswerTimeout {
    /// Completes when a request that is made now has waited long enough.
    pub(crate) fn wait(&self) -> BoxFuture<'static, ()> {
        match self.unanswered {
            Unanswered::Wait => Box::pin(std::future::pending()),
            Unanswered::Deny => Box::pin(std::future::ready(())),
            Unanswered::DenyAfter(wait) => self.timer.after(wait),
        }
    }
}
