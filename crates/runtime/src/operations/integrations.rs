//! Operations on integrations and their credentials.

use std::sync::Arc;

use opencode_location::location::Location;
use opencode_schema::integration::{IntegrationAttempt, IntegrationAttemptStatus, IntegrationInfo};

use crate::error::RuntimeError;
use crate::integrations::ConnectOauth;
use crate::runtime::Runtime;

impl Runtime {
    /// Returns the integrations of a Location.
    pub async fn integrations(
        &self,
        location: &Location,
    ) -> Result<Vec<IntegrationInfo>, RuntimeError> {
        self.integrations.list(location).await
    }

    /// Returns an integration of a Location; `None` if it has no such integration.
    pub async fn integration(
        &self,
        location: &Location,
        id: &str,
    ) -> Result<Option<IntegrationInfo>, RuntimeError> {
        self.integrations.get(location, id).await
    }

    /// Stores a key for an integration. It replaces the former one.
    ///
    /// # Errors
    ///
    /// `Integration` if the integration is unknown or has no such method.
    pub async fn connect_key(
        &self,
        location: &Location,
        id: &str,
        key: &str,
        label: Option<&str>,
    ) -> Result<(), RuntimeError> {
        self.integrations
            .connect_key(location, id, key, label)
            .await
    }

    /// Begins an attempt to connect to an integration in a browser.
    ///
    /// # Errors
    ///
    /// `Integration` if the request cannot succeed, `Unavailable` if the authorization server cannot be used.
    pub async fn connect_oauth(
        &self,
        location: &Location,
        request: ConnectOauth,
    ) -> Result<IntegrationAttempt, RuntimeError> {
        self.integrations.connect_oauth(location, request).await
    }

    /// Returns the state of an attempt. It can be read until one minute after the end of the attempt.
    pub fn integration_attempt(&self, id: &str) -> Result<IntegrationAttemptStatus, RuntimeError> {
        self.integrations.attempt(id)
    }

    /// Completes an attempt with the code of the user, and returns after the credential is stored.
    ///
    /// # Errors
    ///
    /// `Integration` if the attempt is unknown, or does not wait for a code, or if the code is refused.
    pub async fn complete_attempt(
        &self,
        id: &str,
        code: Option<String>,
    ) -> Result<(), RuntimeError> {
        self.integrations.complete(id, code).await
    }

    /// Cancels an attempt. Ignores an unknown id.
    pub fn cancel_attempt(&self, id: &str) {
        self.integrations.cancel(id);
    }

    /// Renames a credential. Ignores an unknown id.
    pub async fn rename_credential(&self, id: String, label: String) -> Result<(), RuntimeError> {
        let integrations = Arc::clone(&self.integrations);
        self.uninterruptible(async move { integrations.rename_credential(id, label).await })
            .await
    }

    /// Removes a credential. Ignores an unknown id.
    pub async fn remove_credential(&self, id: String) -> Result<(), RuntimeError> {
        let integrations = Arc::clone(&self.integrations);
        self.uninterruptible(async move { integrations.remove_credential(id).await })
            .await
    }
}
