//! Diagnostic views: the next provider request of a session, and statistics of the System Context
//! of a Location.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::model::ModelRef;
use crate::record::Record;

/// The request that the next Provider Turn of a session would send.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProviderRequestView {
    /// Name of the agent. The agent may not exist.
    pub agent: String,
    /// Model, by its name on the wire.
    pub model: ModelRef,
    /// Context Epoch of the request.
    pub epoch: ContextEpochView,
    /// Session History that the request repeats.
    pub history: HistoryView,
    /// Names of the tools that the request offers.
    pub tools: Vec<String>,
    /// Size of the request in relation to the limits of its model.
    pub estimate: RequestEstimate,
    /// Cacheable prefix of the request.
    pub prefix: RequestPrefix,
    /// The request in a provider-independent form.
    pub request: CanonicalRequest,
}

/// The Context Epoch that a request belongs to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ContextEpochView {
    /// Baseline System Context: the exact text that the request sends.
    pub baseline: String,
    /// Sequence of the newest event of the session when the baseline was created.
    pub baseline_seq: u64,
    /// Context Sources, in the order in which the System Context contains them.
    pub sources: Vec<ContextSourceView>,
}

/// A Context Source, as the host observed it for this inspection.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ContextSourceView {
    /// Key of the Context Source.
    pub key: String,
    /// Comparison with the state that the model received last.
    pub state: ContextSourceState,
    /// Size in bytes of its text in a baseline. 0 if it has no text.
    pub bytes: u64,
}

/// The comparison of a Context Source with the state that the model received last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ContextSourceState {
    /// The model has the current value, or receives it in the baseline of this request.
    Current,
    /// The request contains an update with the change.
    Changed,
    /// The host cannot observe the source now. The last value that the model received stays in
    /// force.
    Unavailable,
    /// The source has no text.
    Absent,
}

/// The Session History that a request repeats, from the newest checkpoint on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct HistoryView {
    /// Sequence of the first message. Absent if there is no message.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub from_seq: Option<u64>,
    /// Sequence of the last message. Absent if there is no message. A message that the request
    /// itself would make visible has the sequence that it would receive.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub to_seq: Option<u64>,
    /// Number of messages.
    pub messages: u64,
}

/// The size of a request in relation to the limits of its model, in tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RequestEstimate {
    /// Estimated size of the request: a quarter of the length of its JSON text.
    pub tokens: u64,
    /// Context window of the model. 0 if unknown.
    pub window: u64,
    /// Part of the window that the host keeps free. If a request leaves less, the host compacts the
    /// session first.
    pub reserve: u64,
}

/// The cacheable prefix of a request: its system text and its messages in the form of the protocol,
/// without the closing characters of the last message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RequestPrefix {
    /// SHA-256 of the prefix, 64 hexadecimal digits.
    pub sha256: String,
    /// Length of the prefix in bytes.
    pub bytes: u64,
}

/// A request in a provider-independent form. `<redacted>` replaces secrets. The address and the
/// headers are omitted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CanonicalRequest {
    /// System text, in parts.
    pub system: Vec<String>,
    /// Messages, oldest first.
    pub messages: Vec<Record>,
    /// Tools that the request offers.
    pub tools: Vec<Record>,
    /// `none` if the model may not use tools.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub tool_choice: Option<String>,
    /// Sampling options under `generation`, Model Request Options by namespace under `provider`,
    /// and members that the host adds to the body verbatim under `body`.
    pub options: Record,
}

/// Statistics of the System Context of a Location since the host was opened.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ContextMetrics {
    /// Observations of the Context Sources, one for each Safe Provider-Turn Boundary.
    pub observations: ObservationMetrics,
    /// Context Sources that could not be observed, by key.
    pub unavailable: Vec<UnavailableSource>,
    /// Number of boundaries that repeated the observation because the session advanced, or its
    /// epoch was replaced, in the meantime.
    pub contention: u64,
    /// Baselines of epochs that began.
    pub baselines: TextMetrics,
    /// Mid-Conversation System Messages that contained updates.
    pub updates: TextMetrics,
}

/// Durations of observations, in microseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ObservationMetrics {
    /// Number of observations.
    pub count: u64,
    /// Duration of the last observation.
    pub last_micros: u64,
    /// Longest duration.
    pub max_micros: u64,
    /// Sum of all durations.
    pub total_micros: u64,
}

/// A Context Source that could not be observed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UnavailableSource {
    /// Key of the Context Source.
    pub key: String,
    /// Number of failed observations.
    pub count: u64,
}

/// Sizes of texts that models received.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TextMetrics {
    /// Number of texts.
    pub count: u64,
    /// Size of the last text in bytes.
    pub last_bytes: u64,
    /// Size of all texts in bytes.
    pub total_bytes: u64,
}
