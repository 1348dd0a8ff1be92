//! Questions that a model asks people while it works.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::id::{MessageID, QuestionID, SessionID};

/// Questions that wait for their answers together.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct QuestionRequest {
    /// Its id.
    pub id: QuestionID,
    /// The session they are asked in.
    #[serde(rename = "sessionID")]
    pub session_id: SessionID,
    /// The questions.
    pub questions: Vec<QuestionInfo>,
    /// The tool call that asks.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub tool: Option<QuestionTool>,
}

/// One question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct QuestionInfo {
    /// The question in full.
    pub question: String,
    /// The same in a few words.
    pub header: String,
    /// The answers to choose from.
    pub options: Vec<QuestionOption>,
    /// Whether more than one may be chosen.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub multiple: Option<bool>,
    /// Whether another answer than those may be given.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub custom: Option<bool>,
}

/// An answer to choose.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct QuestionOption {
    /// The answer, and what is given back when it is chosen.
    pub label: String,
    /// What it means.
    pub description: String,
}

/// The tool call that asks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct QuestionTool {
    /// Its message.
    #[serde(rename = "messageID")]
    pub message_id: MessageID,
    /// The call within the message.
    #[serde(rename = "callID")]
    pub call_id: String,
}

/// The labels that were chosen for one question.
pub type QuestionAnswer = Vec<String>;

/// The answers to all questions of a request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct QuestionReply {
    /// One list of labels for each question, in the order of the questions.
    pub answers: Vec<QuestionAnswer>,
}

/// The answers to a request, as everybody is told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct QuestionReplied {
    /// The session.
    #[serde(rename = "sessionID")]
    pub session_id: SessionID,
    /// The request.
    #[serde(rename = "requestID")]
    pub request_id: QuestionID,
    /// One list of labels for each question, in the order of the questions.
    pub answers: Vec<QuestionAnswer>,
}

/// That a request is not answered, as everybody is told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct QuestionRejected {
    /// The session.
    #[serde(rename = "sessionID")]
    pub session_id: SessionID,
    /// The request.
    #[serde(rename = "requestID")]
    pub request_id: QuestionID,
}
