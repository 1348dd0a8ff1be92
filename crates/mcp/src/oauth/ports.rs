//! The ports of this module: stored credentials, and changed connections.

use futures::future::BoxFuture;
use opencode_secrets::Secret;

/// A stored credential.
#[derive(Clone, Debug)]
pub struct StoredCredential {
    /// Its id.
    pub id: String,
    /// Its value, in a format that the owner of the credential knows.
    pub value: Secret,
}

/// The reason why credentials cannot be read or stored.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the credentials cannot be accessed: {0}")]
pub struct CredentialError(pub String);

/// Stores the credentials of integrations. A change is durable when its future completes.
pub trait CredentialStore: Send + Sync + 'static {
    /// Returns the credentials of an integration, oldest first.
    fn load<'a>(
        &'a self,
        integration: &'a str,
    ) -> BoxFuture<'a, Result<Vec<StoredCredential>, CredentialError>>;

    /// Stores a new credential and returns its id.
    fn insert<'a>(
        &'a self,
        integration: &'a str,
        label: &'a str,
        value: Secret,
    ) -> BoxFuture<'a, Result<String, CredentialError>>;

    /// Replaces the value of a credential, and its label unless that is `None`. Returns false if the id is unknown: the
    /// credential was removed in the meantime.
    fn update<'a>(
        &'a self,
        id: &'a str,
        label: Option<&'a str>,
        value: Secret,
    ) -> BoxFuture<'a, Result<bool, CredentialError>>;

    /// Removes a credential. An unknown id has no effect.
    fn remove<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<(), CredentialError>>;
}

/// Observes connections.
pub trait Connections: Send + Sync + 'static {
    /// Called after a connection of an integration was made or has ended.
    fn changed(&self, integration: &str);
}
