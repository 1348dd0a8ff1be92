//! The shape of a piece of a response. Every member may be missing, null or of another type.

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::loose::{Flag, Id, Loose, Members, Prose, Values};
use crate::loose_objects::{Many, One};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Response<'a> {
    #[serde(default)]
    pub(super) candidates: One<Candidate>,
    #[serde(default)]
    pub(super) prompt_feedback: One<Feedback>,
    #[serde(borrow, default)]
    pub(super) usage_metadata: Option<&'a RawValue>,
    #[serde(default)]
    pub(super) error: Option<Value>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Candidate {
    #[serde(default)]
    pub(super) content: One<Content>,
    #[serde(default)]
    pub(super) finish_reason: Loose,
    #[serde(default)]
    pub(super) finish_message: Prose,
    #[serde(default)]
    pub(super) grounding_metadata: Members,
    #[serde(default)]
    pub(super) url_context_metadata: Members,
    #[serde(default)]
    pub(super) citation_metadata: Members,
}

#[derive(Deserialize)]
pub(super) struct Content {
    #[serde(default)]
    pub(super) parts: Many<Part>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Part {
    #[serde(default)]
    pub(super) text: Prose,
    #[serde(default)]
    pub(super) thought: Flag,
    #[serde(default)]
    pub(super) thought_signature: Loose,
    #[serde(default)]
    pub(super) function_call: Many<FunctionCall>,
    #[serde(default)]
    pub(super) executable_code: Members,
    #[serde(default)]
    pub(super) code_execution_result: Members,
    #[serde(default)]
    pub(super) inline_data: One<InlineData>,
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
    pub(super) id: Id,
    #[serde(default)]
    pub(super) name: Id,
    #[serde(default)]
    pub(super) args: Option<Value>,
    #[serde(default)]
    pub(super) partial_args: Values,
    #[serde(default)]
    pub(super) will_continue: Flag,
}

impl FunctionCall {
    /// True if this is a piece of a call. Servers send pieces only if the request asks for them.
    pub(super) fn is_piece(&self) -> bool {
        self.partial_args.0.iter().any(Value::is_object) || self.will_continue.0
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Feedback {
    #[serde(default)]
    pub(super) block_reason: Loose,
}
