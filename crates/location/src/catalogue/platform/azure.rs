//! Models of OpenAI at Azure.

use opencode_llm::ProtocolId;
use serde_json::Value;

use super::openai::{OpenAi, reasoning_defaults, reasons_by_default};
use super::{BuiltIn, Defaults, Platform};
use crate::catalogue::error::UnsupportedReason;
use crate::config::options::API_KEY;
use crate::environment::Environment;
use crate::model::Api;
use crate::secret::Members;

pub(super) const PACKAGE: &str = "@ai-sdk/azure";

const KEY_HEADER: &str = "api-key";

/// The query parameter with the version of the API.
const VERSION: &str = "api-version";

/// The variable with the name of the resource.
const RESOURCE_VARIABLE: &str = "AZURE_RESOURCE_NAME";

pub(super) struct Azure;

impl Platform for Azure {
    fn protocol(&self, api: &Api, _wire_id: &str) -> Result<ProtocolId, UnsupportedReason> {
        Ok(match api.settings.get("useCompletionUrls") {
            Some(Value::Bool(true)) => ProtocolId::OpenAiChat,
            _ => ProtocolId::OpenAiResponses,
        })
    }

    fn address(&self, settings: &Members, _protocol: ProtocolId) -> Option<String> {
        url_of(settings.get("resourceName")?.as_str()?)
    }

    fn complete_query(&self, settings: &Members, query: &mut Vec<(String, String)>) {
        if query.iter().all(|(name, _)| name != VERSION) {
            let version = settings.get("apiVersion").and_then(Value::as_str);
            query.push((VERSION.to_owned(), version.unwrap_or("v1").to_owned()));
        }
    }

    fn key_header(&self, _settings: &Members) -> &'static str {
        KEY_HEADER
    }

    fn like(&self) -> Option<&'static dyn Platform> {
        Some(&OpenAi)
    }

    fn option_header(&self, option: &str) -> Option<(&'static str, &'static str)> {
        (option == API_KEY).then_some((KEY_HEADER, ""))
    }

    fn defaults(&self, id: &str, _reasons: bool) -> Defaults {
        // Azure refuses a verbosity for some versions.
        match reasons_by_default(id) {
            true => reasoning_defaults(),
            false => Defaults::new(),
        }
    }

    fn built_in(&self) -> Option<BuiltIn> {
        Some(BuiltIn {
            id: "azure",
            name: "Azure",
            package: Some(PACKAGE),
            variables: &[RESOURCE_VARIABLE, "AZURE_API_KEY"],
        })
    }

    fn environment_address(&self, environment: &Environment) -> Option<String> {
        url_of(environment.variable(RESOURCE_VARIABLE)?)
    }
}

/// Returns the address of a resource. `None` for a text that is no name.
fn url_of(resource: &str) -> Option<String> {
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
    let is_name = !resource.is_empty() && resource.bytes().all(is_letter);
    is_name.then(|| format!("https://{resource}.openai.azure.com/openai/v1"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_names_the_resource() {
        let url = "https://mine.openai.azure.com/openai/v1";
        assert_eq!(url_of("mine").as_deref(), Some(url));
        for wrong in ["", "a.b", "evil.example/", "a b"] {
            assert_eq!(url_of(wrong), None, "{wrong}");
        }
    }
}
