//! What a caller asks, and the receipt it gets: the Admitted Prompt.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::clock::Millis;
use crate::id::{MessageID, SessionID};

/// How an Admitted Prompt enters the session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Delivery {
    /// Joins the running activity at its next Safe Provider-Turn Boundary.
    #[default]
    Steer,
    /// Waits until the session would become idle and opens an activity of its own.
    Queue,
}

/// The place in the text that stands for an attachment, in UTF-16 units.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PromptSource {
    /// First unit.
    pub start: f64,
    /// One past the last unit.
    pub end: f64,
    /// The text between.
    pub text: String,
}

/// A file as the caller gives it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PromptInputFileAttachment {
    /// `data:`, `file:` or any other URI.
    pub uri: String,
    /// Shown name.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub name: Option<String>,
    /// What the file is for.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub description: Option<String>,
    /// Where the text mentions it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub source: Option<PromptSource>,
}

/// A file as it was admitted: its media type is derived once and kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PromptFileAttachment {
    /// `data:`, `file:` or any other URI.
    pub uri: String,
    /// Media type, from the data URI or from the name.
    pub mime: String,
    /// Shown name.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub name: Option<String>,
    /// What the file is for.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub description: Option<String>,
    /// Where the text mentions it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub source: Option<PromptSource>,
}

/// An agent mentioned in the prompt.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PromptAgentAttachment {
    /// The agent's name.
    pub name: String,
    /// Where the text mentions it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub source: Option<PromptSource>,
}

/// What a caller sends.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PromptInput {
    /// The text; it may be empty.
    pub text: String,
    /// Attached files.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub files: Option<Vec<PromptInputFileAttachment>>,
    /// Mentioned agents.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub agents: Option<Vec<PromptAgentAttachment>>,
}

/// What was admitted. Never changed afterwards.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Prompt {
    /// The text; it may be empty.
    pub text: String,
    /// Attached files with their media types.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub files: Option<Vec<PromptFileAttachment>>,
    /// Mentioned agents.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub agents: Option<Vec<PromptAgentAttachment>>,
}

/// The durable receipt of an Admitted Prompt.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SessionInputAdmitted {
    /// Sequence of the admission.
    pub admitted_seq: u64,
    /// The prompt's id, which becomes the user message's.
    pub id: MessageID,
    /// The session.
    #[serde(rename = "sessionID")]
    pub session_id: SessionID,
    /// What was admitted.
    pub prompt: Prompt,
    /// How it enters the session.
    pub delivery: Delivery,
    /// When it was admitted, epoch milliseconds.
    pub time_created: Millis,
    /// Sequence of the Prompt Promotion, once it happened.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub promoted_seq: Option<u64>,
}

impl PromptInput {
    /// The admitted form: every file with its media type.
    pub fn admit(self) -> Prompt {
        let files = self
            .files
            .map(|files| files.into_iter().map(admit_file).collect());
        Prompt {
            text: self.text,
            files,
            agents: self.agents,
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

/// The media type of a `data:` URI; else by the path of the URL, the name or the raw URI.
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

/// Media types of the files people attach to prompts.
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
