//! The sign-in of a user at a provider.

use std::fmt;
use std::sync::Arc;

use futures::future::BoxFuture;
use opencode_llm::LlmError;
use opencode_secrets::Secret;

/// Supplies the access token of a user at a provider.
pub trait AccessToken: Send + Sync {
    /// Returns a token that is valid now. Renews it before it expires.
    ///
    /// # Errors
    ///
    /// `Authentication` if the user has to sign in again, `Transport` if the provider cannot be asked.
    fn get(&self) -> BoxFuture<'_, Result<Secret, LlmError>>;

    /// Called after the provider refused this token. Returns true if another one may be available.
    fn refused(&self, token: &str) -> bool;
}

/// The sign-in of a user at a provider. Two are equal if they are the same one.
#[derive(Clone)]
pub struct SignIn(pub Arc<dyn AccessToken>);

impl PartialEq for SignIn {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl fmt::Debug for SignIn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SignIn")
    }
}
