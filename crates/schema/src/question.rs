//! Questions that a model asks users while it works.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::id::{MessageID, QuestionID, SessionID};

/// A request with questions that are answered together.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct QuestionRequest {
    /// Id of the request.
    pub id: QuestionID,
    /// Id of the session that asks.
    #[serde(rename = "sessionID")]
    pub session_id: SessionID,
    /// The questions.
    pub questions: Vec<QuestionInfo>,
    /// Tool call that asks. Absent if no tool call asks.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub tool: Option<QuestionTool>,
}

/// One question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct QuestionInfo {
    /// Complete question.
    pub question: String,
    /// Short form of the question.
    pub header: String,
    /// Answers to choose from.
    pub options: Vec<QuestionOption>,
    /// True if the user may choose more than one answer.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub multiple: Option<bool>,
    /// True if the user may give an answer that is not in `options`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub custom: Option<bool>,
}

/// An answer to choose.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct QuestionOption {
    /// Text of the answer. The reply contains it if the user chooses the answer.
    pub label: String,
    /// Explanation of the answer.
    pub description: String,
}

/// The tool call that asks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct QuestionTool {
    /// Id of the message that contains the call.
    #[serde(rename = "messageID")]
    pub message_id: MessageID,
    /// Id of the call within the message.
    #[serde(rename = "callID")]
    pub call_id: String,
}

/// The labels that the user chose for one question.
pub type QuestionAnswer = Vec<String>;

/// The answers to all questions of a request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct QuestionReply {
    /// One list of labels for each question, in the order of the questions.
    pub answers: Vec<QuestionAnswer>,
}

/// The payload of the event that announces the answers to a request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct QuestionReplied {
    /// Id of the session.
    #[serde(rename = "sessionID")]
    pub session_id: SessionID,
    /// Id of the request.
    #[serde(rename = "requestID")]
    pub request_id: QuestionID,
    /// One list of labels for each question, in the order of the questions.
    pub answers: Vec<QuestionAnswer>,
}

/// The payload of the event that announces a request that stays unanswered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct QuestionRejected {
    /// Id of the session.
    #[serde(rename = "sessionID")]
    pub session_id: SessionID,
    /// Id of the request.
    #[serde(rename = "requestID")]
    pub request_id: QuestionID,
}
