//! Providers of the program.

use opencode_location::catalogue::ProgramProviders;
use opencode_protocol::failure::Failure;
use opencode_runtime::Runtime;
use serde::Deserialize;
use serde_json::{Value, json};

/// Longest id of a provider in bytes.
const MAX_ID: usize = 100;

/// A provider, as the program registers it.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ProviderRegistration {
    /// The id of the provider.
    pub id: String,
    /// Its display name. Default: the id.
    #[serde(default)]
    pub name: Option<String>,
    /// Its models by id, with the members of models in the configuration.
    pub models: Value,
}

/// Registers a provider for one Location, or for all. Returns its number.
///
/// # Errors
///
/// `InvalidOption` with the path of the first wrong member.
pub(crate) fn register(
    providers: &ProgramProviders,
    runtime: &Runtime,
    provider: &ProviderRegistration,
    directory: Option<String>,
) -> Result<u32, Failure> {
    let is_allowed = |c: char| !c.is_control() && !c.is_whitespace() && c != '/';
    let id = &provider.id;
    if id.is_empty() || id.len() > MAX_ID || !id.chars().all(is_allowed) {
        let message =
            format!("Option \"id\" must have 1 to {MAX_ID} bytes, without spaces and slashes");
        return Err(invalid("id", message));
    }
    let mut description = json!({ "models": provider.models });
    if let Some(name) = &provider.name {
        description["name"] = name.as_str().into();
    }
    let registered = providers.register(id, &description, directory.clone());
    let number = registered.map_err(|problems| {
        let lines = problems
            .iter()
            .map(|it| format!("{} {}", it.path, it.message));
        let message = lines.collect::<Vec<_>>().join("\n");
        invalid(problems.first().map_or("models", |it| &it.path), message)
    })?;
    runtime.announce_models(directory.as_deref());
    Ok(number)
}

/// Removes a provider. Ignores an unknown number.
pub(crate) fn remove(providers: &ProgramProviders, runtime: &Runtime, number: u32) {
    if let Some(directory) = providers.remove(number) {
        runtime.announce_models(directory.as_deref());
    }
}

fn invalid(option: &str, message: String) -> Failure {
    Failure::InvalidOption {
        option: option.to_owned(),
        message,
    }
}
