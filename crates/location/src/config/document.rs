//! Reads one configuration document from its bytes.

use std::fmt;
use std::path::{Path, PathBuf};

use opencode_declaration::vocabulary::Member;
use opencode_handles::read_file;
use opencode_schema::permission::PermissionRule;
use serde_json::Value;

use super::agent::AgentPatch;
use super::command::CommandPatch;
use super::decode::Decoded;
use super::diagnostic::{Diagnostic, DiagnosticKind};
use super::discovery::{Layer, Place};
use super::jsonc::{Jsonc, Position, SyntaxError, position};
use super::keys;
use super::mcp::McpPatch;
use super::patch::ProviderPatch;
use super::policy::Policy;
use super::reading::{Reading, Repeated};
use super::reference::NamedReference;
use super::repeated::Repeats;
use super::selection::NamedModel;
use super::settings::SettingsPatch;
use super::source::Source;
use super::step::Step;
use super::substitution::{Substituted, Tokens, substitute};
use super::unreadable_permissions::UnreadablePermissions;
use crate::directory::is_project_text;
use crate::environment::Environment;

/// Maximum size of a document in bytes. The largest useful document, a catalogue of a thousand models,
/// has a fifth of this size.
pub const MAX_DOCUMENT_BYTES: u64 = 4 * 1024 * 1024;

/// Maximum number of diagnostics for keys without effect in one document. Authors correct the first
/// ones before they need the last ones.
const MAX_NOTES: usize = 50;

/// The name of the host's own configuration in diagnostics.
const HOST: &str = "the host's config option";

/// A usable document with the decoded value of each key.
#[derive(Clone, PartialEq, Default)]
pub struct Document {
    /// The file, or the name of another source.
    pub origin: String,
    /// The base directory of its relative paths.
    pub base: PathBuf,
    /// The author.
    pub source: Source,
    /// The files whose content it takes with `{file:…}`. They may be missing.
    pub(crate) files: Vec<PathBuf>,
    /// The default model it names.
    pub(crate) model: Option<NamedModel>,
    /// The model that it names for small tasks.
    pub(crate) small_model: Option<NamedModel>,
    /// The agent of sessions that choose none.
    pub(crate) default_agent: Option<Located<String>>,
    /// Descriptions of providers, in the order of the document.
    pub(crate) providers: Vec<(String, ProviderPatch)>,
    /// Rules for the use of providers. The last match decides.
    pub(crate) policies: Vec<Policy>,
    /// Descriptions of agents. Later ones override earlier ones.
    pub(crate) agents: Vec<(String, AgentPatch)>,
    /// Rules for all agents. The rules of an agent come after them.
    pub(crate) permissions: Vec<PermissionRule>,
    /// The rules of the document with an earlier value of a key that stands twice, one set for each. They can only
    /// restrict.
    pub(crate) earlier: Vec<EarlierRules>,
    /// Descriptions of commands. Later ones override earlier ones.
    pub(crate) commands: Vec<(String, Located<CommandPatch>)>,
    /// Directories and URLs of skills.
    pub(crate) skills: Vec<Located<String>>,
    /// References. Later ones override earlier ones.
    pub(crate) references: Vec<NamedReference>,
    /// Servers of the Model Context Protocol.
    pub(crate) mcp: McpPatch,
    /// Paths, globs and URLs of instructions.
    pub(crate) instructions: Vec<String>,
    /// The keys with a single value.
    pub(crate) settings: SettingsPatch,
}

/// Shows only the origin and the author, because URLs of instructions, skills and references may contain secrets.
impl fmt::Debug for Document {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Document")
            .field("origin", &self.origin)
            .field("source", &self.source)
            .finish_non_exhaustive()
    }
}

/// The rules of a document with an earlier value of a key that stands twice.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct EarlierRules {
    /// Rules for all agents.
    pub permissions: Vec<PermissionRule>,
    /// Rules of single agents, which come after them.
    pub agents: Vec<(String, Vec<PermissionRule>)>,
}

impl EarlierRules {
    /// The rules of a document.
    pub(super) fn of_document(shared: &[PermissionRule], agents: &[(String, AgentPatch)]) -> Self {
        let agents = agents.iter().filter(|(_, it)| !it.permissions.is_empty());
        Self {
            permissions: shared.to_vec(),
            agents: agents
                .map(|(id, it)| (id.clone(), it.permissions.clone()))
                .collect(),
        }
    }

    /// Number of rules.
    pub(crate) fn count(&self) -> usize {
        self.permissions.len() + self.agents.iter().map(|(_, own)| own.len()).sum::<usize>()
    }

    /// The rules for an agent.
    pub(crate) fn of<'r>(&'r self, agent: &str) -> impl Iterator<Item = &'r PermissionRule> {
        let own = self.agents.iter().filter(move |(id, _)| id == agent);
        self.permissions.iter().chain(own.flat_map(|(_, own)| own))
    }
}

/// A value with its position in the text of the document, if the document is a text.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Located<T> {
    /// The value.
    pub value: T,
    /// The position.
    pub position: Option<Position>,
}

/// A document while its keys are read. The readers of the keys add to it.
pub(crate) struct Draft<'a> {
    /// The values read so far.
    pub document: Document,
    /// Returns the position of the value at the end of a path.
    pub locate: &'a dyn Fn(&[Step]) -> Option<Position>,
    /// Diagnostics for values without effect.
    pub notes: Vec<Diagnostic>,
}

impl Draft<'_> {
    /// The value of top-level key `key`, with its position.
    pub(crate) fn located<T>(&self, key: &str, value: T) -> Located<T> {
        self.located_at(&[Step::Key(key.to_owned())], value)
    }

    /// The members of top-level key `key`, each with its position.
    pub(crate) fn located_members<T>(
        &self,
        key: &str,
        members: Vec<(String, T)>,
    ) -> impl Iterator<Item = (String, Located<T>)> {
        members.into_iter().map(|(name, value)| {
            let path = [Step::Key(key.to_owned()), Step::Key(name.clone())];
            (name, self.located_at(&path, value))
        })
    }

    /// The value at the end of `path`, with its position.
    pub(crate) fn located_at<T>(&self, path: &[Step], value: T) -> Located<T> {
        let position = (self.locate)(path);
        Located { value, position }
    }

    /// Reports that the key has no effect because the host does not trust the project.
    pub(crate) fn withheld(&mut self, path: &[&str]) {
        let message = untrusted(&format!("{} has no effect", path.join(".")));
        let path: Vec<_> = path.iter().map(|&key| Step::Key(key.to_owned())).collect();
        self.ignored(&path, message);
    }

    /// Reports that this version does not know the key at the end of a path.
    pub(crate) fn unknown(&mut self, path: &[&str]) {
        let message = format!("{} has no effect in this version", path.join("."));
        let path: Vec<_> = path.iter().map(|&key| Step::Key(key.to_owned())).collect();
        self.ignored(&path, message);
    }

    /// Reports that the value at `path` has no effect. The rest of the document applies.
    pub(crate) fn ignored(&mut self, path: &[Step], message: String) {
        if self.notes.len() < MAX_NOTES {
            let position = (self.locate)(path);
            let (origin, kind) = (&self.document.origin, DiagnosticKind::Ignored);
            self.notes
                .push(Diagnostic::new(origin, kind, message, position));
        }
    }
}

/// Appends the reason to a message about a value that an untrusted project must not set.
pub(crate) fn untrusted(message: &str) -> String {
    format!("{message}: the host does not trust this project (see the option trust)")
}

/// The result of reading the document of a layer.
pub(super) enum Outcome {
    /// The document does not exist.
    Absent,
    /// The document is usable.
    Usable(Read),
    /// The document is not usable.
    Broken(Problem),
}

/// A usable document.
#[derive(Default)]
pub(super) struct Read {
    pub document: Box<Document>,
    /// Diagnostics for values without effect.
    pub diagnostics: Vec<Diagnostic>,
    /// Values that cannot be read and that could contain permissions.
    pub lost: Vec<UnreadablePermissions>,
}

/// The reason why a document cannot be used.
pub(super) struct Problem {
    pub origin: String,
    pub kind: DiagnosticKind,
    pub message: String,
    pub position: Option<Position>,
    /// True if the previous version of the document may stay in effect. False if the file no longer exists.
    pub keeps_previous: bool,
}

/// Reads the document of a layer. Files of an untrusted project must lie below `worktree`.
pub(super) fn read(layer: &Layer, worktree: &Path, environment: &Environment) -> Outcome {
    let bound = layer.source.is_untrusted().then_some(worktree);
    let (origin, bytes) = match &layer.place {
        Place::Inline { by, text, .. } => ((*by).to_owned(), Ok(Some(text.clone().into_bytes()))),
        Place::Remote(document) => {
            let content = document.content.as_ref();
            let bytes = content.map(|text| Some(text.clone().into_bytes()));
            (document.origin.clone(), bytes.map_err(String::clone))
        }
        Place::Host(value) => return of_value(layer, value),
        Place::Found(file) => (file.display().to_string(), load(file, bound)),
        Place::Named { by, file } => {
            let origin = file.display().to_string();
            match load(file, bound) {
                Ok(Some(bytes)) => (origin, Ok(Some(bytes))),
                Ok(None) => return Outcome::Broken(missing(origin, by)),
                Err(message) => (origin, Err(format!("{message}; it is named by {by}"))),
            }
        }
        // The documents of the directory are separate layers.
        Place::Directory(_) => return Outcome::Absent,
    };
    match bytes {
        Ok(None) => Outcome::Absent,
        Ok(Some(bytes)) => parse(layer, &origin, &bytes, bound, environment),
        Err(message) => Outcome::Broken(Problem {
            origin,
            kind: DiagnosticKind::Io,
            message,
            position: None,
            keeps_previous: true,
        }),
    }
}

fn missing(origin: String, by: &str) -> Problem {
    Problem {
        origin,
        kind: DiagnosticKind::Io,
        message: format!("There is no such file; it is named by {by}"),
        position: None,
        keeps_previous: false,
    }
}

fn load(file: &Path, bound: Option<&Path>) -> Result<Option<Vec<u8>>, String> {
    // A relative path would depend on the working directory, which the runtime does not control.
    if !file.is_absolute() {
        return Err("The path must be absolute".to_owned());
    }
    let exists = || std::fs::symlink_metadata(file).is_ok();
    if bound.is_some_and(|root| exists() && !is_project_text(file, root)) {
        return Err("A link leads out of the project".to_owned());
    }
    read_file(file, MAX_DOCUMENT_BYTES).map_err(|error| format!("The file cannot be read: {error}"))
}

fn parse(
    layer: &Layer,
    origin: &str,
    bytes: &[u8],
    bound: Option<&Path>,
    environment: &Environment,
) -> Outcome {
    let broken = |kind, message, position| {
        Outcome::Broken(Problem {
            origin: origin.to_owned(),
            kind,
            message,
            position: Some(position),
            keeps_previous: true,
        })
    };
    let original = match utf8(bytes) {
        Ok(text) => text,
        Err(valid) => {
            let message = "The text is not UTF-8".to_owned();
            let at = position(valid, valid.len());
            return broken(DiagnosticKind::Syntax, message, at);
        }
    };
    let tokens = bound.map_or(Tokens::All, Tokens::FilesBelow);
    let source = match substitute(original, &layer.base, tokens, environment) {
        Ok(source) => source,
        Err(error) => return broken(DiagnosticKind::Substitution, error.message, error.position),
    };
    match value(&source) {
        Ok(None) => Outcome::Absent,
        Ok(Some((parsed, value, repeats))) => {
            let locate = |path: &[Step]| Some(source.position(parsed.offset(path)));
            let refusal = |text: &str| source.refusal(text);
            let of_key = |path: &[Step]| locate(path.get(1..).unwrap_or_default());
            let key = match layer.place {
                Place::Inline { key, .. } => key,
                _ => None,
            };
            let locate: &dyn Fn(&[Step]) -> _ = if key.is_some() { &of_key } else { &locate };
            let under_key = |value| match key {
                Some(key) => Value::from_iter([(key, value)]),
                None => value,
            };
            let repeated = Repeated {
                repeats,
                under_key: &under_key,
                key,
                position: &|at| source.position(at),
            };
            let reading = Reading {
                layer,
                origin,
                locate,
                refusal: &refusal,
            };
            let mut outcome = reading.decode(under_key(value), Some(&repeated));
            if let Outcome::Usable(read) = &mut outcome {
                read.document.files = source.files().to_vec();
            }
            outcome
        }
        Err(error) => broken(
            DiagnosticKind::Syntax,
            error.message,
            source.position(error.at),
        ),
    }
}

/// A parsed text, its value, and the keys that stand twice in it.
type Parsed<'s> = (Jsonc<'s>, Value, Repeats<usize>);

fn value<'s>(source: &'s Substituted<'_>) -> Result<Option<Parsed<'s>>, SyntaxError> {
    let parsed = Jsonc::parse(source.text())?;
    let value = parsed.value()?;
    let repeats = parsed.repeats()?;
    Ok(value.map(|value| (parsed, value, repeats)))
}

/// Returns the text without its byte order mark. Fails with the part before the first byte that is not
/// UTF-8.
fn utf8(bytes: &[u8]) -> Result<&str, &str> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    std::str::from_utf8(bytes)
        .map_err(|error| std::str::from_utf8(&bytes[..error.valid_up_to()]).unwrap_or_default())
}

/// Reads the document that the host gives as a value.
fn of_value(layer: &Layer, value: &Value) -> Outcome {
    Reading {
        layer,
        origin: HOST,
        locate: &|_| None,
        refusal: &|_| None,
    }
    .decode(value.clone(), None)
}

/// Fails if a value is not valid for a key.
pub(super) fn check(key: &'static Member, value: &Value) -> Decoded<()> {
    let mut draft = Draft {
        document: Document::default(),
        locate: &|_| None,
        notes: Vec::new(),
    };
    keys::read(key, &mut draft, &serde_json::Map::new(), value)
}
