//! The canonical request, independent of the provider.

mod input_schema;
mod message;
mod output;
mod prefix;
mod tool;

use std::fmt;
use std::sync::Arc;

use serde::Serialize;
use serde_json::Value;

pub use input_schema::InputSchema;
pub use input_schema::SchemaForm;
pub use message::{
    Media, Message, Part, ReasoningPart, Role, TextPart, ToolCallPart, ToolResultPart,
};
pub use output::OutputFormat;
pub use prefix::PrefixCache;
pub use tool::{ToolChoice, ToolContent, ToolDefinition, ToolResultValue};

use crate::canonical::json::deep_merge;
use crate::canonical::model::ResolvedModel;
use opencode_secrets::Fields;

/// A JSON object that preserves the order of its members.
pub type JsonMap = serde_json::Map<String, Value>;

/// One request of a Provider Turn.
#[derive(Clone, Debug)]
pub struct LlmRequest {
    /// The model to call.
    pub model: Arc<ResolvedModel>,
    /// System text, in order. Empty parts are ignored.
    pub system: Vec<SystemPart>,
    /// The conversation, oldest message first. Shared with the caller, which appends messages for
    /// the next request after it sends this one.
    pub messages: Arc<Vec<Message>>,
    /// A last message that only this request contains. It is not part of the conversation, and the
    /// next request does not repeat it.
    pub closing: Option<Message>,
    /// The tools that the model may call.
    pub tools: Arc<[ToolDefinition]>,
    /// The choice of the tool. If absent, the default of the provider applies.
    pub tool_choice: Option<ToolChoice>,
    /// The format of the answer, for a model with [structured output](crate::Capabilities). Other
    /// models ignore it.
    pub output: Option<OutputFormat>,
    /// Sampling controls of this request. They override those of the model.
    pub generation: GenerationControls,
    /// Upper limit of the tokens that a protocol requests for the answer where it must request a number and no control
    /// has one. `None` for the limit of the model alone.
    pub usual_output: Option<u64>,
    /// Model Request Options of this request by namespace. They override those of the model.
    pub provider_options: JsonMap,
    /// Additional wire data of this request.
    pub http: HttpOverlay,
    /// The key by which a server may group the requests of one conversation, in protocols that have
    /// a field for it.
    pub cache_key: Option<String>,
    /// True for work that no user asked for directly: that of a child session, a summary or a title. Some servers count
    /// such requests in another way.
    pub is_by_agent: bool,
    /// The cached wire form of earlier requests of the same conversation. If every request of a
    /// conversation uses the same handle, the unchanged prefix is not written again.
    pub prefix: PrefixCache,
}

impl LlmRequest {
    /// Creates an empty request to a model.
    #[must_use]
    pub fn new(model: Arc<ResolvedModel>) -> Self {
        Self {
            model,
            system: Vec::new(),
            messages: Arc::default(),
            closing: None,
            tools: Arc::from([]),
            tool_choice: None,
            output: None,
            generation: GenerationControls::default(),
            usual_output: None,
            provider_options: JsonMap::new(),
            http: HttpOverlay::default(),
            cache_key: None,
            is_by_agent: false,
            prefix: PrefixCache::default(),
        }
    }

    /// Returns the sampling controls in effect: each field from the request, or from the model if
    /// the request does not set it.
    #[must_use]
    pub fn effective_generation(&self) -> GenerationControls {
        self.model.generation.overridden_by(&self.generation)
    }

    /// Returns the number of tokens to request for the answer if a protocol must name one. `None` if neither a control nor
    /// the model has a limit.
    pub fn answer_tokens(&self) -> Option<u64> {
        let limit = Some(self.model.limits.output).filter(|limit| *limit > 0);
        let usual = limit.map(|limit| limit.min(self.usual_output.unwrap_or(limit)));
        self.effective_generation().max_tokens.or(usual)
    }

    /// Returns the Model Request Options in effect for one namespace.
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

    /// Returns the body overlay in effect.
    #[must_use]
    pub fn effective_overlay(&self) -> JsonMap {
        let mut overlay = self.model.body.clone();
        deep_merge(&mut overlay, &self.http.body);
        overlay
    }
}

/// One piece of system text. The text is shared, because a baseline is long and is part of every request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SystemPart {
    /// The text.
    pub text: Arc<str>,
}

impl SystemPart {
    /// Creates a piece of system text.
    #[must_use]
    pub fn new(text: impl Into<Arc<str>>) -> Self {
        Self { text: text.into() }
    }
}

/// Provider-neutral sampling and output controls.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GenerationControls {
    /// Maximum number of output tokens.
    pub max_tokens: Option<u64>,
    /// Sampling temperature.
    pub temperature: Option<f64>,
    /// Nucleus sampling.
    pub top_p: Option<f64>,
    /// Sampling from the k most likely tokens.
    pub top_k: Option<u64>,
    /// Penalty that grows with the frequency of a token.
    pub frequency_penalty: Option<f64>,
    /// Penalty for tokens that have already occurred.
    pub presence_penalty: Option<f64>,
    /// Seed for repeatable sampling.
    pub seed: Option<i64>,
    /// Texts that stop the answer.
    pub stop: Option<Vec<String>>,
}

impl GenerationControls {
    /// Returns these controls. Every field that `over` sets is replaced.
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

/// Additional wire data that the adapter does not interpret. `Debug` hides secrets.
#[derive(Clone, Default, PartialEq)]
pub struct HttpOverlay {
    /// Members that are merged into the body last. Members that the adapter owns are refused.
    pub body: JsonMap,
    /// Headers. They replace those of the model.
    pub headers: Vec<(String, String)>,
    /// Query parameters. They follow those of the model.
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
