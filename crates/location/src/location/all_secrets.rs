//! The secrets of all Locations of a host.

use opencode_secrets::{Redactor, Secrets};
use parking_lot::Mutex;

/// The secrets of every Location that the host has read. They grow only: a secret that is not configured any more is
/// still one.
#[derive(Debug, Default)]
pub struct AllSecrets(Mutex<Known>);

#[derive(Debug, Default)]
struct Known {
    secrets: Secrets,
    redactor: Redactor,
}

impl AllSecrets {
    /// Adds secrets.
    pub fn learn(&self, secrets: &Secrets) {
        let mut known = self.0.lock();
        if known.secrets.learn_all(secrets) {
            known.redactor = known.secrets.of_texts();
        }
    }

    /// Removes the known secrets from texts.
    pub fn redactor(&self) -> Redactor {
        self.0.lock().redactor.clone()
    }
}
