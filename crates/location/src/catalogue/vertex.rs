//! Access to models at Google Vertex: the project, its address and the credentials.

use opencode_cloud::GoogleCredentials;
use opencode_secrets::Secret;
use serde_json::{Value, json};

use super::aws::machine;
use super::{VERTEX_ANTHROPIC_PACKAGE, VERTEX_PACKAGE};
use crate::config::ApiPatch;
use crate::environment::Environment;
use crate::model::ApiKind;
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

/// A publisher of models, and how its models are reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Publisher {
    Google,
    Anthropic,
}

impl Publisher {
    /// Returns the publisher behind an API.
    pub(super) fn of(kind: Option<&ApiKind>) -> Option<Self> {
        match kind? {
            ApiKind::Package(package) if package == VERTEX_PACKAGE => Some(Self::Google),
            ApiKind::Package(package) if package == VERTEX_ANTHROPIC_PACKAGE => {
                Some(Self::Anthropic)
            }
            _ => None,
        }
    }

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

/// True if the environment names a project and credentials for Vertex.
pub(super) fn is_announced(api: &ApiPatch, environment: &Environment) -> bool {
    Publisher::of(api.kind.as_ref()).is_some()
        && environment.variable("GOOGLE_VERTEX_PROJECT").is_some()
}

/// Adds the project and the location of the environment to an API of Vertex without them.
pub(super) fn add_project(api: &mut ApiPatch, environment: &Environment) {
    if Publisher::of(api.kind.as_ref()).is_none() {
        return;
    }
    let found = [(PROJECT, &PROJECT_VARIABLES[..]), (PLACE, &PLACE_VARIABLES)];
    for (setting, variables) in found {
        let mut values = variables
            .iter()
            .filter_map(|name| environment.variable(name));
        if !api.settings.contains_key(setting)
            && let Some(value) = values.next()
        {
            api.settings.insert(setting.to_owned(), value.into());
        }
    }
}

/// Returns the credentials of a provider with models at Vertex. `None` without a project.
pub(super) fn credentials(api: &ApiPatch, environment: &Environment) -> Option<GoogleCredentials> {
    Publisher::of(api.kind.as_ref())?;
    if api.url.is_none() {
        name(&api.settings, PROJECT)?;
    }
    let given = given(&api.settings).map(|account| Secret::new(account.to_string()));
    Some(GoogleCredentials::new(machine(environment), given))
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
pub(super) fn private_key(settings: &Members) -> Option<String> {
    let account = given(settings)?;
    account.get("private_key")?.as_str().map(str::to_owned)
}

/// The address of models of Google for users with an API key and no project.
const EXPRESS_URL: &str = "https://aiplatform.googleapis.com/v1/publishers/google";

/// Returns the address of the models of a publisher. `None` if a setting is no name.
pub(super) fn url(publisher: Publisher, settings: &Members) -> Option<String> {
    if publisher == Publisher::Google && !settings.contains_key(PROJECT) {
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
                Publisher::Google,
                json!({"project": "p-1"}),
                Some(
                    "https://us-central1-aiplatform.googleapis.com/v1beta1/projects/p-1/locations/us-central1/publishers/google",
                ),
            ),
            (
                Publisher::Google,
                json!({"project": "p", "location": "global"}),
                Some(
                    "https://aiplatform.googleapis.com/v1beta1/projects/p/locations/global/publishers/google",
                ),
            ),
            (
                Publisher::Google,
                json!({"project": "p", "location": "eu"}),
                Some(
                    "https://aiplatform.eu.rep.googleapis.com/v1beta1/projects/p/locations/eu/publishers/google",
                ),
            ),
            (
                Publisher::Anthropic,
                json!({"project": "example.com:p"}),
                Some(
                    "https://aiplatform.googleapis.com/v1/projects/example.com:p/locations/global/publishers/anthropic",
                ),
            ),
            (
                Publisher::Anthropic,
                json!({"project": "p", "location": "europe-west1"}),
                Some(
                    "https://europe-west1-aiplatform.googleapis.com/v1/projects/p/locations/europe-west1/publishers/anthropic",
                ),
            ),
            (Publisher::Google, json!({}), Some(EXPRESS_URL)),
            (Publisher::Anthropic, json!({}), None),
            (Publisher::Google, json!({"project": "../x"}), None),
            (
                Publisher::Google,
                json!({"project": "p", "location": "evil.example/"}),
                None,
            ),
            (
                Publisher::Google,
                json!({"project": "p", "location": 1}),
                None,
            ),
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
