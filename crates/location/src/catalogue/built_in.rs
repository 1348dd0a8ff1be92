//! Providers that are usable without a list of models, because their vendors describe them, and addresses of providers
//! from the environment.

use opencode_llm::ProtocolId;

use super::platform::{self, BuiltIn, Platform, host};
use crate::config::{ApiPatch, HostModel, ProviderPatch};
use crate::environment::Environment;
use crate::model::ApiKind;
use crate::secret::BaseUrl;

fn all() -> impl Iterator<Item = (&'static dyn Platform, BuiltIn)> + Clone {
    platform::all().filter_map(|platform| Some((platform, platform.built_in()?)))
}

fn find(id: &str) -> Option<(&'static dyn Platform, BuiltIn)> {
    all().find(|(_, built_in)| built_in.id == id)
}

/// The ids of these providers.
pub(super) fn ids<'a>() -> impl Iterator<Item = &'a str> + Clone {
    all().map(|(_, it)| -> &'a str { it.id })
}

/// The variables that contain the credentials of these providers.
pub(super) fn credentials<'a>() -> impl Iterator<Item = &'a str> {
    all().flat_map(|(_, it)| super::credentials(it.variables))
}

/// Returns the description of a built-in provider.
pub(super) fn provider(id: &str) -> Option<ProviderPatch> {
    let (platform, built_in) = find(id)?;
    let package = built_in.package.map(str::to_owned);
    let variables = built_in.variables.iter();
    Some(ProviderPatch {
        name: Some(built_in.name.to_owned()),
        api: ApiPatch {
            kind: package.map(ApiKind::Package),
            url: platform.url().map(|url| BaseUrl(url.to_owned())),
            ..ApiPatch::default()
        },
        env: Some(variables.map(|&name| name.to_owned()).collect()),
        ..ProviderPatch::default()
    })
}

/// The description of an unknown provider whose model the embedding program chose: a server compatible
/// with OpenAI's. The variable `<PROVIDER>_API_KEY` counts only if the program also gave the address.
pub(super) fn compatible(chosen: &HostModel) -> ProviderPatch {
    let id = &chosen.model.provider_id;
    let variable = || {
        let letters = id.chars().map(|it| {
            if it.is_ascii_alphanumeric() {
                it.to_ascii_uppercase()
            } else {
                '_'
            }
        });
        format!("{}_API_KEY", letters.collect::<String>())
    };
    ProviderPatch {
        env: chosen.base_url.as_ref().map(|_| vec![variable()]),
        ..ProviderPatch::default()
    }
}

/// The address that an environment variable gives for a provider. Used if the configuration gives no address.
pub(super) fn address(id: &str, environment: &Environment) -> Option<BaseUrl> {
    let (platform, _) = find(id)?;
    platform.environment_address(environment).map(BaseUrl)
}

/// Replaces `${NAME}` in an address of the list by the value of this variable. Keeps the address if a variable is missing;
/// such an address is no valid one.
pub(super) fn filled(url: BaseUrl, environment: &Environment) -> BaseUrl {
    let mut filled = String::new();
    let mut rest = url.0.as_str();
    while let Some((before, after)) = rest.split_once("${") {
        let found = after.split_once('}');
        let value = found.and_then(|(name, tail)| Some((environment.variable(name)?, tail)));
        let Some((value, tail)) = value else {
            return url;
        };
        filled.push_str(before);
        filled.push_str(value);
        rest = tail;
    }
    filled.push_str(rest);
    BaseUrl(filled)
}

/// True if the address belongs to the own server of a built-in provider, which always requires a key.
pub(super) fn needs_key(url: Option<&BaseUrl>) -> bool {
    let Some(given) = url.and_then(|url| host(&url.0)) else {
        return false;
    };
    let defaults = ProtocolId::ALL
        .into_iter()
        .filter_map(ProtocolId::default_base_url);
    let mut own = all()
        .filter_map(|(platform, _)| platform.url())
        .chain(defaults);
    own.any(|url| host(url).as_ref() == Some(&given))
}
