//! What can be looked at of how requests come about: the next one of a session, and how the System
//! Context of a Location fares.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::model::ModelRef;
use crate::record::Record;

/// The request that the next Provider Turn of a session would send.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProviderRequestView {
    /// The agent's name, whether or not there is such an agent.
    pub agent: String,
    /// The model, by its name on the wire.
    pub model: ModelRef,
    /// What the model is told of its surroundings.
    pub epoch: ContextEpochView,
    /// The Session History that the request repeats.
    pub history: HistoryView,
    /// The names of the tools on offer.
    pub tools: Vec<String>,
    /// How large the request is for its model.
    pub estimate: RequestEstimate,
    /// Its cacheable prefix.
    pub prefix: RequestPrefix,
    /// The request itself, in the words of no provider.
    pub request: CanonicalRequest,
}

/// The Context Epoch that a request belongs to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ContextEpochView {
    /// The Baseline System Context: the exact text that is sent.
    pub baseline: String,
    /// The newest event of the session when the baseline was made.
    pub baseline_seq: u64,
    /// The Context Sources, in the order in which they are told.
    pub sources: Vec<ContextSourceView>,
}

/// A Context Source, as it was observed for this look.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ContextSourceView {
    /// Its key.
    pub key: String,
    /// How it compares with what the model was told.
    pub state: ContextSourceState,
    /// Bytes of what it tells as a part of a baseline; 0 if it tells nothing.
    pub bytes: u64,
}

/// How a Context Source compares with what the model was told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ContextSourceState {
    /// The model knows what holds, or learns it from the baseline of this very request.
    Current,
    /// The request tells what has changed.
    Changed,
    /// It cannot be observed now; what the model was told stays in force.
    Unavailable,
    /// It has nothing to tell.
    Absent,
}

/// The Session History that a request repeats: from the newest checkpoint on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct HistoryView {
    /// Sequence of the first message; absent if there is none.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub from_seq: Option<u64>,
    /// Sequence of the last message; absent if there is none. One that the request itself would
    /// make visible has the sequence that it would get.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub to_seq: Option<u64>,
    /// How many messages of the session they are.
    pub messages: u64,
}

/// How large a request is for its model, in tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RequestEstimate {
    /// What it is estimated to have: a quarter of the length of its JSON text.
    pub tokens: u64,
    /// The model's window; 0 if nobody knows.
    pub window: u64,
    /// What is kept free of it. A request that leaves less is compacted for.
    pub reserve: u64,
}

/// The cacheable prefix of a request: its system text and its messages as the protocol writes them,
/// without what closes the last of them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RequestPrefix {
    /// SHA-256 of its bytes, 64 hexadecimal digits.
    pub sha256: String,
    /// How many they are.
    pub bytes: u64,
}

/// A request in the words of no provider. `<redacted>` stands for secrets; address and headers are
/// left out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CanonicalRequest {
    /// The system text, in its parts.
    pub system: Vec<String>,
    /// The messages, oldest first.
    pub messages: Vec<Record>,
    /// The tools on offer.
    pub tools: Vec<Record>,
    /// `none` where the model may use no tool.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub tool_choice: Option<String>,
    /// Sampling under `generation`, Model Request Options by namespace under `provider`, and under
    /// `body` what is added to the body verbatim.
    pub options: Record,
}

/// How the System Context of a Location has fared since the host was opened.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ContextMetrics {
    /// Looks at the Context Sources, one per Safe Provider-Turn Boundary.
    pub observations: ObservationMetrics,
    /// Sources that could not be observed, by key.
    pub unavailable: Vec<UnavailableSource>,
    /// Boundaries that had to look again because the session moved, or its epoch was replaced,
    /// meanwhile.
    pub contention: u64,
    /// The baselines of epochs that began.
    pub baselines: TextMetrics,
    /// The Mid-Conversation System Messages that told what had changed.
    pub updates: TextMetrics,
}

/// How long observations took, in microseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ObservationMetrics {
    /// How many there were.
    pub count: u64,
    /// The last one.
    pub last_micros: u64,
    /// The longest.
    pub max_micros: u64,
    /// All together.
    pub total_micros: u64,
}

/// A Context Source that could not be observed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UnavailableSource {
    /// Its key.
    pub key: String,
    /// How often.
    pub count: u64,
}

/// Texts that models were told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TextMetrics {
    /// How many there were.
    pub count: u64,
    /// Bytes of the last one.
    pub last_bytes: u64,
    /// Bytes of all together.
    pub total_bytes: u64,
}
