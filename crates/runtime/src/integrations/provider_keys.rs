//! The stored keys of providers in use: a new one counts from the next Provider Turn on.

use std::sync::Arc;

use opencode_location::catalogue::{StoredKey, StoredKeys};
use opencode_secrets::Secret;

use super::announcements::Announcements;
use super::credentials::Credentials;
use crate::error::RuntimeError;

/// The stored keys of the providers of a host.
#[derive(Clone)]
pub(super) struct ProviderKeys {
    pub(super) credentials: Arc<Credentials>,
    pub(super) stored: StoredKeys,
    pub(super) announcements: Announcements,
}

impl ProviderKeys {
    /// Stores a credential in the place of the former one of its provider. `key` returns the key for the id of the
    /// credential.
    pub(super) async fn set(
        &self,
        provider: &str,
        label: &str,
        value: Secret,
        key: impl FnOnce(&str) -> StoredKey,
    ) -> Result<(), RuntimeError> {
        let inserted = self.credentials.insert(provider, label, value, true);
        let key = key(&inserted.await?);
        self.stored.set(provider, Some(key));
        self.announcements.connection(provider);
        self.announcements.models();
        Ok(())
    }

    /// Ends the use of the key of a provider.
    pub(super) fn remove(&self, provider: &str) {
        self.stored.set(provider, None);
        self.announcements.models();
    }
}
