//! The messages that go with a prompt: the text of attached files, media, and guidance for mentioned agents. They are
//! created once, before a Prompt Promotion, and stored with the prompt.
//!
//! The prompt keeps its text and the URIs that its caller gave, so that a retry stays exact. The other texts are
//! synthetic messages directly before the prompt. Later requests send the same bytes even if a file changes, and a
//! revert to the prompt keeps them.
//!
//! The media of `data:` URIs stay in the prompt. If they must not be sent as they are, the promoted prompt has checked
//! media in their place.
//!
//! Promotion asks no question: a file is read only if the rules of the agent allow it. If a file was not read, the text
//! says so; this is never a failure.

use std::collections::{HashMap, HashSet};

use opencode_schema::id::MessageID;
use opencode_schema::prompt::{Prompt, PromptFileAttachment, SessionInputAdmitted};
use opencode_tools::{CheckedFile, Media, SharedFolders, check_file};
use tokio::time::Instant;
use tokio_util::sync::{CancellationToken, DropGuard};

use super::attached_text::bounded;
use super::mention_scan::may_mention;
use super::sources::Source;
use crate::asks::permissions::TurnPermissions;
use crate::mcp::{LocationServers, RESOURCES_WAIT, is_resource};
use crate::subagents::mention;

/// Maximum number of mentioned agents of one prompt that get guidance.
const MAX_MENTIONS: usize = 50;

/// Maximum total bytes of the texts of attachments that one boundary creates.
const MAX_TOTAL: usize = 2 * 1024 * 1024;

/// Maximum total bytes of media that one boundary reads.
const MAX_MEDIA_TOTAL: usize = 32 * 1024 * 1024;

const TOO_MUCH: &str = "the attachments before it have used up the room";

/// The beginning of the URI of a configured reference in the files of a prompt.
pub(super) const REFERENCE: &str = "reference:";

/// A message that goes with a prompt, directly before it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct AttachedMessage {
    pub(super) text: String,
    pub(super) files: Option<Vec<PromptFileAttachment>>,
}

/// The messages and files that go with a prompt.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Prepared {
    /// The messages directly before it.
    pub(super) messages: Vec<AttachedMessage>,
    /// The files in the place of those that the caller gave. `None` if they stay.
    pub(super) files: Option<Vec<PromptFileAttachment>>,
}

/// The messages and files that go with the inputs that a boundary may promote.
#[derive(Default)]
pub(crate) struct Attached(HashMap<MessageID, Prepared>);

/// State of the creation of these messages.
pub(crate) struct Reading<'a> {
    pub(crate) permissions: &'a TurnPermissions,
    /// The directory of the Location.
    pub(crate) directory: &'a str,
    /// Directories that the session shares with others.
    pub(super) folders: SharedFolders,
    /// The MCP servers of the Location. `None` if it has none.
    pub(crate) servers: Option<&'a LocationServers>,
    /// The end of the time for resources of these servers.
    pub(super) deadline: Instant,
    /// Ends the reading of files when the boundary is given up.
    pub(super) cancel: CancellationToken,
    _stop: DropGuard,
    /// Number of bytes of text that may still be used.
    room: usize,
    /// Number of bytes of media that may still be used.
    media_room: usize,
}

/// The content of an attachment.
pub(super) enum Content {
    Text {
        text: String,
        /// The media type that the model reads.
        mime: String,
        /// The part of the file, for example `lines="2-4"`. Empty for the whole file.
        part: String,
        /// A note about the missing rest.
        rest: Option<String>,
    },
    /// A sentence about the attachment.
    Sentence(String),
    /// Text that may be empty, and media.
    Media { text: String, media: Vec<Media> },
}

/// The messages of one input in the course of their creation.
#[derive(Default)]
pub(super) struct Messages {
    pieces: Vec<String>,
    media: Vec<AttachedMessage>,
    /// The sources that were read, so that a mention in the text does not repeat one.
    pub(super) known: HashSet<String>,
}

/// Returns true if the host reads a file at the promotion and stores its content before the prompt. Other files go with
/// the prompt.
pub(crate) fn is_read_apart(file: &PromptFileAttachment) -> bool {
    if is_data(file) {
        return is_textual(file.mime.as_str());
    }
    is_resource(&file.uri) || file.uri.starts_with("file:") || file.uri.starts_with(REFERENCE)
}

fn is_data(file: &PromptFileAttachment) -> bool {
    file.uri.starts_with("data:")
}

fn is_textual(mime: &str) -> bool {
    mime.starts_with("text/")
        || mime.ends_with("+json")
        || mime.ends_with("+xml") && !mime.starts_with("image/")
        || matches!(
            mime,
            "application/json"
                | "application/jsonl"
                | "application/json5"
                | "application/xml"
                | "application/yaml"
                | "application/x-yaml"
                | "application/toml"
                | "application/javascript"
                | "application/typescript"
                | "application/sql"
                | "application/x-sh"
        )
}

/// Returns true if a prompt may have messages that go with it. Depends on the prompt alone.
pub(crate) fn has_attached(prompt: &Prompt) -> bool {
    let mut files = prompt.files.iter().flatten();
    files.any(|file| is_read_apart(file) || is_data(file))
        || prompt.agents.iter().flatten().next().is_some()
        || expands_mentions(prompt)
}

/// True if the text of the prompt may contain mentions to expand.
pub(super) fn expands_mentions(prompt: &Prompt) -> bool {
    prompt.mentions != Some(false) && may_mention(&prompt.text)
}

impl Attached {
    /// Removes and returns what goes with an input. `None` means that the input is not ready: it arrived
    /// after the attachments were read, and waits for the next boundary.
    pub(super) fn take(&mut self, input: &SessionInputAdmitted) -> Option<Prepared> {
        if !has_attached(&input.prompt) {
            return Some(Prepared::default());
        }
        self.0.remove(&input.id)
    }
}

impl<'a> Reading<'a> {
    pub(crate) fn new(
        permissions: &'a TurnPermissions,
        directory: &'a str,
        folders: SharedFolders,
        servers: Option<&'a LocationServers>,
    ) -> Self {
        let cancel = CancellationToken::new();
        Self {
            permissions,
            directory,
            folders,
            servers,
            deadline: Instant::now() + RESOURCES_WAIT,
            _stop: cancel.clone().drop_guard(),
            cancel,
            room: MAX_TOTAL,
            media_room: MAX_MEDIA_TOTAL,
        }
    }

    /// Creates the messages of inputs, in their order.
    pub(crate) async fn all(mut self, inputs: &[SessionInputAdmitted]) -> Attached {
        let mut all = HashMap::new();
        for input in inputs {
            all.insert(input.id.clone(), self.prepared(input).await);
        }
        Attached(all)
    }

    async fn prepared(&mut self, input: &SessionInputAdmitted) -> Prepared {
        let mut messages = Messages::default();
        let mut files = None;
        self.guide(&input.prompt, &mut messages);
        for (at, file) in input.prompt.files.iter().flatten().enumerate() {
            if is_data(file) && !is_read_apart(file) {
                if let Some(checked) = self.checked(file, &mut messages).await {
                    files.get_or_insert_with(|| input.prompt.files.clone().unwrap_or_default())
                        [at] = checked;
                }
            } else if self.room > 0 && is_read_apart(file) {
                let source = Source::of(file, self.directory);
                self.add(source, input, &mut messages).await;
            }
        }
        for source in self.mentioned(&input.prompt, &messages).await {
            if self.room == 0 {
                break;
            }
            self.add(source, input, &mut messages).await;
        }
        if self.room == 0 {
            let rest = format!("Other attachments were not read: {TOO_MUCH}.");
            messages.pieces.push(rest);
        }
        Prepared {
            messages: messages.finish(),
            files,
        }
    }

    /// Checks the media of a `data:` URI. Returns the file that takes its place, or `None` if it stays.
    async fn checked(
        &mut self,
        file: &PromptFileAttachment,
        to: &mut Messages,
    ) -> Option<PromptFileAttachment> {
        let limits = self
            .permissions
            .rule_scope
            .location
            .configuration
            .settings
            .image;
        let checking = check_file(&file.uri, &file.mime, limits, self.cancel.clone());
        let (uri, mime) = match checking.await {
            CheckedFile::Unchanged => return None,
            CheckedFile::Replaced { uri, mime } => (uri, mime.to_owned()),
            CheckedFile::Refused(error) => {
                let name = file.name.as_deref().unwrap_or("attachment");
                let told = format!(
                    "The attachment {name:?} ({}) was not read: {error}.",
                    file.mime
                );
                self.push(name, told, to);
                // No model reads a file without content.
                (format!("data:{};base64,", file.mime), file.mime.clone())
            }
        };
        Some(PromptFileAttachment {
            uri,
            mime,
            ..file.clone()
        })
    }

    /// Adds the guidance for the agents that a prompt lists, each once.
    fn guide(&self, prompt: &Prompt, messages: &mut Messages) {
        for agent in prompt.agents.iter().flatten() {
            let is_new = !messages.known.contains(&agent_key(&agent.name));
            if messages.pieces.len() < MAX_MENTIONS && is_new {
                messages.known.insert(agent_key(&agent.name));
                let rule_scope = &self.permissions.rule_scope;
                messages.pieces.push(mention(rule_scope, &agent.name));
            }
        }
    }

    /// Reads a source and adds its content.
    async fn add(&mut self, source: Source, input: &SessionInputAdmitted, to: &mut Messages) {
        to.known.insert(source.key.clone());
        let name = source.name.clone();
        let secrets = self.permissions.rule_scope.location.secrets.clone();
        let content = match self.read(source, &input.session_id).await {
            Ok(content) => content,
            Err(reason) => {
                let told = format!("The attachment {name:?} was not read: {reason}.");
                return self.push(&name, told, to);
            }
        };
        match content {
            Content::Sentence(mut text) => {
                secrets.clean(&mut text);
                self.push(&name, text, to);
            }
            Content::Text {
                mut text,
                mime,
                part,
                rest,
            } => {
                secrets.clean(&mut text);
                let element = element(&name, &mime, &part, &text, rest.as_deref());
                self.push(&name, element, to);
            }
            Content::Media { mut text, media } => {
                if !text.is_empty() {
                    secrets.clean(&mut text);
                    self.push(&name, element(&name, "text/plain", "", &text, None), to);
                }
                for media in media {
                    self.push_media(&name, media, to).await;
                }
            }
        }
    }

    fn push(&mut self, name: &str, mut piece: String, to: &mut Messages) {
        if piece.len() > self.room {
            piece = format!("The attachment {name:?} was not read: {TOO_MUCH}.");
            self.room = 0;
        }
        self.room = self.room.saturating_sub(piece.len());
        to.pieces.push(piece);
    }

    async fn push_media(&mut self, name: &str, media: Media, to: &mut Messages) {
        let Media { mime, bytes } = media;
        if bytes.len() > self.media_room {
            let told = format!("The attachment {name:?} ({mime}) was not read: {TOO_MUCH}.");
            return self.push(name, told, to);
        }
        self.media_room -= bytes.len();
        let encoding = opencode_log::spawn_blocking(move || data_uri(mime, &bytes));
        let Ok(uri) = encoding.await else { return };
        to.media.push(AttachedMessage {
            text: format!("The attachment {name:?} ({mime}):"),
            files: Some(vec![PromptFileAttachment {
                uri,
                mime: mime.to_owned(),
                name: Some(name.to_owned()),
                description: None,
                source: None,
            }]),
        });
    }
}

impl Messages {
    fn finish(self) -> Vec<AttachedMessage> {
        let text = Some(self.pieces.join("\n\n")).filter(|text| !text.is_empty());
        let text = text.map(|text| AttachedMessage { text, files: None });
        text.into_iter().chain(self.media).collect()
    }
}

/// Returns the key of an agent among the known sources.
pub(super) fn agent_key(name: &str) -> String {
    format!("agent {name}")
}

fn data_uri(mime: &str, bytes: &[u8]) -> String {
    use base64::Engine;
    let encoded = base64::engine::general_purpose::STANDARD.encode(bytes);
    format!("data:{mime};base64,{encoded}")
}

fn element(name: &str, mime: &str, part: &str, text: &str, rest: Option<&str>) -> String {
    let (text, is_cut) = bounded(text);
    // Escaped so that a file cannot close its own element.
    let text = text.replace("</attachment", "&lt;/attachment");
    let cut = match rest {
        Some(rest) => format!("\n[{rest}]"),
        None if is_cut => "\n[cut here; the attachment goes on]".to_owned(),
        None => String::new(),
    };
    format!("<attachment name={name:?} type={mime:?}{part}>\n{text}{cut}\n</attachment>")
}
