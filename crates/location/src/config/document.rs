//! One configuration document: from its bytes to what it says.

use std::fmt;
use std::path::{Path, PathBuf};

use opencode_schema::permission::PermissionRule;
use serde_json::Value;

use super::agent::AgentPatch;
use super::command::CommandPatch;
use super::decode::{self, Decoded, Step};
use super::diagnostic::{Diagnostic, DiagnosticKind};
use super::discovery::{Layer, Place};
use super::jsonc::{Jsonc, Position, SyntaxError, position};
use super::keys;
use super::patch::ProviderPatch;
use super::policy::Policy;
use super::reference::NamedReference;
use super::selection::NamedModel;
use super::settings::SettingsPatch;
use super::substitution::{Substituted, substitute};
use crate::bounded;
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
    /// Whether it is one of the project's, not of the user's or the host's.
    pub from_project: bool,
    /// Whether the embedding program gave it.
    pub from_host: bool,
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
            .field("from_project", &self.from_project)
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
    locate: &'a dyn Fn(&[Step]) -> Option<Position>,
    notes: Vec<Diagnostic>,
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

/// What came of the document of a layer.
pub(super) enum Outcome {
    /// There is none.
    Absent,
    /// It is usable, apart from what these say.
    Usable(Box<Document>, Vec<Diagnostic>),
    /// It is not; its origin and why.
    Broken(Problem),
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

/// Reads the document of a layer.
pub(super) fn read(layer: &Layer, environment: &Environment) -> Outcome {
    let (origin, bytes) = match &layer.place {
        Place::Inline { by, text, .. } => ((*by).to_owned(), Ok(Some(text.clone().into_bytes()))),
        Place::Host(value) => return of_value(layer, value),
        Place::Found(file) => (file.display().to_string(), load(file)),
        Place::Named { by, file } => {
            let origin = file.display().to_string();
            match load(file) {
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
        Ok(Some(bytes)) => parse(layer, &origin, &bytes, environment),
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

fn load(file: &Path) -> Result<Option<Vec<u8>>, String> {
    // A relative name would be taken from the working directory, which belongs to somebody else.
    if !file.is_absolute() {
        return Err("The path must be absolute".to_owned());
    }
    bounded::read(file, MAX_DOCUMENT_BYTES)
        .map_err(|error| format!("The file cannot be read: {error}"))
}

fn parse(layer: &Layer, origin: &str, bytes: &[u8], environment: &Environment) -> Outcome {
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
    let source = match substitute(original, &layer.base, environment) {
        Ok(source) => source,
        Err(error) => return broken(DiagnosticKind::Substitution, error.message, error.position),
    };
    match value(&source) {
        Ok(None) => Outcome::Absent,
        Ok(Some((parsed, value))) => {
            let locate = |path: &[Step]| Some(source.position(parsed.offset(path)));
            match layer.place {
                Place::Inline { key: Some(key), .. } => {
                    let document = Value::from_iter([(key, value)]);
                    decode(layer, origin, &document, &|path| {
                        locate(path.get(1..).unwrap_or_default())
                    })
                }
                _ => decode(layer, origin, &value, &locate),
            }
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
    decode(layer, HOST, value, &|_| None)
}

fn decode(
    layer: &Layer,
    origin: &str,
    value: &Value,
    locate: &dyn Fn(&[Step]) -> Option<Position>,
) -> Outcome {
    let document = Document {
        origin: origin.to_owned(),
        base: layer.base.clone(),
        from_project: layer.from_project,
        from_host: matches!(layer.place, Place::Host(_)),
        ..Document::default()
    };
    let mut draft = Draft {
        document,
        locate,
        notes: Vec::new(),
    };
    match read_keys(&mut draft, value) {
        Ok(()) => Outcome::Usable(Box::new(draft.document), draft.notes),
        Err(invalid) => Outcome::Broken(Problem {
            origin: origin.to_owned(),
            kind: DiagnosticKind::Invalid,
            position: locate(&invalid.path()),
            message: invalid.to_string(),
            keeps_previous: true,
        }),
    }
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

fn read_keys(draft: &mut Draft<'_>, value: &Value) -> Decoded<()> {
    let root = decode::object(value)?;
    for key in keys::KEYS {
        if let Some(value) = root.get(key.name) {
            key.read(draft, root, value)
                .map_err(|invalid| invalid.at(key.name))?;
        }
    }
    keys::report_unknown(draft, root);
    Ok(())
}
