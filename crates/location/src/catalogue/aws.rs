//! Access to Amazon Bedrock: the region, its address and the keys.

use std::sync::Arc;

use opencode_cloud::{AccessKeys, AwsCredentials, BedrockSigner, HostEnvironment};
use opencode_llm::Auth;
use opencode_secrets::Secret;
use serde_json::Value;

use super::BEDROCK_PACKAGE;
use crate::config::ApiPatch;
use crate::environment::Environment;
use crate::model::{ApiKind, CloudCredentials};
use crate::secret::Members;

/// The setting with the region.
const REGION: &str = "region";

/// The region without configuration.
const USUAL_REGION: &str = "us-east-1";

/// True for the API of Bedrock.
pub(super) fn is_bedrock(kind: Option<&ApiKind>) -> bool {
    matches!(kind, Some(ApiKind::Package(package)) if package == BEDROCK_PACKAGE)
}

/// Adds the region of the environment to an API of Bedrock without one.
pub(super) fn add_region(api: &mut ApiPatch, environment: &Environment) {
    if !is_bedrock(api.kind.as_ref()) || api.settings.contains_key(REGION) {
        return;
    }
    let named = ["AWS_REGION", "AWS_DEFAULT_REGION"];
    let region = named.iter().find_map(|name| environment.variable(name));
    if let Some(region) = region {
        api.settings.insert(REGION.to_owned(), region.into());
    }
}

/// The setting with the name of a profile.
const PROFILE: &str = "profile";

/// Variables that name a place of credentials of the machine.
const ANNOUNCED: [&str; 4] = [
    "AWS_PROFILE",
    "AWS_WEB_IDENTITY_TOKEN_FILE",
    "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
    "AWS_CONTAINER_CREDENTIALS_FULL_URI",
];

/// True if the environment names credentials for Bedrock.
pub(super) fn is_announced(api: &ApiPatch, environment: &Environment) -> bool {
    let mut announced = ANNOUNCED.iter();
    is_bedrock(api.kind.as_ref()) && announced.any(|name| environment.variable(name).is_some())
}

/// Returns the credentials of a provider with models at Bedrock: the keys or the profile of its settings or, without
/// them, those of the machine. The machine is searched only if its variables name credentials, or if the user named the
/// provider.
pub(super) fn credentials(
    api: &ApiPatch,
    environment: &Environment,
    named: bool,
) -> Option<AwsCredentials> {
    if !is_bedrock(api.kind.as_ref()) {
        return None;
    }
    let has = |name: &str| api.settings.contains_key(name);
    if has("accessKeyId") || has("secretAccessKey") {
        // One half of an access key is no key.
        return configured_keys(&api.settings).map(AwsCredentials::of_keys);
    }
    let profile = api.settings.get(PROFILE).and_then(Value::as_str);
    if profile.is_none()
        && let Some(keys) = environment_keys(environment)
    {
        return Some(AwsCredentials::of_keys(keys));
    }
    let is_found = profile.is_some() || named || is_announced(api, environment);
    let profile = profile.map(str::to_owned);
    is_found.then(|| AwsCredentials::of_machine(machine(environment), profile))
}

/// The variables and the home directory in which a library looks for credentials.
pub(super) fn machine(environment: &Environment) -> HostEnvironment {
    HostEnvironment::new(environment.variables.clone(), environment.home.clone())
}

fn environment_keys(environment: &Environment) -> Option<AccessKeys> {
    Some(AccessKeys {
        id: environment.variable("AWS_ACCESS_KEY_ID")?.to_owned(),
        secret: Secret::new(environment.variable("AWS_SECRET_ACCESS_KEY")?),
        session_token: environment.variable("AWS_SESSION_TOKEN").map(Secret::new),
    })
}

/// Returns the region of an API. `None` for a text that names no region.
pub(super) fn region(settings: &Members) -> Option<&str> {
    let region = settings.get(REGION).and_then(Value::as_str);
    let region = region.unwrap_or(USUAL_REGION);
    let is_name = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    (!region.is_empty() && region.bytes().all(is_name)).then_some(region)
}

/// Returns the address of Bedrock in the region of an API.
pub(super) fn url(settings: &Members) -> Option<String> {
    let region = region(settings)?;
    let suffix = if region.starts_with("cn-") { ".cn" } else { "" };
    Some(format!(
        "https://bedrock-runtime.{region}.amazonaws.com{suffix}"
    ))
}

fn configured_keys(settings: &Members) -> Option<AccessKeys> {
    let text = |name: &str| {
        let value = settings.get(name).and_then(Value::as_str);
        value.filter(|text| !text.is_empty())
    };
    Some(AccessKeys {
        id: text("accessKeyId")?.to_owned(),
        secret: Secret::new(text("secretAccessKey")?),
        session_token: text("sessionToken").map(Secret::new),
    })
}

/// Returns the authentication with the keys of the model's settings or, without them, the credentials of its provider.
pub(super) fn auth(settings: &Members, provider: Option<&CloudCredentials>) -> Auth {
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

/// Returns the id of a model in a region. Newer models are only available through a profile of several regions, whose id
/// begins with the name of the area.
pub(super) fn regional(model: &str, region: &str) -> String {
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
        let usual = "https://bedrock-runtime.us-east-1.amazonaws.com";
        assert_eq!(url(&Members::default()).as_deref(), Some(usual));
        let china = "https://bedrock-runtime.cn-north-1.amazonaws.com.cn";
        assert_eq!(url(&settings("cn-north-1")).as_deref(), Some(china));
        for wrong in ["", "evil.example/", "US"] {
            assert_eq!(url(&settings(wrong)), None, "{wrong}");
        }
    }
}
