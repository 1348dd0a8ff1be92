//! The canonical request: what the runner says, in the words of no provider.

mod message;
mod prefix;
mod tool;

use std::fmt;
use std::sync::Arc;

use serde::Serialize;
use serde_json::Value;

pub use message::{
    Media, Message, Part, ReasoningPart, Role, TextPart, ToolCallPart, ToolResultPart,
};
pub use prefix::PrefixCache;
pub use tool::{ToolChoice, ToolContent, ToolDefinition, ToolResultValue};

use crate::canonical::json::deep_merge;
use crate::canonical::model::ResolvedModel;
use crate::redact::Fields;

/// A JSON object that keeps its order.
pub type JsonMap = serde_json::Map<String, Value>;

/// One request of a provider turn.
#[derive(Clone, Debug)]
pub struct LlmRequest {
    /// The model to call.
    pub model: Arc<ResolvedModel>,
    /// System text, in order. Empty parts are dropped.
    pub system: Vec<SystemPart>,
    /// The conversation, oldest first. Shared with whoever keeps it for the next request, who goes
    /// on adding to it once this one is sent.
    pub messages: Arc<Vec<Message>>,
    /// What this request says behind the conversation. It is no part of it: the next request does
    /// not repeat it.
    pub closing: Option<Message>,
    /// The tools on offer.
    pub tools: Arc<[ToolDefinition]>,
    /// Whether and which tool must be used; the provider's default when absent.
    pub tool_choice: Option<ToolChoice>,
    /// Sampling of this request, over the model's own.
    pub generation: GenerationControls,
    /// Model Request Options of this request, over the model's own, by namespace.
    pub provider_options: JsonMap,
    /// Wire additions of this request.
    pub http: HttpOverlay,
    /// By which a server may keep the requests of one conversation together, in protocols that have
    /// a place for it.
    pub cache_key: Option<String>,
    /// What an earlier request of the same conversation already wrote. Hand the same handle to
    /// every request of a conversation and the unchanged prefix is neither lowered nor serialised
    /// again.
    pub prefix: PrefixCache,
}

impl LlmRequest {
    /// An empty request to a model.
    #[must_use]
    pub fn new(model: Arc<ResolvedModel>) -> Self {
        Self {
            model,
            system: Vec::new(),
            messages: Arc::default(),
            closing: None,
            tools: Arc::from([]),
            tool_choice: None,
            generation: GenerationControls::default(),
            provider_options: JsonMap::new(),
            http: HttpOverlay::default(),
            cache_key: None,
            prefix: PrefixCache::default(),
        }
    }

    /// Sampling in force: each field the last value anybody set.
    #[must_use]
    pub fn effective_generation(&self) -> GenerationControls {
        self.model.generation.overridden_by(&self.generation)
    }

    /// Model Request Options in force for one namespace.
    #[must_use]
    pub fn effective_options(&self, namespace: &str) -> JsonMap {
        let mut options = JsonMap::new();
        for source in [&self.model.provider_options, &self.provider_options] {
            if let Some(Value::Object(more)) = source.get(namespace) {
                deep_merge(&mut options, more);
            }
        }
        options
    }

    /// The body overlay in force.
    #[must_use]
    pub fn effective_overlay(&self) -> JsonMap {
        let mut overlay = self.model.body.clone();
        deep_merge(&mut overlay, &self.http.body);
        overlay
    }
}

/// One piece of system text. The text is shared because a baseline is long and goes into every
/// request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SystemPart {
    /// The text.
    pub text: Arc<str>,
}

impl SystemPart {
    /// System text.
    #[must_use]
    pub fn new(text: impl Into<Arc<str>>) -> Self {
        Self { text: text.into() }
    }
}

/// Provider-neutral sampling and output controls.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GenerationControls {
    /// The longest answer, in tokens.
    pub max_tokens: Option<u64>,
    /// Sampling temperature.
    pub temperature: Option<f64>,
    /// Nucleus sampling.
    pub top_p: Option<f64>,
    /// Sampling among the k likeliest.
    pub top_k: Option<u64>,
    /// Penalty by how often a token occurred.
    pub frequency_penalty: Option<f64>,
    /// Penalty by whether a token occurred.
    pub presence_penalty: Option<f64>,
    /// Seed for repeatable sampling.
    pub seed: Option<i64>,
    /// Texts that end the answer.
    pub stop: Option<Vec<String>>,
}

impl GenerationControls {
    /// These controls with every field that `over` sets replaced.
    #[must_use]
    pub fn overridden_by(&self, over: &Self) -> Self {
        Self {
            max_tokens: over.max_tokens.or(self.max_tokens),
            temperature: over.temperature.or(self.temperature),
            top_p: over.top_p.or(self.top_p),
            top_k: over.top_k.or(self.top_k),
            frequency_penalty: over.frequency_penalty.or(self.frequency_penalty),
            presence_penalty: over.presence_penalty.or(self.presence_penalty),
            seed: over.seed.or(self.seed),
            stop: over.stop.clone().or_else(|| self.stop.clone()),
        }
    }
}

/// Wire additions that pass the adapter untouched. `Debug` hides secrets.
#[derive(Clone, Default, PartialEq)]
pub struct HttpOverlay {
    /// Merged into the body last. Members the adapter owns are refused.
    pub body: JsonMap,
    /// Headers over the model's own.
    pub headers: Vec<(String, String)>,
    /// Query parameters after the model's own.
    pub query: Vec<(String, String)>,
}

impl fmt::Debug for HttpOverlay {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("HttpOverlay")
            .field("headers", &Fields(&self.headers))
            .field("query", &Fields(&self.query))
            .finish_non_exhaustive()
    }
}
