//! Vendors whose models belong to a cloud platform, with credentials that the machine may have.

use opencode_cloud::HostEnvironment;
use opencode_llm::Auth;
use opencode_secrets::Secret;

use crate::config::ApiPatch;
use crate::environment::Environment;
use crate::model::{CloudCredentials, Provider};
use crate::secret::Members;

/// The cloud platform of a vendor.
pub(in crate::catalogue) trait Cloud {
    /// Adds the settings that the environment gives and the API does not have.
    fn add_settings(&self, settings: &mut Members, environment: &Environment);

    /// True if the environment names credentials for the models.
    fn is_announced(&self, environment: &Environment) -> bool;

    /// Returns the credentials of a provider. `is_named` is true if the user named the provider.
    fn credentials(
        &self,
        api: &ApiPatch,
        environment: &Environment,
        is_named: bool,
    ) -> Option<CloudCredentials>;

    /// Returns the authentication with the settings of a model or, without credentials in them, those of its provider.
    fn authorization(&self, settings: &Members, provider: Option<&CloudCredentials>) -> Auth;

    /// Returns the secrets in the credentials and settings of any provider.
    fn secrets(&self, provider: &Provider) -> Vec<Secret>;
}

/// The variables and the home directory in which a library looks for credentials.
pub(super) fn machine(environment: &Environment) -> HostEnvironment {
    HostEnvironment::new(environment.variables.clone(), environment.home.clone())
}
