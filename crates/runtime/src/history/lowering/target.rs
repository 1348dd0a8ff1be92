//! The model for which history is lowered.

use opencode_llm::HostedResults;
use opencode_schema::message::{AssistantMessage, AssistantPart};

/// The model that receives the messages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Target {
    pub(crate) provider_id: String,
    /// The model name in requests, which steps record.
    pub(crate) wire_id: String,
    /// True if the model calls tools. Otherwise it receives past calls as text: no tools are offered to it, and servers
    /// refuse a call of a tool that is not offered.
    pub(crate) calls_tools: bool,
    /// True if its agent may use `task`.
    pub(crate) delegates: bool,
    /// The rule for calls that its provider ran.
    pub(crate) hosted: HostedResults,
}

impl Target {
    /// True if the calls of an answer that its provider ran may be replaced with text.
    pub(crate) fn may_replace_hosted(&self, answer: &AssistantMessage) -> bool {
        let is_reasoning = |part: &AssistantPart| matches!(part, AssistantPart::Reasoning { .. });
        !self.wrote(answer)
            || self
                .hosted
                .may_replace(answer.content.iter().any(is_reasoning))
    }

    pub(super) fn wrote(&self, answer: &AssistantMessage) -> bool {
        answer.model.provider_id == self.provider_id && answer.model.id == self.wire_id
    }
}
