//! Resolves a selection to a model that can be called.
//!
//! The result for a model and variant never changes within a catalogue. It is computed at the first
//! request and then shared, so later requests are only lookups.

use std::fmt;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use opencode_llm::{Auth, Compatibility, Endpoint, ProtocolId, ResolvedModel, Timeouts};
use opencode_schema::model::ModelRef;
use opencode_secrets::Secret;
use serde_json::Value;
use url::Url;

use super::defaults::defaults;
use super::error::{ModelResolutionError, UnavailableReason, UnsupportedReason};
use super::names::{Named, by_short_name};
use super::platform::{self, AUTHORIZATION, Platform, respell};
use super::token_header::TokenHeader;
use super::{Catalogue, ProviderPlaces};
use crate::config::options::{API_KEY, BASE_URL, Options};
use crate::model::{Api, Cost, Model, Provider, Variant};
use crate::nearest::nearest;
use crate::secret::{Headers, Members};

/// A model that is ready for a Provider Turn.
#[derive(Clone)]
pub struct ResolvedModelOutcome {
    /// The model in the catalogue and the variant that applies. The variant is `None` if no variant changes the model.
    pub selection: ModelRef,
    /// The data that the model client needs for the call.
    pub model: Arc<ResolvedModel>,
    /// The prices of its tokens.
    pub cost: Cost,
}

/// Shows only the selection, because the model contains credentials and headers.
impl fmt::Debug for ResolvedModelOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ResolvedModelOutcome")
            .field("selection", &self.selection)
            .finish_non_exhaustive()
    }
}

/// A selection with this variant name uses the default variant of the model.
const DEFAULT_VARIANT: &str = "default";

type Resolution = Result<ResolvedModelOutcome, ModelResolutionError>;

/// The results for a model: without a variant, and with each of its variants.
#[derive(Debug)]
pub(super) struct Resolutions(Box<[OnceLock<Resolution>]>);

impl Resolutions {
    pub(super) fn of(model: &Model) -> Self {
        let count = 1 + model.variants.len();
        Self((0..count).map(|_| OnceLock::new()).collect())
    }
}

impl Catalogue {
    /// Resolves a selection, or the default model if there is no selection.
    ///
    /// Fails if the selection cannot be satisfied; it never returns a different model instead. The time
    /// does not depend on the size of the catalogue.
    pub fn resolve(
        &self,
        selection: Option<&ModelRef>,
    ) -> Result<ResolvedModelOutcome, ModelResolutionError> {
        let (place, variant) = match (selection, &self.default) {
            (Some(selection), _) => (self.available(selection)?, selection.variant.as_deref()),
            (None, Some(default)) => (default.place, default.variant.as_deref()),
            (None, None) => return Err(self.no_default()),
        };
        let model = &self.models[place];
        let variant = variant_place(model, variant)?;
        let slot = variant.map_or(0, |variant| variant + 1);
        self.resolutions[place].0[slot]
            .get_or_init(|| {
                let provider = &self.providers[self.index[&model.provider_id].provider];
                resolve(provider, model, variant.map(|place| &model.variants[place]))
            })
            .clone()
    }

    /// The reason why there is no default model.
    fn no_default(&self) -> ModelResolutionError {
        let models = self.models.len();
        let nothing_named = ModelResolutionError::ModelNotSelected { models };
        self.unusable_default.clone().unwrap_or(nothing_named)
    }

    /// True if the selection names a model that can be used.
    pub(crate) fn offers(&self, selection: &ModelRef) -> bool {
        self.resolve(Some(selection)).is_ok()
    }

    /// Returns the index of the selected model. Fails if the model cannot be used.
    pub(super) fn available(&self, selection: &ModelRef) -> Result<usize, ModelResolutionError> {
        let reason = match self.index.get(&selection.provider_id) {
            None => self.unavailable_reason(&selection.provider_id),
            Some(known) => match self.place(known, selection) {
                None => self.unknown_model(&selection.provider_id, &selection.id),
                Some(place) if !self.models[place].enabled => UnavailableReason::Disabled,
                Some(place) => match no_key(&self.providers[known.provider]) {
                    Some(reason) => reason,
                    None => return Ok(place),
                },
            },
        };
        Err(ModelResolutionError::ModelUnavailable {
            provider_id: selection.provider_id.clone(),
            model_id: selection.id.clone(),
            reason,
        })
    }

    /// Returns the index of the model with the selected id or, if there is none, with the selected short name.
    fn place(&self, known: &ProviderPlaces, selection: &ModelRef) -> Option<usize> {
        if let Some(&place) = known.models.get(&selection.id) {
            return Some(place);
        }
        // Only models of the list have short names: another provider decides itself about the names of its models.
        self.list.head(&selection.provider_id)?;
        let of_provider = |(_, model): &(usize, &Model)| {
            model.provider_id == selection.provider_id && model.enabled
        };
        let models = self.models.iter().enumerate().filter(of_provider);
        let named = models.map(|(place, model)| Named {
            id: &model.id,
            family: model.family.as_deref(),
            released: model.released,
            value: place,
        });
        by_short_name(&selection.id, named)
    }

    /// The reason for an unknown model, with the models that the provider has.
    fn unknown_model(&self, provider_id: &str, id: &str) -> UnavailableReason {
        let of_provider = |model: &&Model| model.provider_id == provider_id && model.enabled;
        let models = self.models.iter().filter(of_provider);
        let families = models.clone().filter_map(|model| model.family.as_deref());
        let families = families.filter(|_| self.list.head(provider_id).is_some());
        let known = models.map(|model| model.id.as_str());
        UnavailableReason::UnknownModel {
            meant: nearest(id, known.clone().chain(families)).map(str::to_owned),
            known: known.map(str::to_owned).collect(),
        }
    }

    /// The reason why a provider is not in the catalogue.
    fn unavailable_reason(&self, id: &str) -> UnavailableReason {
        if !self.is_allowed(id) {
            return UnavailableReason::Denied;
        }
        match self.list.head(id) {
            None => {
                let known = self.providers.iter().map(|it| it.id.as_str());
                let meant = nearest(id, known.chain(super::built_in::ids()));
                UnavailableReason::UnknownProvider {
                    meant: meant.map(str::to_owned),
                }
            }
            Some(listed) => UnavailableReason::NoKey {
                variables: listed.env.clone().unwrap_or_default(),
            },
        }
    }
}

/// The reason for a provider that needs a key and has none.
fn no_key(provider: &Provider) -> Option<UnavailableReason> {
    let variables = || provider.variables.clone().unwrap_or_default();
    (!provider.available).then(|| UnavailableReason::NoKey {
        variables: variables(),
    })
}

/// Returns the index of the variant that applies. Choosing no variant or the default variant succeeds
/// even if the model has no variants. Fails for a variant that the model does not have.
pub(super) fn variant_place(
    model: &Model,
    chosen: Option<&str>,
) -> Result<Option<usize>, ModelResolutionError> {
    let place = |id: &str| model.variants.iter().position(|variant| variant.id == id);
    match chosen {
        None | Some(DEFAULT_VARIANT) => Ok(model.default_variant.as_deref().and_then(place)),
        Some(id) => place(id)
            .map(Some)
            .ok_or_else(|| ModelResolutionError::VariantUnavailable {
                provider_id: model.provider_id.clone(),
                model_id: model.id.clone(),
                variant: id.to_owned(),
                available: model
                    .variants
                    .iter()
                    .map(|variant| variant.id.clone())
                    .collect(),
            }),
    }
}

/// Returns the protocol and the address of the model. Fails if the runtime does not support them.
pub(super) fn supported(model: &Model) -> Result<(ProtocolId, Endpoint), ModelResolutionError> {
    let api = &*model.api;
    let platform = platform::of(Some(&api.kind));
    let protocol = platform.protocol(api, &model.wire_id);
    let found = protocol.and_then(|it| Ok((it, endpoint(api, platform, it)?)));
    found.map_err(|reason| ModelResolutionError::UnsupportedApi {
        provider_id: model.provider_id.clone(),
        model_id: model.id.clone(),
        api: api.kind.to_string(),
        reason,
    })
}

fn endpoint(
    api: &Api,
    platform: &dyn Platform,
    protocol: ProtocolId,
) -> Result<Endpoint, UnsupportedReason> {
    if is_program(protocol) {
        return Ok(Endpoint {
            base_url: String::new(),
            query: Vec::new(),
        });
    }
    let configured = api.url.as_ref().map(|url| url.0.clone());
    let text = configured.or_else(|| platform.address(&api.settings, protocol));
    let text = text.ok_or(UnsupportedReason::MissingBaseUrl)?;
    let invalid = || UnsupportedReason::InvalidBaseUrl;
    let url = Url::parse(&text).map_err(|_| invalid())?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(invalid());
    }
    // The adapter appends its path to the base URL, so the query and fragment of the base URL are separated here.
    let end = text.find(['?', '#']).unwrap_or(text.len());
    let mut query: Vec<(String, String)> = url.query_pairs().into_owned().collect();
    platform.complete_query(&api.settings, &mut query);
    Ok(Endpoint {
        base_url: text[..end].trim().to_owned(),
        query,
    })
}

/// True for a model of the program, which has no server.
fn is_program(protocol: ProtocolId) -> bool {
    matches!(protocol, ProtocolId::Program(_))
}

fn resolve(provider: &Provider, model: &Model, variant: Option<&Variant>) -> Resolution {
    let (protocol, endpoint) = supported(model)?;
    let platform = platform::of(Some(&model.api.kind));
    let settings = &model.api.settings;
    let mut headers = provider.headers.clone();
    headers.extend(&model.headers);
    let mut options = Options::of(protocol, &shallow(&provider.body, &model.body));
    if let Some(variant) = variant {
        headers.extend(&variant.headers);
        options.overlay(&Options::of(protocol, &variant.body));
    }
    options.fill(&Options::of(protocol, &respell(platform, &defaults(model))));
    if is_program(protocol) {
        options.take_body(BASE_URL);
    }
    let key = api_key(&mut options, settings).or_else(|| provider.key.clone());
    let (auth, headers) = match is_program(protocol) {
        // The program has its own credentials, and sees the configured headers.
        true => (Auth::None, owned(headers.iter())),
        false => authenticate(provider, model, key, &headers),
    };
    let compatibility = compatibility(model, &endpoint, &mut options);
    let timeouts = timeouts(model, &mut options);
    let (generation, provider_options, body) = options.into_parts();
    let resolved = ResolvedModel {
        id: platform.wire_id(&model.wire_id, settings),
        provider_id: provider.id.clone(),
        model_id: model.id.clone(),
        protocol,
        endpoint,
        auth,
        headers,
        limits: opencode_llm::Limits {
            context: model.limits.context,
            input: model.limits.input,
            output: model.limits.output,
        },
        generation,
        provider_options,
        body,
        capabilities: opencode_llm::Capabilities {
            tools: model.capabilities.tools,
            reasoning: model.reasoning,
            structured_output: model.structured_output,
            input: model.capabilities.input.clone(),
        },
        compatibility,
        timeouts,
    };
    Ok(ResolvedModelOutcome {
        selection: ModelRef {
            id: model.id.clone(),
            provider_id: provider.id.clone(),
            variant: variant.map(|variant| variant.id.clone()),
        },
        model: Arc::new(resolved),
        cost: model.cost.clone(),
    })
}

fn shallow(provider: &Members, model: &Members) -> Members {
    let mut merged = provider.clone();
    for (name, value) in model.iter() {
        merged.insert(name.clone(), value.clone());
    }
    merged
}

/// Returns the API key that the configuration gives, in the options or in the settings. Removes it from
/// the options, so that it never reaches the body.
fn api_key(options: &mut Options, settings: &Members) -> Option<Secret> {
    let secret = |value: &Value| {
        let key = value.as_str().filter(|key| !key.is_empty());
        key.map(Secret::new)
    };
    let option = options.take_body(API_KEY);
    option
        .as_ref()
        .and_then(secret)
        .or_else(|| settings.get(API_KEY).and_then(secret))
}

/// Returns the authentication of requests and the other headers. A header from the configuration is
/// more specific than a key and replaces it; sending both would be ambiguous.
fn authenticate(
    provider: &Provider,
    model: &Model,
    key: Option<Secret>,
    headers: &Headers,
) -> (Auth, Vec<(String, String)>) {
    let platform = platform::of(Some(&model.api.kind));
    let settings = &model.api.settings;
    let own = platform.key_header(settings);
    let written = [own, AUTHORIZATION]
        .into_iter()
        .find_map(|name| Some((name, headers.get(name)?)));
    let auth = match (written, key) {
        (Some((name, value)), _) => Auth::Header {
            name: name.to_owned(),
            secret: Secret::new(value),
        },
        (None, Some(key)) if own == AUTHORIZATION => Auth::Bearer(key),
        (None, Some(secret)) => Auth::Header {
            name: own.to_owned(),
            secret,
        },
        (None, None) => without_key(platform, settings, provider),
    };
    let is_other = |name: &str| written.is_none_or(|(own, _)| !name.eq_ignore_ascii_case(own));
    let others = headers.iter().filter(|(name, _)| is_other(name));
    (auth, owned(others))
}

fn owned<'a>(headers: impl Iterator<Item = (&'a str, &'a str)>) -> Vec<(String, String)> {
    let owned = headers.map(|(name, value)| (name.to_owned(), value.to_owned()));
    owned.collect()
}

/// Returns the authentication without a key: the sign-in of the user, or what the vendor has instead.
fn without_key(platform: &dyn Platform, settings: &Members, provider: &Provider) -> Auth {
    match &provider.sign_in {
        Some(sign_in) => {
            let header = platform.token_header(settings);
            Auth::Service(Arc::new(TokenHeader::new(sign_in.clone(), header)))
        }
        None => platform.authorization(settings, provider.cloud.as_ref()),
    }
}

fn compatibility(model: &Model, endpoint: &Endpoint, options: &mut Options) -> Compatibility {
    let include_usage = model.api.settings.get("includeUsage");
    let declared = platform::of(Some(&model.api.kind)).compatibility();
    let at_address = || platform::compatible_server_at(&endpoint.base_url);
    Compatibility {
        usage_chunk: include_usage != Some(&Value::Bool(false)),
        reasoning_field: model.reasoning_field.clone(),
        mid_conversation_system: mid_conversation_system(options),
        compatible_server: declared.compatible_server.or_else(at_address),
        ..declared
    }
}

/// The time limits that the configuration sets. `false` disables a limit, even if the host sets one.
fn timeouts(model: &Model, options: &mut Options) -> Timeouts {
    let mut limit = |name| {
        let in_body = options.take_body(name);
        match in_body.as_ref().or(model.api.settings.get(name))? {
            Value::Bool(false) => Some(Duration::MAX),
            value => value.as_u64().map(Duration::from_millis),
        }
    };
    Timeouts {
        header: limit("headerTimeout"),
        chunk: limit("chunkTimeout"),
        total: limit("timeout"),
    }
}

/// True if the model accepts system messages in the middle of a conversation. `None` if the
/// configuration does not set it.
fn mid_conversation_system(options: &mut Options) -> Option<bool> {
    let spellings = ["midConversationSystem", "mid_conversation_system"];
    let found = spellings.map(|name| options.take_body(name));
    match found.iter().flatten().next()?.as_str()? {
        "native" => Some(true),
        "wrapped" => Some(false),
        _ => None,
    }
}
