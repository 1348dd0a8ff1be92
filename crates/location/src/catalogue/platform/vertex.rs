//! Models at Google Vertex: the project, its address and the credentials.

use std::sync::Arc;

use opencode_cloud::GoogleCredentials;
use opencode_llm::{Auth, Compatibility, ProtocolId};
use opencode_secrets::Secret;
use serde_json::{Value, json};

use super::anthropic::Anthropic;
use super::cloud::{Cloud, machine};
use super::google::{self, Google};
use super::{AUTHORIZATION, Platform};
use crate::catalogue::error::UnsupportedReason;
use crate::config::ApiPatch;
use crate::environment::Environment;
use crate::model::{Api, CloudCredentials, Provider};
use crate::secret::Members;

/// The setting with the id of the project.
const PROJECT: &str = "project";

/// The setting with the region, `global`, or the multi-region.
const PLACE: &str = "location";

const PROJECT_VARIABLES: [&str; 4] = [
    "GOOGLE_VERTEX_PROJECT",
    "GOOGLE_CLOUD_PROJECT",
    "GCP_PROJECT",
    "GCLOUD_PROJECT",
];

const PLACE_VARIABLES: [&str; 3] = [
    "GOOGLE_VERTEX_LOCATION",
    "GOOGLE_CLOUD_LOCATION",
    "VERTEX_LOCATION",
];

/// The version of Anthropic Messages at Vertex.
const ANTHROPIC_VERSION: &str = "vertex-2023-10-16";

/// The models of a publisher.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Vertex {
    Google,
    Anthropic,
}

impl Vertex {
    fn usual_place(self) -> &'static str {
        match self {
            Self::Google => "us-central1",
            Self::Anthropic => "global",
        }
    }

    /// The version of the API and the name of the publisher in addresses.
    fn in_address(self) -> (&'static str, &'static str) {
        match self {
            Self::Google => ("v1beta1", "google"),
            Self::Anthropic => ("v1", "anthropic"),
        }
    }
}

impl Platform for Vertex {
    fn protocol(&self, _api: &Api, _wire_id: &str) -> Result<ProtocolId, UnsupportedReason> {
        Ok(match self {
            Self::Google => ProtocolId::Gemini,
            Self::Anthropic => ProtocolId::AnthropicMessages,
        })
    }

    fn address(&self, settings: &Members, _protocol: ProtocolId) -> Option<String> {
        url(*self, settings)
    }

    fn key_header(&self, _settings: &Members) -> &'static str {
        match self {
            Self::Google => google::KEY_HEADER,
            Self::Anthropic => AUTHORIZATION,
        }
    }

    fn compatibility(&self) -> Compatibility {
        Compatibility {
            version_in_body: (*self == Self::Anthropic).then_some(ANTHROPIC_VERSION),
            ..Compatibility::default()
        }
    }

    fn like(&self) -> Option<&'static dyn Platform> {
        Some(match self {
            Self::Google => &Google,
            Self::Anthropic => &Anthropic,
        })
    }

    fn cloud(&self) -> Option<&dyn Cloud> {
        Some(self)
    }
}

impl Cloud for Vertex {
    fn add_settings(&self, settings: &mut Members, environment: &Environment) {
        let found = [(PROJECT, &PROJECT_VARIABLES[..]), (PLACE, &PLACE_VARIABLES)];
        for (setting, variables) in found {
            let mut values = variables
                .iter()
                .filter_map(|name| environment.variable(name));
            if !settings.contains_key(setting)
                && let Some(value) = values.next()
            {
                settings.insert(setting.to_owned(), value.into());
            }
        }
    }

    /// Credentials without a project have no address.
    fn is_announced(&self, environment: &Environment) -> bool {
        environment.variable(PROJECT_VARIABLES[0]).is_some()
    }

    fn credentials(
        &self,
        api: &ApiPatch,
        environment: &Environment,
        _is_named: bool,
    ) -> Option<CloudCredentials> {
        if api.url.is_none() {
            name(&api.settings, PROJECT)?;
        }
        let given = given(&api.settings).map(|account| Secret::new(account.to_string()));
        let credentials = GoogleCredentials::new(machine(environment), given);
        Some(CloudCredentials::Google(Arc::new(credentials)))
    }

    fn authorization(&self, _settings: &Members, provider: Option<&CloudCredentials>) -> Auth {
        match provider {
            Some(CloudCredentials::Google(credentials)) => {
                Auth::Service(Arc::<GoogleCredentials>::clone(credentials))
            }
            _ => Auth::None,
        }
    }

    fn secrets(&self, provider: &Provider) -> Vec<Secret> {
        let key = private_key(&provider.api.settings);
        key.map(Secret::new).into_iter().collect()
    }
}

/// Returns the key of a service account in the settings, in the form of its file.
fn given(settings: &Members) -> Option<Value> {
    let account = settings.get("googleAuthOptions")?.get("credentials")?;
    Some(json!({
        "type": "service_account",
        "client_email": account.get("client_email")?,
        "private_key": account.get("private_key")?,
    }))
}

/// Returns the private key of a service account in the settings.
fn private_key(settings: &Members) -> Option<String> {
    let account = given(settings)?;
    account.get("private_key")?.as_str().map(str::to_owned)
}

/// The address of models of Google for users with an API key and no project.
const EXPRESS_URL: &str = "https://aiplatform.googleapis.com/v1/publishers/google";

/// Returns the address of the models of a publisher. `None` if a setting is no name.
fn url(publisher: Vertex, settings: &Members) -> Option<String> {
    if publisher == Vertex::Google && !settings.contains_key(PROJECT) {
        return Some(EXPRESS_URL.to_owned());
    }
    let project = name(settings, PROJECT)?;
    let place = match settings.contains_key(PLACE) {
        true => name(settings, PLACE)?,
        false => publisher.usual_place(),
    };
    let host = match place {
        "global" => "aiplatform.googleapis.com".to_owned(),
        // Regions have a number, multi-regions have none.
        "eu" | "us" => format!("aiplatform.{place}.rep.googleapis.com"),
        region => format!("{region}-aiplatform.googleapis.com"),
    };
    let (version, owner) = publisher.in_address();
    Some(format!(
        "https://{host}/{version}/projects/{project}/locations/{place}/publishers/{owner}"
    ))
}

/// Returns a setting that is part of an address.
fn name<'a>(settings: &'a Members, setting: &str) -> Option<&'a str> {
    let is_plain =
        |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-:.".contains(&byte);
    let name = settings.get(setting)?.as_str()?;
    (!name.is_empty() && name.bytes().all(is_plain) && !name.contains("..")).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(value: Value) -> Members {
        Members(value.as_object().cloned().unwrap())
    }

    #[test]
    fn an_address_names_the_project_the_location_and_the_publisher() {
        let rows = [
            (
                Vertex::Google,
                json!({"project": "p-1"}),
                Some(
                    "https://us-central1-aiplatform.googleapis.com/v1beta1/projects/p-1/locations/us-central1/publishers/google",
                ),
            ),
            (
                Vertex::Google,
                json!({"project": "p", "location": "global"}),
                Some(
                    "https://aiplatform.googleapis.com/v1beta1/projects/p/locations/global/publishers/google",
                ),
            ),
            (
                Vertex::Google,
                json!({"project": "p", "location": "eu"}),
                Some(
                    "https://aiplatform.eu.rep.googleapis.com/v1beta1/projects/p/locations/eu/publishers/google",
                ),
            ),
            (
                Vertex::Anthropic,
                json!({"project": "example.com:p"}),
                Some(
                    "https://aiplatform.googleapis.com/v1/projects/example.com:p/locations/global/publishers/anthropic",
                ),
            ),
            (
                Vertex::Anthropic,
                json!({"project": "p", "location": "europe-west1"}),
                Some(
                    "https://europe-west1-aiplatform.googleapis.com/v1/projects/p/locations/europe-west1/publishers/anthropic",
                ),
            ),
            (Vertex::Google, json!({}), Some(EXPRESS_URL)),
            (Vertex::Anthropic, json!({}), None),
            (Vertex::Google, json!({"project": "../x"}), None),
            (
                Vertex::Google,
                json!({"project": "p", "location": "evil.example/"}),
                None,
            ),
            (Vertex::Google, json!({"project": "p", "location": 1}), None),
        ];
        for (publisher, given, expected) in rows {
            let address = url(publisher, &settings(given.clone()));
            assert_eq!(address.as_deref(), expected, "{given}");
        }
    }

    #[test]
    fn settings_may_contain_the_key_of_a_service_account() {
        let account = json!({"client_email": "a@b", "private_key": "pem"});
        let whole = settings(json!({"googleAuthOptions": {"credentials": account}}));
        assert_eq!(private_key(&whole).as_deref(), Some("pem"));
        assert_eq!(given(&whole).unwrap()["type"], "service_account");
        let half = json!({"googleAuthOptions": {"credentials": {"private_key": "pem"}}});
        assert_eq!(private_key(&settings(half)), None);
    }
}
