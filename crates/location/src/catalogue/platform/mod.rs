//! The vendors of models: one file for each, with everything that only this vendor needs.
//!
//! Catalogues describe the API of a provider by the name of a package of the AI SDK. This crate never loads a package: the
//! name stands for a vendor, with its protocol, its address, the place of the key and the spelling of the options.

mod anthropic;
mod azure;
mod bedrock;
mod cloud;
mod compatible;
mod copilot;
mod google;
mod openai;
mod openrouter;
mod options;
mod other;
mod vertex;
mod xai;

#[cfg(test)]
mod tests;

use opencode_llm::{Auth, Compatibility, CompatibleServer, ProtocolId};
use serde_json::{Map, Value};
use url::Url;

use super::error::UnsupportedReason;
use super::variants::{Choices, ReasoningModel};
use crate::environment::Environment;
use crate::model::{Api, ApiKind, CloudCredentials};
use crate::secret::Members;

pub(super) use cloud::Cloud;
pub(super) use compatible::COMPATIBLE_PACKAGE;
pub(super) use options::{is_group, respell, split};

/// The header of keys that are bearer tokens.
pub(super) const AUTHORIZATION: &str = "authorization";

/// The vendor behind each package. Rows of [`compatible`] are further ones.
static PLATFORMS: [(&str, &dyn Platform); 12] = [
    (anthropic::PACKAGE, &anthropic::Anthropic),
    (openai::PACKAGE, &openai::OpenAi),
    (google::PACKAGE, &google::Google),
    (azure::PACKAGE, &azure::Azure),
    ("@openrouter/ai-sdk-provider", &openrouter::OpenRouter),
    ("@ai-sdk/xai", &xai::Xai),
    ("@ai-sdk/amazon-bedrock", &bedrock::Bedrock),
    ("@ai-sdk/amazon-bedrock/mantle", &bedrock::Mantle),
    ("@ai-sdk/google-vertex", &vertex::Vertex::Google),
    (
        "@ai-sdk/google-vertex/anthropic",
        &vertex::Vertex::Anthropic,
    ),
    ("@ai-sdk/github-copilot", &copilot::Copilot),
    ("ai-gateway-provider", &other::WithoutAdapter),
];

/// A vendor of models: its server, and the package that names it. The defaults are those of a server that has nothing of
/// its own, with a key as its bearer token.
pub(super) trait Platform: Sync {
    /// Returns the protocol of a model, or the reason why this crate has no adapter for it.
    fn protocol(&self, api: &Api, wire_id: &str) -> Result<ProtocolId, UnsupportedReason>;

    /// The address without configuration, if it is the same for all users and differs from that of the protocol.
    fn url(&self) -> Option<&'static str> {
        None
    }

    /// Returns the address for an API without a configured one. `None` if the settings must give one.
    fn address(&self, _settings: &Members, protocol: ProtocolId) -> Option<String> {
        let url = self.url().or(protocol.default_base_url());
        url.map(str::to_owned)
    }

    /// Adds the parameters of every request to those of the address.
    fn complete_query(&self, _settings: &Members, _query: &mut Vec<(String, String)>) {}

    /// The header of the key. [`AUTHORIZATION`] carries the key as a bearer token.
    fn key_header(&self, _settings: &Members) -> &'static str {
        AUTHORIZATION
    }

    /// The header of the access token of a user, with the same rule.
    fn token_header(&self, _settings: &Members) -> &'static str {
        AUTHORIZATION
    }

    /// Returns the authentication of requests without a key.
    fn authorization(&self, settings: &Members, provider: Option<&CloudCredentials>) -> Auth {
        self.cloud()
            .map_or(Auth::None, |it| it.authorization(settings, provider))
    }

    /// Returns the id of a model in requests.
    fn wire_id(&self, id: &str, _settings: &Members) -> String {
        id.to_owned()
    }

    /// The deviations of the server from its protocol.
    fn compatibility(&self) -> Compatibility {
        Compatibility::default()
    }

    /// The platform that decides about everything below that this one does not decide itself.
    fn like(&self) -> Option<&'static dyn Platform> {
        None
    }

    /// True if the names of the options are known. Otherwise all options of a provider go into the body.
    fn knows_options(&self) -> bool {
        true
    }

    /// Returns the header that carries an option of a provider, and the prefix of its value.
    fn option_header(&self, option: &str) -> Option<(&'static str, &'static str)> {
        self.like()?.option_header(option)
    }

    /// Writes an option of a model into the body, in the spelling of the wire.
    fn write_option(&self, body: &mut Map<String, Value>, name: &str, value: &Value) {
        match self.like() {
            Some(like) => like.write_option(body, name, value),
            None => options::insert(body, &[name], value.clone()),
        }
    }

    /// Objects of the wire that group several options. Each of these options has its own name outside the wire.
    fn groups(&self) -> &'static [&'static str] {
        &[]
    }

    /// Returns the choices that a request has for the reasoning of a model. `id` is its name in lower case.
    fn choices(&self, id: &str, model: &ReasoningModel<'_>) -> Choices {
        match self.like() {
            Some(like) => like.choices(id, model),
            None => Choices::NONE,
        }
    }

    /// Returns the options that request an effort. `None` if the package does not support efforts.
    fn effort(&self, wire_id: &str, effort: &str) -> Option<Value> {
        self.like()?.effort(wire_id, effort)
    }

    /// Returns the options that request a number of thinking tokens. `None` if the package does not support budgets.
    fn budget(&self, tokens: u64) -> Option<Value> {
        self.like()?.budget(tokens)
    }

    /// Returns the options that a model gets without configuration. `id` is its name in lower case.
    fn defaults(&self, id: &str, reasons: bool) -> Defaults {
        match self.like() {
            Some(like) => like.defaults(id, reasons),
            None => Defaults::new(),
        }
    }

    /// The provider that needs no description in a document or list.
    fn built_in(&self) -> Option<BuiltIn> {
        None
    }

    /// Returns the address that the environment gives for the built-in provider.
    fn environment_address(&self, _environment: &Environment) -> Option<String> {
        None
    }

    /// A variable that contains a key although its name does not end like those of keys.
    fn key_variable(&self) -> Option<&'static str> {
        None
    }

    /// True if the list of models describes it as a compatible server.
    fn is_listed_as_compatible(&self) -> bool {
        false
    }

    /// The cloud to which the server belongs.
    fn cloud(&self) -> Option<&dyn Cloud> {
        None
    }
}

/// Options in the spelling of a package.
pub(super) type Defaults = Vec<(&'static str, Value)>;

/// A provider that documents can use without describing it: they only need to name models.
#[derive(Clone, Copy)]
pub(super) struct BuiltIn {
    /// Its id in the catalogue.
    pub(super) id: &'static str,
    /// The name for users.
    pub(super) name: &'static str,
    /// `None` for a compatible server.
    pub(super) package: Option<&'static str>,
    /// The variables with its key, and others without which it cannot be used.
    pub(super) variables: &'static [&'static str],
}

/// Returns the platform of an API. A provider without a package is a compatible server.
pub(super) fn of(kind: Option<&ApiKind>) -> &'static dyn Platform {
    match kind {
        Some(ApiKind::Package(package)) => of_package(package).unwrap_or(&other::Unknown),
        Some(ApiKind::Program(_)) => &other::Program,
        Some(ApiKind::Native) => &other::Native,
        None => &compatible::USUAL,
    }
}

fn of_package(package: &str) -> Option<&'static dyn Platform> {
    let mut known = PLATFORMS.iter();
    let own = known.find(|(name, _)| *name == package);
    let own = own.map(|(_, platform)| *platform);
    own.or_else(|| compatible::of_package(package))
}

/// All platforms that are named by a package.
pub(super) fn all() -> impl Iterator<Item = &'static dyn Platform> + Clone {
    let own = PLATFORMS.iter().map(|(_, platform)| *platform);
    own.chain(compatible::all())
}

/// Returns the API of a provider of the list of models, which describes some vendors as compatible servers.
pub(super) fn listed_kind(package: Option<String>, address: Option<&str>) -> Option<ApiKind> {
    let package = package?;
    if package != COMPATIBLE_PACKAGE {
        return Some(ApiKind::Package(package));
    }
    let is_there = |it: &&dyn Platform| address.is_some_and(|address| is_at(*it, address));
    let mut own = PLATFORMS.iter();
    let own = own.find(|(_, it)| it.is_listed_as_compatible() && is_there(it));
    let package = own.map_or(package, |(package, _)| (*package).to_owned());
    Some(ApiKind::Package(package))
}

/// Returns the server at an address, if it extends the protocols of OpenAI. A document may describe it as a compatible
/// server.
pub(super) fn compatible_server_at(address: &str) -> Option<CompatibleServer> {
    let servers = PLATFORMS.iter().filter_map(|(_, platform)| {
        let server = platform.compatibility().compatible_server?;
        Some((platform, server))
    });
    let mut servers = servers.filter(|(platform, _)| is_at(**platform, address));
    servers.next().map(|(_, server)| server)
}

/// True if an address belongs to the server of a platform.
fn is_at(platform: &dyn Platform, address: &str) -> bool {
    let own = platform.url().and_then(host);
    own.is_some() && own == host(address)
}

/// Returns the host of an address.
pub(super) fn host(address: &str) -> Option<String> {
    Some(Url::parse(address).ok()?.host_str()?.to_owned())
}
