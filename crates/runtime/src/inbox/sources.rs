//! The sources of attachments: files and directories, references, resources of MCP servers, and data. They come from the
//! files of a prompt and from the mentions in its text.

use std::path::Path;
use std::sync::Arc;

use opencode_location::directory::{
    ContainmentError, Purpose, Target, TargetKind, hard_link_names, resolve_meant,
};
use opencode_location::files::media_type::mime_of;
use opencode_schema::id::SessionID;
use opencode_schema::prompt::{Prompt, PromptFileAttachment};
use opencode_schema::reference::ReferenceInfo;
use opencode_tools::{Attachment, AttachmentError, AttachmentRequest, Lines, read_attachment};
use url::Url;

use super::attached_text::{NO_DATA, data};
use super::attachments::{Content, Messages, REFERENCE, Reading, agent_key, expands_mentions};
use super::listed::{listed_ranges, unlisted};
use super::mention_scan::{LineRange, MentionTarget, lines_of, number};
use crate::mcp::{
    NamedResource, READ_RESOURCE, attachment_uri, is_resource, read_attachment as read_resource,
};
use crate::subagents::{mention, takes_tasks};

const NOT_ALLOWED: &str = "the permission rules do not allow it without a question, and no question is asked while a prompt is promoted";
const NOT_FOUND: &str = "there is no such file that the session can read";
const NO_REFERENCE: &str = "no reference of that name is configured";

/// Maximum number of characters of the name of a source.
const MAX_NAME: usize = 1_000;

/// Something to read.
pub(super) struct Source {
    /// The name for the model.
    pub(super) name: String,
    /// Equal for equal sources.
    pub(super) key: String,
    kind: SourceKind,
}

enum SourceKind {
    /// A path in the Location, or an absolute path.
    File {
        path: String,
        lines: Option<Lines>,
        /// `None` if the name decides.
        mime: Option<String>,
    },
    /// A configured reference, or a path in it.
    Reference {
        name: String,
        path: Option<String>,
        lines: Option<Lines>,
    },
    /// The URI of a resource.
    Resource(String),
    /// A data URI with text.
    Data { uri: String, mime: String },
    /// Guidance for an agent that takes tasks.
    Agent(String),
    /// A path that cannot be used, and the reason.
    Refused(String),
}

impl Source {
    fn new(name: &str, key: String, kind: SourceKind) -> Self {
        Self {
            name: name.chars().take(MAX_NAME).collect(),
            key,
            kind,
        }
    }

    /// Returns the source of a file of a prompt.
    pub(super) fn of(file: &PromptFileAttachment, directory: &str) -> Self {
        let uri = &file.uri;
        let named = file.name.as_deref().unwrap_or("attachment");
        if is_resource(uri) {
            return Self::new(named, uri.clone(), SourceKind::Resource(uri.clone()));
        }
        if let Some(rest) = uri.strip_prefix(REFERENCE) {
            let (rest, lines) = match rest.rsplit_once('#') {
                Some((rest, fragment)) => (rest, lines_of(fragment)),
                None => (rest, None),
            };
            let (name, path) = match rest.split_once('/') {
                Some((name, path)) => (name, Some(path)),
                None => (rest, None),
            };
            return Self::reference(name, path, lines);
        }
        match Url::parse(uri) {
            Ok(url) if url.scheme() == "file" => match url.to_file_path() {
                Ok(path) => {
                    let shown = path.strip_prefix(directory).unwrap_or(&path);
                    let shown = shown.to_string_lossy().into_owned();
                    let path = path.to_string_lossy().into_owned();
                    let lines = lines_of_url(&url);
                    Self::file(&shown, path, lines, Some(file.mime.clone()))
                }
                Err(()) => Self::missing(named, uri),
            },
            Ok(url) if url.scheme() == "data" => {
                let (uri, mime) = (uri.clone(), file.mime.clone());
                Self::new(named, String::new(), SourceKind::Data { uri, mime })
            }
            _ => Self::missing(named, uri),
        }
    }

    fn missing(name: &str, uri: &str) -> Self {
        let kind = SourceKind::Refused(NOT_FOUND.to_owned());
        Self::new(name, uri.to_owned(), kind)
    }

    fn file(shown: &str, path: String, lines: Option<LineRange>, mime: Option<String>) -> Self {
        let lines = lines.map(|(first, last)| Lines::new(first, last));
        let key = format!("file {path} {lines:?}");
        Self::new(shown, key, SourceKind::File { path, lines, mime })
    }

    fn reference(name: &str, path: Option<&str>, lines: Option<LineRange>) -> Self {
        let shown = match path {
            Some(path) => format!("{REFERENCE}{name}/{path}"),
            None => format!("{REFERENCE}{name}"),
        };
        let lines = lines.map(|(first, last)| Lines::new(first, last));
        let key = format!("{shown} {lines:?}");
        let (name, path) = (name.to_owned(), path.map(str::to_owned));
        Self::new(&shown, key, SourceKind::Reference { name, path, lines })
    }
}

/// Returns the lines that a `file:` URI names: `#L10-20`, or `?start=10&end=20`.
fn lines_of_url(url: &Url) -> Option<LineRange> {
    if let Some(lines) = url.fragment().and_then(lines_of) {
        return Some(lines);
    }
    let parameter = |wanted: &str| {
        let found = url.query_pairs().find(|(name, _)| name == wanted);
        found.and_then(|(_, value)| number(&value))
    };
    match (parameter("start"), parameter("end")) {
        (None, None) => None,
        (first, last) => Some((first.unwrap_or(1), last.unwrap_or(u64::MAX))),
    }
}

/// Attributes of an element for a range of lines.
fn part(lines: Option<Lines>) -> String {
    match lines {
        None => String::new(),
        Some(lines) if lines.last() == u64::MAX => format!(" lines=\"{}-\"", lines.first()),
        Some(lines) => format!(" lines=\"{}-{}\"", lines.first(), lines.last()),
    }
}

impl Reading<'_> {
    /// Returns the sources that the text of a prompt mentions and that exist. A mention that the caller listed with its
    /// range in the text, and a source that is listed already, are left out.
    pub(super) async fn mentioned(&self, prompt: &Prompt, messages: &Messages) -> Vec<Source> {
        if !expands_mentions(prompt) {
            return Vec::new();
        }
        let listed = listed_ranges(prompt);
        let mut sources: Vec<Source> = Vec::new();
        for mention in unlisted(&prompt.text, &listed) {
            let Some(source) = self.existing(mention.target).await else {
                continue;
            };
            let is_known = messages.known.contains(&source.key)
                || sources.iter().any(|known| known.key == source.key);
            if !is_known {
                sources.push(source);
            }
        }
        sources
    }

    /// Returns the target of a mention, unless it does not exist.
    async fn existing(&self, target: MentionTarget) -> Option<Source> {
        let location = &self.permissions.rule_scope.location;
        match target {
            MentionTarget::Resource { server, uri } => {
                self.servers?.info(&server)?;
                let shown = format!("mcp:{server}/{uri}");
                let uri = attachment_uri(&server, &uri);
                Some(Source::new(&shown, uri.clone(), SourceKind::Resource(uri)))
            }
            MentionTarget::Reference { name, path, lines } => {
                self.reference_info(&name)?;
                Some(Source::reference(&name, path.as_deref(), lines))
            }
            MentionTarget::Name { name, lines } => {
                let agent = location.agents.get(&name).filter(|it| takes_tasks(it));
                if agent.is_some() && lines.is_none() {
                    let key = agent_key(&name);
                    return Some(Source::new(&name.clone(), key, SourceKind::Agent(name)));
                }
                self.existing_file(name, lines).await
            }
        }
    }

    async fn existing_file(&self, path: String, lines: Option<LineRange>) -> Option<Source> {
        let directory = self.directory.to_owned();
        let home = Arc::clone(&self.permissions.rule_scope.location.home);
        let finding = opencode_log::spawn_blocking(move || {
            let mut named = Path::new(&directory).join(&path);
            let exists = named.symlink_metadata().is_ok();
            let kind = TargetKind::Directory;
            let target =
                resolve_meant(Path::new(&directory), &path, kind, Purpose::Existing, &home);
            let refused = match target {
                Ok(_) if exists => None,
                // The entry has another name that looks the same, or the mention has another form.
                Ok(target) => {
                    named.clone_from(&target.canonical);
                    target.exists().then_some(())?;
                    None
                }
                Err(error) if exists || matches!(error, ContainmentError::Ambiguous(_)) => {
                    Some(refusal(&error))
                }
                Err(_) => return None,
            };
            Some((named.to_string_lossy().into_owned(), path, refused))
        });
        let (named, path, refused) = finding.await.ok()??;
        Some(match refused {
            Some(reason) => Source::new(&path, named, SourceKind::Refused(reason)),
            None => {
                // The form of a listed file, so that both have the same key.
                let named = Url::from_file_path(&named).ok();
                let named = named.and_then(|url| url.to_file_path().ok());
                let named = named.map_or_else(|| path.clone(), |it| it.to_string_lossy().into());
                let shown = path.strip_prefix("./").unwrap_or(&path).to_owned();
                Source::file(&shown, named, lines, None)
            }
        })
    }

    fn reference_info(&self, name: &str) -> Option<&ReferenceInfo> {
        let references = self.permissions.rule_scope.location.references.list();
        references.iter().find(|it| it.name == name)
    }

    /// Reads a source.
    ///
    /// # Errors
    ///
    /// Returns the reason, as the end of a sentence.
    pub(super) async fn read(
        &self,
        source: Source,
        session: &SessionID,
    ) -> Result<Content, String> {
        match source.kind {
            SourceKind::Refused(reason) => Err(reason),
            SourceKind::Agent(name) => {
                let guidance = mention(&self.permissions.rule_scope, &name);
                Ok(Content::Sentence(guidance))
            }
            SourceKind::Data { uri, mime } => {
                let decoding = opencode_log::spawn_blocking(move || data(&uri));
                Ok(Content::Text {
                    text: decoding.await.unwrap_or(Err(NO_DATA))?,
                    mime,
                    part: String::new(),
                    rest: None,
                })
            }
            SourceKind::Resource(uri) => self.resource(&uri, session).await,
            SourceKind::File { path, lines, mime } => {
                let target = self.locate(self.directory.to_owned(), path).await?;
                self.file(target, lines, mime, session).await
            }
            SourceKind::Reference { name, path, lines } => {
                let info = self.reference_info(&name).ok_or(NO_REFERENCE)?.clone();
                self.reference(info, path, lines, session).await
            }
        }
    }

    async fn resource(&self, uri: &str, session: &SessionID) -> Result<Content, String> {
        let named = NamedResource::of(uri).ok_or(NOT_FOUND)?;
        let servers = self.servers.ok_or("no MCP server is configured")?;
        let resource = named.permission_resource();
        self.allow(session, READ_RESOURCE, resource, Vec::new())
            .await?;
        let limits = self
            .permissions
            .rule_scope
            .location
            .configuration
            .settings
            .image;
        let (text, media) = read_resource(servers, &named, limits, self.deadline).await?;
        Ok(Content::Media { text, media })
    }

    /// Returns the context of a reference, or the content of a path in it.
    async fn reference(
        &self,
        info: ReferenceInfo,
        path: Option<String>,
        lines: Option<Lines>,
        session: &SessionID,
    ) -> Result<Content, String> {
        let Some(path) = path else {
            return Ok(Content::Sentence(told(info).await));
        };
        let inside = Path::new(&path).is_relative();
        let root = Some(info.path).filter(|_| inside);
        let root = root.ok_or("its path leads out of the reference")?;
        let target = self.locate(root, path).await?;
        // The rules name a path from the view of the Location.
        let path = target.canonical.to_string_lossy().into_owned();
        let target = self.locate(self.directory.to_owned(), path).await?;
        self.file(target, lines, None, session).await
    }

    async fn locate(&self, directory: String, path: String) -> Result<Target, String> {
        let home = Arc::clone(&self.permissions.rule_scope.location.home);
        let resolving = opencode_log::spawn_blocking(move || {
            let kind = TargetKind::Directory;
            resolve_meant(Path::new(&directory), &path, kind, Purpose::Existing, &home)
        });
        let resolved = resolving.await.map_err(|_| NOT_FOUND)?;
        resolved.map_err(|error| refusal(&error))
    }

    async fn file(
        &self,
        target: Target,
        lines: Option<Lines>,
        mime: Option<String>,
        session: &SessionID,
    ) -> Result<Content, String> {
        if let Some(pattern) = target.external_directory.clone() {
            let others = target.other_external_directories.clone();
            let (folders, file) = (self.folders.clone(), target.canonical.clone());
            let judging = opencode_log::spawn_blocking(move || folders.has_output_of_others(&file));
            let is_of_others = judging.await.unwrap_or(true);
            let allowed = self
                .permissions
                .allows_outside(session, pattern, others, is_of_others);
            if !allowed.await {
                return Err(NOT_ALLOWED.to_owned());
            }
        }
        let others = self.other_names(&target).await?;
        self.allow(session, "read", target.resource.clone(), others)
            .await?;
        let mime = mime.unwrap_or_else(|| mime_of(&target.canonical).to_owned());
        let location = &self.permissions.rule_scope.location;
        let reading = read_attachment(AttachmentRequest {
            target,
            lines,
            image_limits: location.configuration.settings.image,
            cancel: self.cancel.clone(),
        });
        let read = reading
            .await
            .map_err(|error: AttachmentError| error.to_string())?;
        Ok(content(read, lines, mime))
    }

    /// Returns the other names of a file, by links of both kinds.
    async fn other_names(&self, target: &Target) -> Result<Vec<String>, String> {
        let (directory, file) = (self.directory.to_owned(), target.canonical.clone());
        let finding =
            opencode_log::spawn_blocking(move || hard_link_names(Path::new(&directory), &file));
        let links = finding.await.ok().flatten().ok_or(NOT_ALLOWED)?;
        Ok([target.other_names.as_slice(), &links].concat())
    }

    async fn allow(
        &self,
        session: &SessionID,
        action: &str,
        resource: String,
        other_names: Vec<String>,
    ) -> Result<(), String> {
        let allowed = self
            .permissions
            .allows(session, action, resource, other_names);
        match allowed.await {
            true => Ok(()),
            false => Err(NOT_ALLOWED.to_owned()),
        }
    }
}

fn content(read: Attachment, lines: Option<Lines>, mime: String) -> Content {
    match read {
        Attachment::Text { text, next } => Content::Text {
            text,
            mime,
            part: part(lines),
            rest: next.map(|next| format!("cut here; the attachment goes on at line {next}")),
        },
        Attachment::Directory { names, omitted } => Content::Text {
            text: names,
            mime: "application/x-directory".to_owned(),
            part: String::new(),
            rest: (omitted > 0)
                .then(|| format!("cut here; the directory has {omitted} more names")),
        },
        Attachment::Media(media) => Content::Media {
            text: String::new(),
            media: vec![media],
        },
    }
}

/// Returns the sentence about a reference.
async fn told(info: ReferenceInfo) -> String {
    let directory = info.path.clone();
    let looking = opencode_log::spawn_blocking(move || Path::new(&directory).is_dir());
    let ReferenceInfo {
        name,
        path,
        description,
        ..
    } = info;
    if !looking.await.unwrap_or(false) {
        return format!(
            "The user mentions the reference {name:?}, but its directory {path:?} does not exist."
        );
    }
    let description = description.map(|it| format!(" Its description: {it}"));
    format!(
        "The user mentions the reference {name:?}, the directory {path:?}. Read its files there with the tools.{}",
        description.unwrap_or_default()
    )
}

fn refusal(error: &ContainmentError) -> String {
    match error {
        ContainmentError::RelativeEscape => "its relative path leaves the Location".to_owned(),
        ContainmentError::LocationEscape => {
            "a symbolic link leads out of the Location or to nothing".to_owned()
        }
        ContainmentError::Ambiguous(_) => error.to_string(),
        _ => NOT_FOUND.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_uris_name_lines() {
        for (uri, expected) in [
            ("file:///a", None),
            ("file:///a#L3-5", Some((3, 5))),
            ("file:///a?start=3&end=5", Some((3, 5))),
            ("file:///a?start=3", Some((3, u64::MAX))),
            ("file:///a?end=5", Some((1, 5))),
            ("file:///a?start=x", None),
            ("file:///a?start=-1#top", None),
        ] {
            assert_eq!(lines_of_url(&Url::parse(uri).unwrap()), expected, "{uri}");
        }
    }
}
