//! Announcements of changed messages and parts. The host derives them from committed events.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::clock::Millis;
use crate::display::DisplayText;
use crate::id::{MessageID, SessionID};
use crate::message::{AssistantPart, SessionMessage, SpanTime, ToolState};
use crate::session::FileDiff;

/// The payload of the announcement of a new or changed message.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct MessageUpdated {
    /// Id of the session.
    #[serde(rename = "sessionID")]
    pub session_id: SessionID,
    /// The message without its parts: the `content` of an assistant message is empty, and its
    /// metadata lacks `textProviderMetadata`. `message.part.updated` has the parts.
    pub info: SessionMessage,
    /// The agent of an answer, or `compaction` for a summary.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub mode: Option<String>,
    /// The directories of an answer.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub path: Option<MessagePath>,
    /// True for a summary of a compaction. Absent for other messages.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub summary: Option<bool>,
}

/// The directories in which an answer works.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct MessagePath {
    /// Working directory of the session.
    pub cwd: String,
    /// Root of the worktree, or of the file system outside of repositories.
    pub root: String,
}

/// The payload of the announcement of a removed message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct MessageRemoved {
    /// Id of the session.
    #[serde(rename = "sessionID")]
    pub session_id: SessionID,
    /// Id of the message. Its parts are removed with it.
    #[serde(rename = "messageID")]
    pub message_id: MessageID,
}

/// The payload of the announcement of a new or changed part.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct MessagePartUpdated {
    /// Id of the session.
    #[serde(rename = "sessionID")]
    pub session_id: SessionID,
    /// Id of the assistant message with the part.
    #[serde(rename = "messageID")]
    pub message_id: MessageID,
    /// Position of the part in the `content` of its message, from 0 on. Ids of parts may repeat.
    pub index: u32,
    /// The part after the change.
    pub part: AssistantPart,
    /// Time of the change.
    pub time: Millis,
    /// Text that an unfinished part gained since its last announcement. Absent when a part begins, when it ends, and if a
    /// secret was removed from the text before: then `part` alone has the text.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub delta: Option<String>,
    /// Start and end of a text, which its part does not have.
    #[serde(rename = "partTime", skip_serializing_if = "Option::is_none", default)]
    pub part_time: Option<SpanTime>,
    /// One line about a tool call: the first text of its arguments that names what it is about.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub title: Option<String>,
    /// True for a text that models never read, because it is blank.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub ignored: Option<bool>,
}

/// Members of the arguments that name what a call is about, the most telling first.
const TITLES: [&str; 8] = [
    "description",
    "title",
    "path",
    "pattern",
    "url",
    "query",
    "name",
    "command",
];

/// Maximum number of characters of a title.
const MAX_TITLE: usize = 100;

impl MessagePartUpdated {
    /// Name of the announcement.
    pub const NAME: &str = "message.part.updated";

    /// Adds what follows from the part: the title of a call, and if a text is ignored.
    #[must_use]
    pub fn described(mut self) -> Self {
        match &self.part {
            AssistantPart::Tool { state, .. } => self.title = title_of(state),
            AssistantPart::Text { text, .. } => {
                let has_ended = self.part_time.is_some_and(|time| time.completed.is_some());
                self.ignored = (has_ended && text.trim().is_empty()).then_some(true);
            }
            AssistantPart::Reasoning { .. } => {}
        }
        self
    }
}

fn title_of(state: &ToolState) -> Option<String> {
    let input = match state {
        ToolState::Pending { .. } => return None,
        ToolState::Running { input, .. }
        | ToolState::Completed { input, .. }
        | ToolState::Error { input, .. } => input,
    };
    let texts = TITLES.iter().filter_map(|name| input.get(*name)?.as_str());
    let mut lines = texts.filter_map(|text| text.lines().map(str::trim).find(|it| !it.is_empty()));
    let title: String = lines.next()?.chars().take(MAX_TITLE).collect();
    Some(DisplayText::line(title).into_string())
}

/// The payload of the announcement of a removed part.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct MessagePartRemoved {
    /// Id of the session.
    #[serde(rename = "sessionID")]
    pub session_id: SessionID,
    /// Id of the assistant message that had the part.
    #[serde(rename = "messageID")]
    pub message_id: MessageID,
    /// Id of the part.
    #[serde(rename = "partID")]
    pub part_id: String,
    /// Position that the part had in the `content` of its message.
    pub index: u32,
}

/// The payload of the announcement of the files that the steps of a session changed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct SessionDiffed {
    /// Id of the session.
    #[serde(rename = "sessionID")]
    pub session_id: SessionID,
    /// Differences from the first to the newest step that changed files.
    pub diff: Vec<FileDiff>,
}

impl SessionDiffed {
    /// Name of the announcement.
    pub const NAME: &str = "session.diff";
}

/// The payload of the announcement of a compaction that ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct SessionCompacted {
    /// Id of the session.
    #[serde(rename = "sessionID")]
    pub session_id: SessionID,
}
