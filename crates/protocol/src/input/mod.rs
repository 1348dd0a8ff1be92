//! The input of callers: the fields of paths, queries and bodies.

mod lifecycle;

use std::collections::BTreeMap;

use opencode_schema::Record;
use opencode_schema::file_system::FileSystemEntryType;
use opencode_schema::id::{MessageID, PermissionID, PtyID, QuestionID, SessionID, WorkspaceID};
use opencode_schema::location::LocationRef;
use opencode_schema::mcp::McpServerDescription;
use opencode_schema::model::ModelRef;
use opencode_schema::permission::{PermissionReply, PermissionSource};
use opencode_schema::prompt::{Delivery, PromptInput, PromptInputFileAttachment, PromptOutput};
use schemars::JsonSchema;
use serde::Deserialize;

pub use self::lifecycle::*;
use crate::cursor::{MessagesCursor, SessionsCursor};
pub use crate::page::Order;

/// No fields.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
pub struct Nothing {}

/// The path of a session and of everything in it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
pub struct SessionParams {
    /// The session.
    #[serde(rename = "sessionID")]
    pub session_id: SessionID,
}

/// The path of a message.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
pub struct MessageParams {
    /// The session.
    #[serde(rename = "sessionID")]
    pub session_id: SessionID,
    /// The message.
    #[serde(rename = "messageID")]
    pub message_id: MessageID,
}

/// The path of a prompt in the inbox of a session.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
pub struct InputParams {
    /// The session.
    #[serde(rename = "sessionID")]
    pub session_id: SessionID,
    /// The prompt. Its id is the id of its later message.
    #[serde(rename = "messageID")]
    pub message_id: MessageID,
}

/// Selects the Location of a request.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
pub struct LocationSelection {
    /// The Location. Default: the Location of the host.
    pub location: Option<LocationQuery>,
}

/// A Location in the form of queries.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
pub struct LocationQuery {
    /// Absolute path of the directory.
    pub directory: Option<String>,
    /// Reserved for placement.
    pub workspace: Option<WorkspaceID>,
}

/// The selection and the order of sessions.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
pub struct SessionsQuery {
    /// Only sessions of this workspace.
    pub workspace: Option<WorkspaceID>,
    /// Number of items of a Page, from 1 to 1000. Default: 50. A larger number counts as 1000.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub limit: Option<u64>,
    /// Order by time of creation. Default: `desc`.
    pub order: Option<Order>,
    /// Only sessions whose title contains this text, without regard to ASCII case.
    pub search: Option<String>,
    /// Only sessions of this directory. Takes precedence over `project`.
    pub directory: Option<String>,
    /// Only sessions of this project.
    pub project: Option<String>,
    /// Only sessions in this directory of the project. The path is relative to the root of the project.
    pub subpath: Option<String>,
    /// `true` selects archived sessions, `false` all others. Default: both.
    pub archived: Option<bool>,
    /// `true` selects sessions without a parent. Default: all sessions.
    pub roots: Option<bool>,
    /// Only sessions with this parent.
    #[serde(rename = "parentID")]
    pub parent_id: Option<SessionID>,
    /// The cursor of a Page, to continue there.
    pub cursor: Option<SessionsCursor>,
}

/// The query of a list of messages.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
pub struct MessagesQuery {
    /// Number of items of a Page. Default: 50.
    #[schemars(range(min = 1, max = 200))]
    pub limit: Option<u32>,
    /// Order by sequence. Default: `desc`.
    pub order: Option<Order>,
    /// The cursor of a Page, to continue there.
    pub cursor: Option<MessagesCursor>,
}

/// The part of the log of a session.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
pub struct HistoryQuery {
    /// Maximum number of events. Default: 50.
    #[schemars(range(max = 100), extend("exclusiveMinimum" = 0))]
    pub limit: Option<u32>,
    /// Only events with a greater sequence. Default: all events.
    pub after: Option<u64>,
}

/// The start of the durable stream of a session.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
pub struct EventsQuery {
    /// Only events with a greater sequence. Default: all events.
    pub after: Option<u64>,
}

/// The steps whose changes are compared.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
pub struct DiffQuery {
    /// Only the step of this answer, or the steps of this prompt. Default: all steps.
    #[serde(rename = "messageID")]
    pub message_id: Option<MessageID>,
}

/// The selection of the events of a host.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
pub struct SubscribeQuery {
    /// Only events of these types. A type is the name of an event, or its beginning such as `session.*`. Default: all
    /// events but `session.compacted`, `message.updated`, `message.removed`, `message.part.updated` and
    /// `message.part.removed`. `server.connected`, `server.heartbeat` and `global.disposed` always arrive.
    pub types: Option<Vec<String>>,
    /// Only events of this session. Default: events of all sessions and of the host.
    #[serde(rename = "sessionID")]
    pub session_id: Option<SessionID>,
}

/// The prompt to admit.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
pub struct PromptPayload {
    /// Id that the caller chooses for the prompt and its message. It begins with `msg_`.
    pub id: Option<MessageID>,
    /// The prompt.
    pub prompt: PromptInput,
    /// Delivery of the prompt. Default: `steer`.
    pub delivery: Option<Delivery>,
    /// `false` admits the prompt without waking the session.
    pub resume: Option<bool>,
    /// System text about this request of the user alone, at most 256 KiB. The model reads it directly before the prompt.
    pub system: Option<String>,
    /// Tools of the activity by name, at most 1,000. `false` removes a tool, `true` keeps it. A name may contain `*`,
    /// which stands for any characters. The name of the tool itself has priority, then the longest name with `*`. A tool
    /// that the rules of the agent deny stays denied.
    #[serde(default)]
    #[schemars(with = "BTreeMap<String, bool>")]
    pub tools: Option<BTreeMap<String, bool>>,
    /// The agent of the activity. The agent of the session stays the same.
    pub agent: Option<String>,
    /// The model of the activity. The model of the session stays the same.
    pub model: Option<ModelRef>,
    /// The variant of the model of the activity.
    pub variant: Option<String>,
    /// The structured output that the activity must produce. Its schema has at most 64 KiB.
    pub output: Option<PromptOutput>,
    /// `false` leaves mentions in the text, such as `@src/main.ts`, as plain text. Default: `true`.
    pub mentions: Option<bool>,
}

/// The command to run.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
pub struct CommandPayload {
    /// Id that the caller chooses for the prompt and its message. It begins with `msg_`.
    pub id: Option<MessageID>,
    /// Name of the command, without a slash at its beginning.
    pub command: String,
    /// The arguments, as a user writes them after the name. At most 64 KiB. Default: none.
    pub arguments: Option<String>,
    /// The agent that answers. Default: the agent of the command, else that of the session.
    pub agent: Option<String>,
    /// The model that answers. Default: the model of the command, else that of the session.
    pub model: Option<ModelRef>,
    /// Files to attach to the prompt.
    pub files: Option<Vec<PromptInputFileAttachment>>,
    /// Delivery of the prompt. Default: `steer`.
    pub delivery: Option<Delivery>,
    /// `false` admits the prompt without waking the session.
    pub resume: Option<bool>,
}

/// The change of the delivery of a prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
pub struct SetDeliveryPayload {
    /// New delivery of the prompt.
    pub delivery: Delivery,
}

/// The new place of a session.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
pub struct MovePayload {
    /// The new Location of the session, in the same project.
    pub location: LocationRef,
}

/// The new agent of a session.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
pub struct SwitchAgentPayload {
    /// The name of the agent. The host looks it up when a turn uses it.
    pub agent: String,
}

/// The new model of a session.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
pub struct SwitchModelPayload {
    /// The model. The host looks it up when a turn uses it.
    pub model: ModelRef,
}

/// The boundary of a revert.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
pub struct RevertStagePayload {
    /// The message to revert to. It stays. Later messages are reverted. An answer means the prompt before it, unless
    /// `exact` is `true`.
    #[serde(rename = "messageID")]
    pub message_id: MessageID,
    /// A part of this message, if it is an assistant message. The part and all later parts are reverted, too. If no text
    /// and no tool call is before it, it means the whole message.
    #[serde(rename = "partID")]
    pub part_id: Option<String>,
    /// `true` keeps an answer that is the boundary. Default: `false`.
    pub exact: Option<bool>,
    /// `false` does not change files.
    pub files: Option<bool>,
}

/// The path of a permission request.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
pub struct PermissionParams {
    /// The session.
    #[serde(rename = "sessionID")]
    pub session_id: SessionID,
    /// The request.
    #[serde(rename = "requestID")]
    pub request_id: PermissionID,
}

/// A request for a permission.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
pub struct PermissionCreatePayload {
    /// Id that the caller chooses for the request. It begins with `per`.
    pub id: Option<PermissionID>,
    /// The action to allow.
    pub action: String,
    /// The resources of the action. An empty list means every resource.
    pub resources: Vec<String>,
    /// The patterns that an answer of `always` saves.
    pub save: Option<Vec<String>>,
    /// Details that help the user to decide.
    pub metadata: Option<Record>,
    /// Origin of the request.
    pub source: Option<PermissionSource>,
    /// The agent whose rules apply. Default: the agent of the session.
    pub agent: Option<String>,
}

/// An answer to a permission request.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
pub struct PermissionReplyPayload {
    /// The answer.
    pub reply: PermissionReply,
    /// Text for the model if the answer is `reject`. Without a text, the activity ends.
    pub message: Option<String>,
}

/// The owner of the saved permissions.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
pub struct SavedPermissionsQuery {
    /// The project. Default: all projects for the embedding program, else the project of the Location.
    #[serde(rename = "projectID")]
    pub project_id: Option<String>,
}

/// The path of a saved permission.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
pub struct SavedPermissionParams {
    /// The saved permission.
    pub id: String,
}

/// The path of a request with questions.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
pub struct QuestionParams {
    /// The session.
    #[serde(rename = "sessionID")]
    pub session_id: SessionID,
    /// The request.
    #[serde(rename = "requestID")]
    pub request_id: QuestionID,
}

/// The path of a provider.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
pub struct ProviderParams {
    /// The provider.
    #[serde(rename = "providerID")]
    pub provider_id: String,
}

/// The path of a file.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
pub struct FilesReadParams {
    /// Path relative to the Location.
    pub path: String,
}

/// The directory to list.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
pub struct FilesListQuery {
    /// The Location. Default: the Location of the host.
    pub location: Option<LocationQuery>,
    /// Path of the directory relative to the Location. Default: the Location itself.
    pub path: Option<String>,
}

/// The query of a file search.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
pub struct FilesFindQuery {
    /// The Location. Default: the Location of the host.
    pub location: Option<LocationQuery>,
    /// Text to compare with the paths. It may be empty.
    pub query: String,
    /// Only entries of this type.
    pub r#type: Option<FileSystemEntryType>,
    /// Maximum number of entries, from 1 to 1000. Default: 50.
    #[schemars(range(min = 1))]
    pub limit: Option<u32>,
}

/// The path of a terminal.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
pub struct PtyParams {
    /// The terminal.
    #[serde(rename = "ptyID")]
    pub pty_id: PtyID,
}

/// The program of a terminal.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
pub struct PtyCreatePayload {
    /// The program. Default: the shell.
    pub command: Option<String>,
    /// Arguments of the program.
    pub args: Option<Vec<String>>,
    /// The working directory. Default: the directory of the Location.
    pub cwd: Option<String>,
    /// Title of the terminal.
    pub title: Option<String>,
    /// Environment variables, in addition to the variables of the host.
    pub env: Option<BTreeMap<String, String>>,
}

/// Changes of a terminal.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
pub struct PtyUpdatePayload {
    /// The new title.
    pub title: Option<String>,
    /// The new size.
    pub size: Option<PtySize>,
}

/// The size of a terminal, in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
pub struct PtySize {
    /// Lines.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub rows: u16,
    /// Characters per line.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub cols: u16,
}

/// The query of a connection to a terminal.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
pub struct PtyConnectQuery {
    /// The Location. Default: the Location of the host.
    pub location: Option<LocationQuery>,
    /// The first character of the output. Default: all stored output. `-1` selects only new output.
    pub cursor: Option<String>,
    /// A ticket, which replaces credentials.
    pub ticket: Option<String>,
}

/// The path of a service that needs credentials.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
pub struct IntegrationParams {
    /// The service.
    #[serde(rename = "integrationID")]
    pub integration_id: String,
}

/// A key for a service.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
pub struct ConnectKeyPayload {
    /// The key.
    pub key: String,
    /// Name of the credential for users.
    pub label: Option<String>,
}

/// The input of a connection to a service in a browser.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
pub struct ConnectOauthPayload {
    /// The method of the service.
    #[serde(rename = "methodID")]
    pub method_id: String,
    /// Values that the host needs before it starts the method.
    pub inputs: BTreeMap<String, String>,
    /// Name of the credential for users.
    pub label: Option<String>,
}

/// A server of the Model Context Protocol for a Location.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
pub struct McpAddPayload {
    /// Name of the server.
    pub name: String,
    /// Description of the server.
    pub config: McpServerDescription,
}

/// The path of a server of the Model Context Protocol.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
pub struct McpServerParams {
    /// Name of the server.
    pub name: String,
}

/// The path of an attempt to connect.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
pub struct AttemptParams {
    /// The attempt.
    #[serde(rename = "attemptID")]
    pub attempt_id: String,
}

/// The completion of an attempt to connect.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
pub struct CompleteAttemptPayload {
    /// The code that the page has shown.
    pub code: Option<String>,
}

/// The path of a credential.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
pub struct CredentialParams {
    /// The credential.
    #[serde(rename = "credentialID")]
    pub credential_id: String,
}

/// Changes of a credential.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
pub struct CredentialUpdatePayload {
    /// The new name for users.
    pub label: String,
}
