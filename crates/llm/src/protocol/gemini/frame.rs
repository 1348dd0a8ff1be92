//! The shape of a piece of a response. Every member may be missing or null.

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::protocol::loose::Loose;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Response<'a> {
    #[serde(default)]
    pub(super) candidates: Option<Vec<Candidate>>,
    #[serde(default)]
    pub(super) prompt_feedback: Option<Feedback>,
    #[serde(borrow, default)]
    pub(super) usage_metadata: Option<&'a RawValue>,
    #[serde(default)]
    pub(super) error: Option<Value>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Candidate {
    #[serde(default)]
    pub(super) content: Option<Content>,
    #[serde(default)]
    pub(super) finish_reason: Loose,
    #[serde(default)]
    pub(super) finish_message: Loose,
    #[serde(default)]
    pub(super) grounding_metadata: Option<Value>,
    #[serde(default)]
    pub(super) url_context_metadata: Option<Value>,
    #[serde(default)]
    pub(super) citation_metadata: Option<Value>,
}

#[derive(Deserialize)]
pub(super) struct Content {
    #[serde(default)]
    pub(super) parts: Option<Vec<Part>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Part {
    #[serde(default)]
    pub(super) text: Option<String>,
    #[serde(default)]
    pub(super) thought: Option<bool>,
    #[serde(default)]
    pub(super) thought_signature: Loose,
    #[serde(default)]
    pub(super) function_call: Option<FunctionCall>,
    #[serde(default)]
    pub(super) executable_code: Option<Value>,
    #[serde(default)]
    pub(super) code_execution_result: Option<Value>,
    #[serde(default)]
    pub(super) inline_data: Option<InlineData>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct InlineData {
    #[serde(default)]
    pub(super) mime_type: Loose,
    #[serde(default)]
    pub(super) data: Loose,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct FunctionCall {
    #[serde(default)]
    pub(super) id: Loose,
    #[serde(default)]
    pub(super) name: Loose,
    #[serde(default)]
    pub(super) args: Option<Value>,
    #[serde(default)]
    pub(super) partial_args: Value,
    #[serde(default)]
    pub(super) will_continue: Value,
}

impl FunctionCall {
    /// True if this is a piece of a call. Servers send pieces only if the request asks for them.
    pub(super) fn is_piece(&self) -> bool {
        !self.partial_args.is_null() || self.will_continue == Value::Bool(true)
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Feedback {
    #[serde(default)]
    pub(super) block_reason: Loose,
}
