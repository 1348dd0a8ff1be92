//! Prompts of callers, and the durable receipt of an Admitted Prompt.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::clock::Millis;
use crate::id::{MessageID, SessionID};
use crate::model::ModelRef;
use crate::record::Record;

/// The way in which an Admitted Prompt enters the session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Delivery {
    /// Joins the running activity at its next Safe Provider-Turn Boundary.
    #[default]
    Steer,
    /// Waits until the session would become idle, and then opens a new activity.
    Queue,
}

/// The range of the prompt text that represents an attachment, in UTF-16 code units.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PromptSource {
    /// First code unit.
    #[serde(serialize_with = "crate::bounded::finite")]
    pub start: f64,
    /// One past the last code unit.
    #[serde(serialize_with = "crate::bounded::finite")]
    pub end: f64,
    /// Text of the range.
    pub text: String,
}

/// A file of a prompt, as the caller supplies it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PromptInputFileAttachment {
    /// URI of the file: `data:`, `file:` or any other scheme.
    pub uri: String,
    /// Display name.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub name: Option<String>,
    /// Purpose of the file.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub description: Option<String>,
    /// Range of the text that mentions the file.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub source: Option<PromptSource>,
}

/// A file of an Admitted Prompt. The host derives the media type once, at the admission.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PromptFileAttachment {
    /// URI of the file: `data:`, `file:` or any other scheme.
    pub uri: String,
    /// Media type, from the data URI or from the name.
    pub mime: String,
    /// Display name.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub name: Option<String>,
    /// Purpose of the file.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub description: Option<String>,
    /// Range of the text that mentions the file.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub source: Option<PromptSource>,
}

/// An agent that the prompt mentions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PromptAgentAttachment {
    /// Name of the agent.
    pub name: String,
    /// Range of the text that mentions the agent.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub source: Option<PromptSource>,
}

/// A prompt, as the caller supplies it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PromptInput {
    /// Text of the prompt. It may be empty.
    pub text: String,
    /// Attached files.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub files: Option<Vec<PromptInputFileAttachment>>,
    /// Mentioned agents.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub agents: Option<Vec<PromptAgentAttachment>>,
}

/// A prompt, as the host admitted it. It never changes afterwards.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Prompt {
    /// Text of the prompt. It may be empty.
    pub text: String,
    /// Attached files with their media types.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub files: Option<Vec<PromptFileAttachment>>,
    /// Mentioned agents.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub agents: Option<Vec<PromptAgentAttachment>>,
    /// Settings of the activity that the prompt opens or joins. Absent if the caller gave none.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub settings: Option<Box<PromptSettings>>,
    /// `false` if mentions in the text are plain text. Absent if they are expanded at the Prompt Promotion.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub mentions: Option<bool>,
    /// The command that made the prompt.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub command: Option<Box<PromptCommand>>,
}

/// The command that made a prompt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PromptCommand {
    /// Name of the command.
    pub name: String,
    /// The arguments, as the caller gave them.
    pub arguments: String,
    /// The ranges of the text that come from shell commands and servers. Mentions in them are plain text.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub outputs: Vec<TextRange>,
}

/// A range of a text, in UTF-16 code units.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TextRange {
    /// First code unit.
    pub start: u64,
    /// One past the last code unit.
    pub end: u64,
}

impl TextRange {
    /// Returns the range for a range of bytes of a text.
    pub fn of(text: &str, bytes: std::ops::Range<usize>) -> Self {
        let units = |text: &str| text.encode_utf16().count() as u64;
        let start = units(&text[..bytes.start]);
        Self {
            start,
            end: start + units(&text[bytes]),
        }
    }
}

/// Settings of a prompt. They apply to the activity that the prompt opens, or that it joins as a steer, and end with
/// this activity. Agent and model of the session stay the same.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct PromptSettings {
    /// System text about this request of the user alone. The model reads it directly before the prompt.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub system: Option<String>,
    /// Tools by name. `false` removes a tool, `true` keeps it. A name may contain `*`, which stands for any characters.
    /// The name of the tool itself has priority, then the longest name with `*`. A tool that the rules of the agent deny
    /// stays denied.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub tools: Option<BTreeMap<String, bool>>,
    /// The agent of the activity.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub agent: Option<String>,
    /// The model of the activity.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub model: Option<ModelRef>,
    /// The variant of the model that the session would use otherwise. Absent if `model` is given, which has its own.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub variant: Option<String>,
    /// The structured output that the activity must produce.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub output: Option<PromptOutput>,
}

/// A structured output that the model must produce.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PromptOutput {
    /// JSON Schema of the output. Its `type` is `object`.
    pub schema: Record,
    /// Name of the output for the model: a letter, then letters, digits, `_` or `-`; at most 64 characters. Default:
    /// `structured_output`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub name: Option<String>,
    /// Number of further attempts after an invalid output, from 0 to 10. Default: 2.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    #[schemars(with = "u32", range(min = 0, max = 10))]
    pub retries: Option<u32>,
}

/// The durable receipt of an Admitted Prompt.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SessionInputAdmitted {
    /// Sequence of the admission.
    pub admitted_seq: u64,
    /// Id of the prompt, which becomes the id of the user message.
    pub id: MessageID,
    /// Id of the session.
    #[serde(rename = "sessionID")]
    pub session_id: SessionID,
    /// The prompt.
    pub prompt: Prompt,
    /// Delivery of the prompt.
    pub delivery: Delivery,
    /// Time of the admission, in epoch milliseconds.
    pub time_created: Millis,
    /// Sequence of the Prompt Promotion. Absent before the promotion.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub promoted_seq: Option<u64>,
}

impl PromptInput {
    /// Returns the admitted form: every file has its media type.
    pub fn admit(self) -> Prompt {
        let files = self
            .files
            .map(|files| files.into_iter().map(admit_file).collect());
        Prompt {
            text: self.text,
            files,
            agents: self.agents,
            settings: None,
            mentions: None,
            command: None,
        }
    }
}

fn admit_file(file: PromptInputFileAttachment) -> PromptFileAttachment {
    let mime = media_type(&file.uri, file.name.as_deref());
    let PromptInputFileAttachment {
        uri,
        name,
        description,
        source,
    } = file;
    PromptFileAttachment {
        uri,
        mime,
        name,
        description,
        source,
    }
}

/// Returns the media type of a `data:` URI, or else derives it from the path of the URL, the name
/// or the raw URI.
fn media_type(uri: &str, name: Option<&str>) -> String {
    if let Some(rest) = uri.strip_prefix("data:") {
        let head = rest.split(',').next().unwrap_or_default();
        let mime = head.split(';').next().unwrap_or_default();
        return if mime.is_empty() {
            "text/plain".into()
        } else {
            mime.to_ascii_lowercase()
        };
    }
    let path = match uri.split_once("://") {
        Some((_, rest)) => rest.split(['?', '#']).next().unwrap_or_default(),
        None => name.unwrap_or(uri),
    };
    if path.ends_with('/') {
        return "application/x-directory".into();
    }
    let file = path.rsplit('/').next().unwrap_or_default();
    let extension = file.rsplit_once('.').map_or("", |(_, extension)| extension);
    by_extension(&extension.to_ascii_lowercase()).into()
}

/// Returns the media type of a file name extension that is common in prompts.
fn by_extension(extension: &str) -> &'static str {
    match extension {
        "txt" | "text" | "log" | "conf" | "ini" => "text/plain",
        "md" | "markdown" => "text/markdown",
        "html" | "htm" => "text/html",
        "css" => "text/css",
        "csv" => "text/csv",
        "js" | "mjs" | "cjs" => "text/javascript",
        "jsx" => "text/jsx",
        "ts" | "mts" => "video/mp2t",
        "json" => "application/json",
        "xml" => "application/xml",
        "yaml" | "yml" => "text/yaml",
        "pdf" => "application/pdf",
        "zip" => "application/zip",
        "png" => "image/png",
        "jpg" | "jpeg" => "image/jpeg",
        "gif" => "image/gif",
        "webp" => "image/webp",
        "svg" => "image/svg+xml",
        "mp3" => "audio/mpeg",
        "wav" => "audio/wav",
        "mp4" => "video/mp4",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use super::media_type;

    #[test]
    fn media_types_come_from_the_uri_or_the_name() {
        for (uri, name, mime) in [
            ("data:image/PNG;base64,AAAA", None, "image/png"),
            ("data:,hello", None, "text/plain"),
            ("file:///a/b.md?x=1", Some("other.png"), "text/markdown"),
            ("file:///a/dir/", None, "application/x-directory"),
            ("notes.txt", None, "text/plain"),
            ("blob", Some("a.json"), "application/json"),
            ("file:///a.b/noextension", None, "application/octet-stream"),
        ] {
            assert_eq!(media_type(uri, name), mime, "{uri}");
        }
    }
}
