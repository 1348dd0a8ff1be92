//! Whether a host trusts the files of a project.

use std::collections::HashMap;
use std::fmt;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures::future::{BoxFuture, Either, select};
use tokio::sync::watch;

use crate::config::{Diagnostic, DiagnosticKind};

/// Most directories whose answer is kept. The host is asked about others each time.
const MAX_DECISIONS: usize = 10_000;

/// How a host decides whether the files of a project count.
#[derive(Clone, Default)]
pub enum Trust {
    /// They never do.
    #[default]
    Never,
    /// They always do.
    Always,
    /// The host is asked about each Location.
    Asked(Arc<dyn AskTrust>),
}

/// Asks the host about a Location.
pub trait AskTrust: Send + Sync {
    /// Whether the host trusts the project of a directory in normal form, or why it did not say.
    /// Ends within a time limit of its own.
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
    /// Whether the host trusts the project.
    pub is_trusted: bool,
    /// Why the host could not decide.
    pub diagnostic: Option<Diagnostic>,
}

/// What a host decided so far.
pub(crate) struct TrustDecisions {
    trust: Trust,
    /// By directory in normal form. Locked for a lookup or an insertion.
    decided: Mutex<HashMap<String, bool>>,
    /// Changes after the program has decided on its own.
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

    /// The decision about a directory. An answer is kept; a host that gives none is asked again the
    /// next time, and does not trust the project until then. [`decide`](Self::decide) ends the question.
    pub(crate) async fn of(&self, directory: &str) -> Decision {
        if let Some(is_trusted) = self.lock().get(directory) {
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

    /// The decision about a directory, as soon as the program has made one on its own.
    async fn decided(&self, directory: &str) -> bool {
        let mut changed = self.changed.subscribe();
        let is_decided = |(): &()| self.lock().contains_key(directory);
        // The sender lives as long as this.
        let _ = changed.wait_for(is_decided).await;
        self.lock().get(directory).copied().unwrap_or(false)
    }

    /// Holds over every decision before.
    pub(crate) fn decide(&self, directory: &str, is_trusted: bool) {
        self.lock().insert(directory.to_owned(), is_trusted);
        self.changed.send_replace(());
    }

    /// Keeps an answer unless another decision was made meanwhile, and gives the one that holds.
    fn note(&self, directory: &str, is_trusted: bool) -> bool {
        let mut decided = self.lock();
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

    fn lock(&self) -> MutexGuard<'_, HashMap<String, bool>> {
        self.decided.lock().unwrap_or_else(PoisonError::into_inner)
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
