//! The host's trust in the files of a project.

use std::collections::HashMap;
use std::fmt;
use std::pin::pin;
use std::sync::Arc;

use futures::future::{BoxFuture, Either, select};
use parking_lot::Mutex;
use tokio::sync::watch;

use crate::config::{Diagnostic, DiagnosticKind};

/// Maximum number of directories with a stored answer. The host is asked again each time about all others.
const MAX_DECISIONS: usize = 10_000;

/// The host's policy for trusting the files of projects.
#[derive(Clone, Default)]
pub enum Trust {
    /// Projects are never trusted.
    #[default]
    Never,
    /// Projects are always trusted.
    Always,
    /// The host is asked about each Location.
    Asked(Arc<dyn AskTrust>),
}

/// Asks the host about a Location.
pub trait AskTrust: Send + Sync {
    /// Returns true if the host trusts the project of a directory in normal form, or the reason why the
    /// host gave no answer. Applies its own time limit.
    fn ask(&self, directory: &str) -> BoxFuture<'static, Result<bool, String>>;
}

impl fmt::Debug for Trust {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Never => "Never",
            Self::Always => "Always",
            Self::Asked(_) => "Asked",
        })
    }
}

/// A decision about a Location.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Decision {
    /// True if the host trusts the project.
    pub is_trusted: bool,
    /// The reason why the host gave no answer.
    pub diagnostic: Option<Diagnostic>,
}

/// The decisions of the host so far.
pub(crate) struct TrustDecisions {
    trust: Trust,
    /// Keyed by directory in normal form. Locked for a lookup or an insertion.
    decided: Mutex<HashMap<String, bool>>,
    /// Notified after the program has decided without being asked.
    changed: watch::Sender<()>,
}

impl TrustDecisions {
    pub(crate) fn new(trust: Trust) -> Self {
        Self {
            trust,
            decided: Mutex::default(),
            changed: watch::Sender::new(()),
        }
    }

    /// Returns the decision about a directory. Stores the host's answer. If the host gives no answer, the project stays
    /// untrusted and the next call asks again. A call of [`decide`](Self::decide) ends a pending question.
    pub(crate) async fn of(&self, directory: &str) -> Decision {
        if let Some(is_trusted) = self.decided.lock().get(directory) {
            return Decision::made(*is_trusted);
        }
        let asked = match &self.trust {
            Trust::Never => return Decision::made(false),
            Trust::Always => return Decision::made(true),
            Trust::Asked(host) => host.ask(directory),
        };
        match select(asked, pin!(self.decided(directory))).await {
            Either::Left((Ok(is_trusted), _)) => Decision::made(self.note(directory, is_trusted)),
            Either::Left((Err(reason), _)) => Decision::failed(directory, &reason),
            Either::Right((is_trusted, _)) => Decision::made(is_trusted),
        }
    }

    /// Waits until the program has decided about a directory without being asked, and returns the decision.
    async fn decided(&self, directory: &str) -> bool {
        let mut changed = self.changed.subscribe();
        let is_decided = |(): &()| self.decided.lock().contains_key(directory);
        // The sender exists as long as `self`.
        let _ = changed.wait_for(is_decided).await;
        self.decided.lock().get(directory).copied().unwrap_or(false)
    }

    /// Stores a decision that overrides all earlier ones.
    pub(crate) fn decide(&self, directory: &str, is_trusted: bool) {
        self.decided.lock().insert(directory.to_owned(), is_trusted);
        self.changed.send_replace(());
    }

    /// Stores an answer unless another decision was made in the meantime. Returns the decision that applies.
    fn note(&self, directory: &str, is_trusted: bool) -> bool {
        let mut decided = self.decided.lock();
        match decided.get(directory) {
            Some(is_trusted) => *is_trusted,
            None => {
                if decided.len() < MAX_DECISIONS {
                    decided.insert(directory.to_owned(), is_trusted);
                }
                is_trusted
            }
        }
    }
}

impl Decision {
    fn made(is_trusted: bool) -> Self {
        Self {
            is_trusted,
            diagnostic: None,
        }
    }

    fn failed(directory: &str, reason: &str) -> Self {
        let message = format!(
            "The option trust gave no answer for this directory, so the host does not trust the project: {reason}"
        );
        let kind = DiagnosticKind::Ignored;
        Self {
            is_trusted: false,
            diagnostic: Some(Diagnostic::new(directory, kind, message, None)),
        }
    }
}
