//! Hooks: functions of the host that change a prompt, a request or a summary, each at one moment.
//!
//! A hook that fails changes nothing: its implementation reports the failure, and the work continues without it.

use futures::FutureExt;
use futures::future::BoxFuture;
use opencode_schema::Record;
use opencode_schema::id::{MessageID, SessionID};
use opencode_schema::message::CompactionReason;
use opencode_schema::model::ModelRef;
use opencode_schema::prompt::{Delivery, PromptInput};
use serde::Serialize;

/// Changes prompts, requests and summaries.
pub trait Hooks: Send + Sync {
    /// True if [`prompt`](Self::prompt) can change a prompt.
    fn changes_prompts(&self) -> bool;

    /// Returns the prompt to admit.
    fn prompt(&self, prompt: OfferedPrompt) -> BoxFuture<'_, PromptInput>;

    /// Returns the changes of a request of a Provider Turn.
    fn request(&self, request: PreparedRequest) -> BoxFuture<'_, RequestChanges>;

    /// Returns the instructions of a summary.
    fn compaction(&self, compaction: PreparedCompaction) -> BoxFuture<'_, SummaryInstructions>;
}

/// A prompt before its admission.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct OfferedPrompt {
    /// The session.
    #[serde(rename = "sessionID")]
    pub session_id: SessionID,
    /// The id that the caller chose.
    #[serde(rename = "messageID", skip_serializing_if = "Option::is_none")]
    pub message_id: Option<MessageID>,
    /// The directory of the Location.
    pub directory: String,
    /// The delivery of the prompt.
    pub delivery: Delivery,
    /// The content of the prompt.
    pub prompt: PromptInput,
}

/// A request of a Provider Turn before it is sent.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PreparedRequest {
    /// The session.
    #[serde(rename = "sessionID")]
    pub session_id: SessionID,
    /// The directory of the Location.
    pub directory: String,
    /// The agent of the turn.
    pub agent: String,
    /// The model of the turn.
    pub model: ModelRef,
    /// True if the request is only shown and not sent.
    pub preview: bool,
}

/// The changes of a request.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RequestChanges {
    /// Headers. They replace headers with the same name.
    pub headers: Vec<(String, String)>,
    /// Settings with the names of the request settings of agents. They override those of agent and model.
    pub body: Record,
    /// Texts that follow the Baseline System Context in this request only.
    pub system: Vec<String>,
}

/// A compaction before its summary is requested.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PreparedCompaction {
    /// The session.
    #[serde(rename = "sessionID")]
    pub session_id: SessionID,
    /// The directory of the Location.
    pub directory: String,
    /// The cause of the compaction.
    pub reason: CompactionReason,
}

/// The instructions of a summary.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SummaryInstructions {
    /// Replaces the instructions of the host.
    pub prompt: Option<String>,
    /// Follow the other instructions.
    pub additional: Vec<String>,
}

/// Changes nothing.
pub struct NoHooks;

impl Hooks for NoHooks {
    fn changes_prompts(&self) -> bool {
        false
    }

    fn prompt(&self, prompt: OfferedPrompt) -> BoxFuture<'_, PromptInput> {
        std::future::ready(prompt.prompt).boxed()
    }

    fn request(&self, _request: PreparedRequest) -> BoxFuture<'_, RequestChanges> {
        std::future::ready(RequestChanges::default()).boxed()
    }

    fn compaction(&self, _compaction: PreparedCompaction) -> BoxFuture<'_, SummaryInstructions> {
        std::future::ready(SummaryInstructions::default()).boxed()
    }
}
