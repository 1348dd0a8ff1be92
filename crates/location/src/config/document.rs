//! One configuration document: from its bytes to what it says.

use std::fmt;
use std::path::{Path, PathBuf};

use opencode_schema::permission::PermissionRule;
use serde_json::Value;

use super::agent::AgentPatch;
use super::command::CommandPatch;
use super::decode::Decoded;
use super::diagnostic::{Diagnostic, DiagnosticKind};
use super::discovery::{Layer, Place};
use super::jsonc::{Jsonc, Position, SyntaxError, position};
use super::keys;
use super::lost::LostPermissions;
use super::patch::ProviderPatch;
use super::policy::Policy;
use super::reading::Reading;
use super::reference::NamedReference;
use super::selection::NamedModel;
use super::settings::SettingsPatch;
use super::source::Source;
use super::step::Step;
use super::substitution::{Substituted, Tokens, substitute};
use crate::bounded;
use crate::containment::is_project_text;
use crate::environment::Environment;

/// Largest document read. The largest sensible one, a catalogue of a thousand models, is a fifth
/// of it.
pub const MAX_DOCUMENT_BYTES: u64 = 4 * 1024 * 1024;

/// Most things said about one document. Whoever reads them has corrected the first ones long
/// before the last.
const MAX_NOTES: usize = 50;

/// What the host's own configuration is called in diagnostics.
const HOST: &str = "the host's config option";

/// A usable document: what each key says, as the table of keys reads it.
#[derive(Clone, PartialEq, Default)]
pub struct Document {
    /// The file it was read from, or the name of what gave it.
    pub origin: String,
    /// The directory its relative paths start at.
    pub base: PathBuf,
    /// Who wrote it.
    pub source: Source,
    /// The default model it names.
    pub(crate) model: Option<NamedModel>,
    /// The model for small tasks it names.
    pub(crate) small_model: Option<NamedModel>,
    /// The agent of sessions that choose none.
    pub(crate) default_agent: Option<Located<String>>,
    /// What it says about providers, in its order.
    pub(crate) providers: Vec<(String, ProviderPatch)>,
    /// Which providers may be used, the last statement that matches deciding.
    pub(crate) policies: Vec<Policy>,
    /// What it says about agents, the later over the earlier.
    pub(crate) agents: Vec<(String, AgentPatch)>,
    /// What any agent may do, before what is said about that agent.
    pub(crate) permissions: Vec<PermissionRule>,
    /// What it says about commands, the later over the earlier.
    pub(crate) commands: Vec<(String, Located<CommandPatch>)>,
    /// Directories and addresses of skills.
    pub(crate) skills: Vec<Located<String>>,
    /// The references it declares, the later over the earlier.
    pub(crate) references: Vec<NamedReference>,
    /// Paths, globs and addresses of instructions.
    pub(crate) instructions: Vec<String>,
    /// The keys that are one value each.
    pub(crate) settings: SettingsPatch,
}

/// Shows where it comes from: addresses of instructions, skills and references may hold secrets.
impl fmt::Debug for Document {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Document")
            .field("origin", &self.origin)
            .field("source", &self.source)
            .finish_non_exhaustive()
    }
}

/// A value and where the document has it, if that is a text.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Located<T> {
    /// The value.
    pub value: T,
    /// Where it stands.
    pub position: Option<Position>,
}

/// A document while its keys are read: what a key's reader adds to.
pub(crate) struct Draft<'a> {
    /// What was read so far.
    pub document: Document,
    /// Where the value at the end of a path stands.
    pub locate: &'a dyn Fn(&[Step]) -> Option<Position>,
    /// What has no effect.
    pub notes: Vec<Diagnostic>,
}

impl Draft<'_> {
    /// The value of top-level key `key`, with its place.
    pub(crate) fn located<T>(&self, key: &str, value: T) -> Located<T> {
        self.located_at(&[Step::Key(key.to_owned())], value)
    }

    /// The members of top-level key `key`, each with its place.
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

    /// The value at the end of `path`, with its place.
    pub(crate) fn located_at<T>(&self, path: &[Step], value: T) -> Located<T> {
        let position = (self.locate)(path);
        Located { value, position }
    }

    /// Says that the key has no effect because the host does not trust the project.
    pub(crate) fn withheld(&mut self, path: &[&str]) {
        let message = untrusted(&format!("{} has no effect", path.join(".")));
        let path: Vec<_> = path.iter().map(|&key| Step::Key(key.to_owned())).collect();
        self.ignored(&path, message);
    }

    /// Says that this version does not know the key at the end of a path.
    pub(crate) fn unknown(&mut self, path: &[&str]) {
        let message = format!("{} has no effect in this version", path.join("."));
        let path: Vec<_> = path.iter().map(|&key| Step::Key(key.to_owned())).collect();
        self.ignored(&path, message);
    }

    /// Says that what stands at `path` has no effect, while the rest of the document holds.
    pub(crate) fn ignored(&mut self, path: &[Step], message: String) {
        if self.notes.len() < MAX_NOTES {
            let position = (self.locate)(path);
            let (origin, kind) = (&self.document.origin, DiagnosticKind::Ignored);
            self.notes
                .push(Diagnostic::new(origin, kind, message, position));
        }
    }
}

/// Completes a message about what an untrusted project may not say.
pub(crate) fn untrusted(message: &str) -> String {
    format!("{message}: the host does not trust this project (see the option trust)")
}

/// What came of the document of a layer.
pub(super) enum Outcome {
    /// There is none.
    Absent,
    /// It is usable.
    Usable(Read),
    /// It is not; its origin and why.
    Broken(Problem),
}

/// A usable document.
#[derive(Default)]
pub(super) struct Read {
    pub document: Box<Document>,
    /// What in it has no effect.
    pub diagnostics: Vec<Diagnostic>,
    /// Values of it that cannot be read and could have held permissions.
    pub lost: Vec<LostPermissions>,
}

/// Why a document cannot be used.
pub(super) struct Problem {
    pub origin: String,
    pub kind: DiagnosticKind,
    pub message: String,
    pub position: Option<Position>,
    /// Whether an older version of the document may stay in force. A file that is gone has none.
    pub keeps_previous: bool,
}

/// Reads the document of a layer. Files of an untrusted project must lie below `worktree`.
pub(super) fn read(layer: &Layer, worktree: &Path, environment: &Environment) -> Outcome {
    let bound = layer.source.is_untrusted().then_some(worktree);
    let (origin, bytes) = match &layer.place {
        Place::Inline { by, text, .. } => ((*by).to_owned(), Ok(Some(text.clone().into_bytes()))),
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
        // Its documents are layers of their own.
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
    // A relative name would be taken from the working directory, which belongs to somebody else.
    if !file.is_absolute() {
        return Err("The path must be absolute".to_owned());
    }
    let exists = || std::fs::symlink_metadata(file).is_ok();
    if bound.is_some_and(|root| exists() && !is_project_text(file, root)) {
        return Err("A link leads out of the project".to_owned());
    }
    bounded::read(file, MAX_DOCUMENT_BYTES)
        .map_err(|error| format!("The file cannot be read: {error}"))
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
        Ok(Some((parsed, value))) => {
            let locate = |path: &[Step]| Some(source.position(parsed.offset(path)));
            let refusal = |text: &str| source.refusal(text);
            let of_key = |path: &[Step]| locate(path.get(1..).unwrap_or_default());
            let (value, locate): (_, &dyn Fn(&[Step]) -> _) = match layer.place {
                Place::Inline { key: Some(key), .. } => (Value::from_iter([(key, value)]), &of_key),
                _ => (value, &locate),
            };
            Reading {
                layer,
                origin,
                locate,
                refusal: &refusal,
            }
            .decode(value)
        }
        Err(error) => broken(
            DiagnosticKind::Syntax,
            error.message,
            source.position(error.at),
        ),
    }
}

fn value<'s>(source: &'s Substituted<'_>) -> Result<Option<(Jsonc<'s>, Value)>, SyntaxError> {
    let parsed = Jsonc::parse(source.text())?;
    let value = parsed.value()?;
    Ok(value.map(|value| (parsed, value)))
}

/// The text without its mark of byte order, or the part of it before the first byte that is not
/// UTF-8.
fn utf8(bytes: &[u8]) -> Result<&str, &str> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    std::str::from_utf8(bytes)
        .map_err(|error| std::str::from_utf8(&bytes[..error.valid_up_to()]).unwrap_or_default())
}

/// The document the host gave as a value.
fn of_value(layer: &Layer, value: &Value) -> Outcome {
    Reading {
        layer,
        origin: HOST,
        locate: &|_| None,
        refusal: &|_| None,
    }
    .decode(value.clone())
}

/// Whether a value is one that a key takes.
pub(super) fn check(key: &keys::Key, value: &Value) -> Decoded<()> {
    let mut draft = Draft {
        document: Document::default(),
        locate: &|_| None,
        notes: Vec::new(),
    };
    key.read(&mut draft, &serde_json::Map::new(), value)
}
