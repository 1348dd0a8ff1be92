//! Amazon Bedrock: the region, its address, the keys and the names of models in a region.

use std::sync::Arc;

use opencode_cloud::{AccessKeys, AwsCredentials, BedrockSigner};
use opencode_llm::{Auth, ProtocolId};
use opencode_secrets::Secret;
use serde_json::{Map, Value, json};

use super::Platform;
use super::cloud::{Cloud, machine};
use super::openai::OpenAi;
use super::options::insert;
use crate::catalogue::error::UnsupportedReason;
use crate::catalogue::variants::{Choices, ReasoningModel, claude};
use crate::config::ApiPatch;
use crate::config::options::{camel_case, is_control};
use crate::environment::Environment;
use crate::model::{Api, CloudCredentials, Provider};
use crate::secret::Members;

/// The setting with the region.
const REGION: &str = "region";

/// The region without configuration.
const USUAL_REGION: &str = "us-east-1";

/// The setting with the name of a profile.
const PROFILE: &str = "profile";

/// The settings with the two halves of an access key.
const KEY_ID: &str = "accessKeyId";
const KEY: &str = "secretAccessKey";

/// Variables that name a place of credentials of the machine.
const ANNOUNCED: [&str; 4] = [
    "AWS_PROFILE",
    "AWS_WEB_IDENTITY_TOKEN_FILE",
    "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
    "AWS_CONTAINER_CREDENTIALS_FULL_URI",
];

/// The members of a body that only one maker of models knows.
const FIELDS: &str = "additionalModelRequestFields";

/// The models with the protocol of Bedrock.
pub(super) struct Bedrock;

impl Platform for Bedrock {
    fn protocol(&self, _api: &Api, _wire_id: &str) -> Result<ProtocolId, UnsupportedReason> {
        Ok(ProtocolId::BedrockConverse)
    }

    fn address(&self, settings: &Members, _protocol: ProtocolId) -> Option<String> {
        region(settings).map(url_in)
    }

    fn wire_id(&self, id: &str, settings: &Members) -> String {
        match region(settings) {
            Some(region) => regional(id, region),
            None => id.to_owned(),
        }
    }

    fn write_option(&self, body: &mut Map<String, Value>, name: &str, value: &Value) {
        let path: &[&str] = match is_control(&camel_case(name)) {
            true => &[name],
            false => &[FIELDS, name],
        };
        insert(body, path, value.clone());
    }

    fn groups(&self) -> &'static [&'static str] {
        &[FIELDS]
    }

    fn choices(&self, id: &str, model: &ReasoningModel<'_>) -> Choices {
        match id.contains("claude") {
            true => claude(id, model.output),
            false => Choices::USUAL,
        }
    }

    fn effort(&self, wire_id: &str, effort: &str) -> Option<Value> {
        let kind = match wire_id.contains("claude") {
            true => "adaptive",
            false => "enabled",
        };
        Some(json!({ "reasoningConfig": { "type": kind, "maxReasoningEffort": effort } }))
    }

    fn budget(&self, tokens: u64) -> Option<Value> {
        Some(json!({ "reasoningConfig": { "type": "enabled", "budgetTokens": tokens } }))
    }

    fn key_variable(&self) -> Option<&'static str> {
        Some("AWS_BEARER_TOKEN_BEDROCK")
    }

    fn cloud(&self) -> Option<&dyn Cloud> {
        Some(self)
    }
}

impl Cloud for Bedrock {
    fn add_settings(&self, settings: &mut Members, environment: &Environment) {
        if settings.contains_key(REGION) {
            return;
        }
        let named = ["AWS_REGION", "AWS_DEFAULT_REGION"];
        let region = named.iter().find_map(|name| environment.variable(name));
        if let Some(region) = region {
            settings.insert(REGION.to_owned(), region.into());
        }
    }

    fn is_announced(&self, environment: &Environment) -> bool {
        let mut announced = ANNOUNCED.iter();
        announced.any(|name| environment.variable(name).is_some())
    }

    /// The keys or the profile of the settings or, without them, the credentials of the machine. The machine is searched
    /// only if its variables name credentials, or if the user named the provider.
    fn credentials(
        &self,
        api: &ApiPatch,
        environment: &Environment,
        is_named: bool,
    ) -> Option<CloudCredentials> {
        let has = |name: &str| api.settings.contains_key(name);
        let credentials = if has(KEY_ID) || has(KEY) {
            // One half of an access key is no key.
            AwsCredentials::of_keys(configured_keys(&api.settings)?)
        } else {
            let profile = api.settings.get(PROFILE).and_then(Value::as_str);
            match environment_keys(environment).filter(|_| profile.is_none()) {
                Some(keys) => AwsCredentials::of_keys(keys),
                None if profile.is_some() || is_named || self.is_announced(environment) => {
                    AwsCredentials::of_machine(machine(environment), profile.map(str::to_owned))
                }
                None => return None,
            }
        };
        Some(CloudCredentials::Aws(Arc::new(credentials)))
    }

    fn authorization(&self, settings: &Members, provider: Option<&CloudCredentials>) -> Auth {
        let own = configured_keys(settings).map(|keys| Arc::new(AwsCredentials::of_keys(keys)));
        let credentials = own.or_else(|| match provider {
            Some(CloudCredentials::Aws(credentials)) => Some(Arc::clone(credentials)),
            _ => None,
        });
        match (credentials, region(settings)) {
            (Some(credentials), Some(region)) => {
                Auth::Service(Arc::new(BedrockSigner::new(credentials, region)))
            }
            _ => Auth::None,
        }
    }

    fn secrets(&self, provider: &Provider) -> Vec<Secret> {
        let keys = match &provider.cloud {
            Some(CloudCredentials::Aws(credentials)) => credentials.keys(),
            _ => None,
        };
        let secrets = keys.map(|keys| [Some(keys.secret.clone()), keys.session_token.clone()]);
        secrets.into_iter().flatten().flatten().collect()
    }
}

/// The models of OpenAI at Bedrock. This crate has no adapter for their address.
pub(super) struct Mantle;

impl Platform for Mantle {
    fn protocol(&self, _api: &Api, _wire_id: &str) -> Result<ProtocolId, UnsupportedReason> {
        Err(UnsupportedReason::Package)
    }

    fn like(&self) -> Option<&'static dyn Platform> {
        Some(&OpenAi)
    }
}

fn environment_keys(environment: &Environment) -> Option<AccessKeys> {
    Some(AccessKeys {
        id: environment.variable("AWS_ACCESS_KEY_ID")?.to_owned(),
        secret: Secret::new(environment.variable("AWS_SECRET_ACCESS_KEY")?),
        session_token: environment.variable("AWS_SESSION_TOKEN").map(Secret::new),
    })
}

/// Returns the region of an API. `None` for a text that names no region.
fn region(settings: &Members) -> Option<&str> {
    let region = settings.get(REGION).and_then(Value::as_str);
    let region = region.unwrap_or(USUAL_REGION);
    let is_name = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    (!region.is_empty() && region.bytes().all(is_name)).then_some(region)
}

/// Returns the address in a region.
fn url_in(region: &str) -> String {
    let suffix = if region.starts_with("cn-") { ".cn" } else { "" };
    format!("https://bedrock-runtime.{region}.amazonaws.com{suffix}")
}

fn configured_keys(settings: &Members) -> Option<AccessKeys> {
    let text = |name: &str| {
        let value = settings.get(name).and_then(Value::as_str);
        value.filter(|text| !text.is_empty())
    };
    Some(AccessKeys {
        id: text(KEY_ID)?.to_owned(),
        secret: Secret::new(text(KEY)?),
        session_token: text("sessionToken").map(Secret::new),
    })
}

/// Returns the id of a model in a region. Newer models are only available through a profile of several regions, whose id
/// begins with the name of the area.
fn regional(model: &str, region: &str) -> String {
    let has = |families: &[&str]| families.iter().any(|family| model.contains(family));
    let area = match region.split_once('-') {
        Some(("us", rest)) if !rest.starts_with("gov") => has(&[
            "nova-micro",
            "nova-lite",
            "nova-pro",
            "nova-premier",
            "nova-2",
            "claude",
            "deepseek",
        ])
        .then_some("us"),
        Some(("eu", _)) => {
            has(&["claude", "nova-lite", "nova-micro", "llama3", "pixtral"]).then_some("eu")
        }
        // The newest models have no profile of the whole area.
        Some(("ap", "northeast-1")) if is_new_claude(model) => Some("jp"),
        Some(("ap", "southeast-2" | "southeast-4")) if is_new_claude(model) => Some("au"),
        Some(("ap", _)) => {
            has(&["claude", "nova-lite", "nova-micro", "nova-pro"]).then_some("apac")
        }
        _ => None,
    };
    const AREAS: [&str; 6] = ["us.", "eu.", "apac.", "jp.", "au.", "global."];
    let is_complete = AREAS.iter().any(|area| model.starts_with(area)) || model.starts_with("arn:");
    match area.filter(|_| !is_complete) {
        Some(area) => format!("{area}.{model}"),
        None => model.to_owned(),
    }
}

/// True for models of Anthropic from version 4.5 on.
fn is_new_claude(model: &str) -> bool {
    let Some((_, version)) = model.split_once("claude-") else {
        return false;
    };
    let parts = version.split('-').map(str::parse::<u32>);
    let mut numbers = parts.skip_while(Result::is_err);
    // A long number is a date.
    let mut number = || numbers.next()?.ok().filter(|it| *it < 100);
    match (number(), number()) {
        (Some(4), Some(minor)) => minor >= 5,
        (Some(major), _) => major >= 5,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models_get_the_area_of_their_region_unless_they_name_one() {
        let claude = "anthropic.claude-sonnet-4-5-v1:0";
        for (model, region, expected) in [
            (claude, "us-west-2", "us.anthropic.claude-sonnet-4-5-v1:0"),
            (
                claude,
                "eu-central-1",
                "eu.anthropic.claude-sonnet-4-5-v1:0",
            ),
            (
                claude,
                "ap-south-1",
                "apac.anthropic.claude-sonnet-4-5-v1:0",
            ),
            (claude, "us-gov-west-1", claude),
            (
                claude,
                "ap-northeast-1",
                "jp.anthropic.claude-sonnet-4-5-v1:0",
            ),
            (
                claude,
                "ap-southeast-2",
                "au.anthropic.claude-sonnet-4-5-v1:0",
            ),
            (
                "anthropic.claude-3-5-sonnet-20241022-v2:0",
                "ap-northeast-1",
                "apac.anthropic.claude-3-5-sonnet-20241022-v2:0",
            ),
            (
                "anthropic.claude-sonnet-4-20250514-v1:0",
                "ap-southeast-2",
                "apac.anthropic.claude-sonnet-4-20250514-v1:0",
            ),
            (
                "anthropic.claude-opus-5",
                "ap-southeast-4",
                "au.anthropic.claude-opus-5",
            ),
            (
                "global.anthropic.claude-x",
                "us-east-1",
                "global.anthropic.claude-x",
            ),
            ("arn:aws:bedrock:x", "us-east-1", "arn:aws:bedrock:x"),
            ("meta.llama3-70b", "us-east-1", "meta.llama3-70b"),
            ("meta.llama3-70b", "eu-west-1", "eu.meta.llama3-70b"),
        ] {
            assert_eq!(regional(model, region), expected, "{model} {region}");
        }
    }

    #[test]
    fn a_region_is_a_plain_name() {
        let settings = |region: &str| {
            let mut settings = Members::default();
            settings.insert(REGION.to_owned(), region.into());
            settings
        };
        let url = |settings: &Members| region(settings).map(url_in);
        let usual = "https://bedrock-runtime.us-east-1.amazonaws.com";
        assert_eq!(url(&Members::default()).as_deref(), Some(usual));
        let china = "https://bedrock-runtime.cn-north-1.amazonaws.com.cn";
        assert_eq!(url(&settings("cn-north-1")).as_deref(), Some(china));
        for wrong in ["", "evil.example/", "US"] {
            assert_eq!(url(&settings(wrong)), None, "{wrong}");
        }
    }
}
