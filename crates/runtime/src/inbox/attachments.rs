//! The text that goes with a prompt: the text of attached files, and guidance for mentioned agents. It is created once,
//! before a Prompt Promotion, and stored with the prompt.
//!
//! The prompt keeps the URI that its caller gave, so that a retry stays exact. The text is a separate synthetic message
//! directly before the prompt. Later requests send the same bytes even if the file changes, and a revert to the prompt
//! keeps them.
//!
//! Promotion asks no question: a file is read only if the rules of the agent allow it. If a file was not read, the text
//! says so; this is never a failure.

use std::collections::HashMap;
use std::io::Read;
use std::path::Path;

use opencode_location::directory::{Target, TargetKind, resolve};
use opencode_location::files::opening::open_file;
use opencode_schema::id::MessageID;
use opencode_schema::prompt::{Prompt, PromptFileAttachment, SessionInputAdmitted};
use tokio::time::Instant;
use url::Url;

use super::attached_text::{MAX_BYTES, NO_DATA, bounded, data, utf8};
use crate::asks::permissions::TurnPermissions;
use crate::mcp::{
    LocationServers, NamedResource, READ_RESOURCE, RESOURCES_WAIT, is_resource, read_attachment,
};
use crate::subagents::mention;

/// Maximum number of mentioned agents of one prompt that get guidance.
const MAX_MENTIONS: usize = 50;

/// Maximum total bytes of the texts of attachments that one boundary creates.
const MAX_TOTAL: usize = 2 * 1024 * 1024;

const NOT_ALLOWED: &str = "the permission rules do not allow it without a question, and no question is asked while a prompt is promoted";
const NOT_FOUND: &str = "there is no such file that the session can read";
const TOO_MUCH: &str = "the attachments before it have used up the room";

/// The texts of the inputs that a boundary may promote.
#[derive(Default)]
pub(crate) struct Attached(HashMap<MessageID, String>);

/// State of the creation of these texts.
pub(crate) struct Reading<'a> {
    pub(crate) permissions: &'a TurnPermissions,
    /// The directory of the Location.
    pub(crate) directory: &'a str,
    /// The MCP servers of the Location. `None` if it has none.
    pub(crate) servers: Option<&'a LocationServers>,
    /// The end of the time for resources of these servers.
    deadline: Instant,
    /// Number of bytes that may still be used.
    room: usize,
}

/// Returns true if the model receives a file as separate text. Images and documents go with the prompt.
pub(crate) fn is_text(file: &PromptFileAttachment) -> bool {
    let mime = file.mime.as_str();
    if file.uri.starts_with("data:") {
        return is_textual(mime);
    }
    if is_resource(&file.uri) {
        return true;
    }
    let is_media = ["image/", "audio/", "video/"]
        .iter()
        .any(|kind| mime.starts_with(kind));
    // TypeScript shares its file extension with a video format.
    file.uri.starts_with("file:")
        && (mime == "video/mp2t" || !is_media && mime != "application/pdf")
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

/// Returns true if a prompt needs texts before its promotion.
pub(crate) fn has_text(prompt: &Prompt) -> bool {
    prompt.files.iter().flatten().any(is_text) || prompt.agents.iter().flatten().next().is_some()
}

impl Attached {
    /// Removes and returns the text that goes with an input. The outer `None` means that the input is not ready: it
    /// arrived after the texts were read, and waits for the next boundary.
    pub(super) fn take(&mut self, input: &SessionInputAdmitted) -> Option<Option<String>> {
        if !has_text(&input.prompt) {
            return Some(None);
        }
        self.0.remove(&input.id).map(Some)
    }
}

impl<'a> Reading<'a> {
    pub(crate) fn new(
        permissions: &'a TurnPermissions,
        directory: &'a str,
        servers: Option<&'a LocationServers>,
    ) -> Self {
        Self {
            permissions,
            directory,
            servers,
            deadline: Instant::now() + RESOURCES_WAIT,
            room: MAX_TOTAL,
        }
    }

    /// Reads the texts of inputs, in their order.
    pub(crate) async fn all(mut self, inputs: &[SessionInputAdmitted]) -> Attached {
        let mut texts = HashMap::new();
        for input in inputs {
            let mut pieces = self.mentions(&input.prompt);
            for file in input.prompt.files.iter().flatten() {
                if self.room == 0 {
                    break;
                }
                if is_text(file) {
                    pieces.push(self.attachment_text(file, input).await);
                }
            }
            if self.room == 0 {
                pieces.push(format!("Other attachments were not read: {TOO_MUCH}."));
            }
            texts.insert(input.id.clone(), pieces.join("\n\n"));
        }
        Attached(texts)
    }

    /// Returns the guidance for the agents that a prompt mentions, each once.
    fn mentions(&self, prompt: &Prompt) -> Vec<String> {
        let mut names: Vec<&str> = Vec::new();
        for agent in prompt.agents.iter().flatten() {
            if names.len() < MAX_MENTIONS && !names.contains(&agent.name.as_str()) {
                names.push(&agent.name);
            }
        }
        let rule_scope = &self.permissions.rule_scope;
        names.iter().map(|name| mention(rule_scope, name)).collect()
    }

    async fn attachment_text(
        &mut self,
        file: &PromptFileAttachment,
        input: &SessionInputAdmitted,
    ) -> String {
        let name = self.name(file);
        let text = match Url::parse(&file.uri) {
            Ok(url) if url.scheme() == "file" => {
                self.file(&url, input).await.map_err(str::to_owned)
            }
            _ if is_resource(&file.uri) => self.resource(&file.uri, input).await,
            _ => {
                let uri = file.uri.clone();
                let decoding = opencode_log::spawn_blocking(move || data(&uri));
                decoding
                    .await
                    .unwrap_or(Err(NO_DATA))
                    .map_err(str::to_owned)
            }
        };
        let mut piece = match text {
            Ok(mut text) => {
                self.permissions
                    .rule_scope
                    .location
                    .secrets
                    .clean(&mut text);
                let (text, is_cut) = bounded(&text);
                // Escaped so that a file cannot close its own element.
                let text = text.replace("</attachment", "&lt;/attachment");
                let cut = if is_cut {
                    "\n[cut here; the attachment goes on]"
                } else {
                    ""
                };
                format!(
                    "<attachment name={name:?} type={:?}>\n{text}{cut}\n</attachment>",
                    file.mime
                )
            }
            Err(reason) => format!("The attachment {name:?} was not read: {reason}."),
        };
        if piece.len() > self.room {
            piece = format!("The attachment {name:?} was not read: {TOO_MUCH}.");
            self.room = 0;
        }
        self.room = self.room.saturating_sub(piece.len());
        piece
    }

    /// Returns the name of the source of the text, for the model.
    fn name(&self, file: &PromptFileAttachment) -> String {
        let path = || {
            let url = Url::parse(&file.uri)
                .ok()
                .filter(|url| url.scheme() == "file")?;
            let path = url.to_file_path().ok()?;
            let within = path.strip_prefix(self.directory).unwrap_or(&path);
            Some(within.to_string_lossy().into_owned())
        };
        let name = path().or_else(|| file.name.clone());
        let name = name.unwrap_or_else(|| "attachment".to_owned());
        name.chars().take(1_000).collect()
    }

    async fn resource(&self, uri: &str, input: &SessionInputAdmitted) -> Result<String, String> {
        let named = NamedResource::of(uri).ok_or(NOT_FOUND)?;
        let servers = self.servers.ok_or("no MCP server is configured")?;
        let resource = named.permission_resource();
        let allowed = self
            .permissions
            .allows(&input.session_id, READ_RESOURCE, resource);
        if !allowed.await {
            return Err(NOT_ALLOWED.to_owned());
        }
        read_attachment(servers, &named, self.deadline).await
    }

    async fn file(&self, url: &Url, input: &SessionInputAdmitted) -> Result<String, &'static str> {
        let path = url.to_file_path().map_err(|()| NOT_FOUND)?;
        let directory = self.directory.to_owned();
        let resolving = opencode_log::spawn_blocking(move || {
            resolve(
                Path::new(&directory),
                &path.to_string_lossy(),
                TargetKind::File,
            )
        });
        let target = resolving.await.ok().and_then(Result::ok).ok_or(NOT_FOUND)?;
        let outside = target.external_directory.clone();
        let wanted = outside.map(|pattern| ("external_directory", pattern));
        for (action, resource) in wanted
            .into_iter()
            .chain([("read", target.resource.clone())])
        {
            let allowed = self.permissions.allows(&input.session_id, action, resource);
            if !allowed.await {
                return Err(NOT_ALLOWED);
            }
        }
        let reading = opencode_log::spawn_blocking(move || read(&target));
        reading.await.unwrap_or(Err(NOT_FOUND))
    }
}

fn read(target: &Target) -> Result<String, &'static str> {
    // Fails if it is not a regular file, or if it became a link.
    let file = open_file(&target.canonical).map_err(|_| NOT_FOUND)?;
    let mut bytes = Vec::new();
    let mut head = file.take(MAX_BYTES as u64 + 1);
    head.read_to_end(&mut bytes).map_err(|_| NOT_FOUND)?;
    utf8(bytes)
}
