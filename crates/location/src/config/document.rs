//! One configuration document: from its bytes to what it says.

use std::fmt;
use std::path::Path;

use opencode_schema::model::ModelRef;
use serde_json::{Map, Value};

use super::agent::{self, AgentPatch};
use super::decode::{self, Decoded, Step, optional};
use super::discovery::Layer;
use super::jsonc::{Jsonc, Position, SyntaxError, position};
use super::patch::ProviderPatch;
use super::{compaction, provider_v1, provider_v2, selection};
use crate::bounded;

/// Largest document read. The largest sensible one, a catalogue of a thousand models, is a fifth
/// of it.
pub const MAX_DOCUMENT_BYTES: u64 = 4 * 1024 * 1024;

/// What the host's own configuration is called in diagnostics.
const HOST: &str = "the host's config option";

/// A usable document.
#[derive(Debug, Clone, PartialEq)]
pub struct Document {
    /// The file it was read from, or the name of what gave it.
    pub origin: String,
    /// The default model it names.
    pub(crate) model: Option<NamedModel>,
    /// What it says about providers, in its order.
    pub(crate) providers: Vec<(String, ProviderPatch)>,
    /// What it says about agents, the later over the earlier.
    pub(crate) agents: Vec<(String, AgentPatch)>,
    /// How much of the newest history a compaction leaves as it is.
    pub(crate) keep_tokens: Option<u64>,
}

/// The default model a document names, and where.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct NamedModel {
    /// The model.
    pub selection: ModelRef,
    /// Where the document names it, if it is text.
    pub position: Option<Position>,
}

/// Something in the configuration that does not have the effect its author expects.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// The file, or the name of what gave the document.
    pub path: String,
    /// What kind of thing is wrong.
    pub kind: DiagnosticKind,
    /// What is wrong and what to do about it.
    pub message: String,
    /// The line it is in, counted from 1.
    pub line: Option<u32>,
    /// The column it is at, in characters, counted from 1.
    pub column: Option<u32>,
}

/// The kinds of diagnostics. Those before [`DiagnosticKind::Ignored`] cost the whole document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DiagnosticKind {
    /// The document cannot be read.
    Io,
    /// It is not JSON with comments and trailing commas.
    Syntax,
    /// A value in it is not what its key takes.
    Invalid,
    /// One value has no effect; the rest of the document holds.
    Ignored,
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.path)?;
        for place in [self.line, self.column].into_iter().flatten() {
            write!(f, ":{place}")?;
        }
        write!(f, ": {}", self.message)
    }
}

impl Diagnostic {
    /// A diagnostic, also logged: a host that does not look at diagnostics has at least the log.
    pub(crate) fn new(
        path: &str,
        kind: DiagnosticKind,
        message: String,
        position: Option<Position>,
    ) -> Self {
        let line = position.map(|position| position.line);
        let column = position.map(|position| position.column);
        tracing::warn!(path, ?kind, line, column, "configuration: {message}");
        Self {
            path: path.to_owned(),
            kind,
            message,
            line,
            column,
        }
    }
}

/// Reads the document of a layer; none if there is none or it cannot be used.
pub(super) fn read(layer: &Layer, diagnostics: &mut Vec<Diagnostic>) -> Option<Document> {
    let (origin, bytes) = match layer {
        Layer::Inline { by, text } => ((*by).to_owned(), Ok(Some(text.clone().into_bytes()))),
        Layer::Found(file) => (file.display().to_string(), load(file)),
        Layer::Named { by, file } => {
            let bytes = load(file).and_then(|bytes| {
                bytes
                    .map(Some)
                    .ok_or_else(|| "There is no such file".to_owned())
            });
            let bytes = bytes.map_err(|message| format!("{message}; it is named by {by}"));
            (file.display().to_string(), bytes)
        }
    };
    match bytes {
        Ok(None) => None,
        Ok(Some(bytes)) => parse(&origin, &bytes, diagnostics),
        Err(message) => {
            diagnostics.push(Diagnostic::new(&origin, DiagnosticKind::Io, message, None));
            None
        }
    }
}

/// The document the host gave as a value.
pub(super) fn of_value(value: &Value, diagnostics: &mut Vec<Diagnostic>) -> Option<Document> {
    document(HOST, value, |_| None, diagnostics)
}

fn load(file: &Path) -> Result<Option<Vec<u8>>, String> {
    // A relative name would be taken from the working directory, which belongs to somebody else.
    if !file.is_absolute() {
        return Err("The file must be named by an absolute path".to_owned());
    }
    bounded::read(file, MAX_DOCUMENT_BYTES)
        .map_err(|error| format!("The file cannot be read: {error}"))
}

fn parse(origin: &str, bytes: &[u8], diagnostics: &mut Vec<Diagnostic>) -> Option<Document> {
    let parsed = utf8(bytes).and_then(|text| {
        let parsed = Jsonc::parse(text)?;
        let value = parsed.value()?;
        Ok((parsed, value))
    });
    match parsed {
        Ok((_, None)) => None,
        Ok((parsed, Some(value))) => document(
            origin,
            &value,
            |path| Some(parsed.position(path)),
            diagnostics,
        ),
        Err(error) => {
            diagnostics.push(Diagnostic::new(
                origin,
                DiagnosticKind::Syntax,
                error.message,
                Some(error.position),
            ));
            None
        }
    }
}

fn utf8(bytes: &[u8]) -> Result<&str, SyntaxError> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    std::str::from_utf8(bytes).map_err(|error| {
        let valid = std::str::from_utf8(&bytes[..error.valid_up_to()]).unwrap_or_default();
        SyntaxError {
            message: "The text is not UTF-8".to_owned(),
            position: position(valid, valid.len()),
        }
    })
}

fn document(
    origin: &str,
    value: &Value,
    position: impl Fn(&[Step]) -> Option<Position>,
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<Document> {
    match decode(value) {
        Ok(Contents {
            model,
            providers,
            agents,
            keep_tokens,
            repeated,
        }) => {
            if let Some(id) = repeated {
                diagnostics.push(both_generations(origin, &id, &position));
            }
            let model = model.map(|selection| NamedModel {
                selection,
                position: position(&[Step::Key("model".to_owned())]),
            });
            Some(Document {
                origin: origin.to_owned(),
                model,
                providers,
                agents,
                keep_tokens,
            })
        }
        Err(invalid) => {
            diagnostics.push(Diagnostic::new(
                origin,
                DiagnosticKind::Invalid,
                format!("{invalid}; the whole document is left out"),
                position(&invalid.path()),
            ));
            None
        }
    }
}

/// What a document says.
struct Contents {
    model: Option<ModelRef>,
    providers: Vec<(String, ProviderPatch)>,
    agents: Vec<(String, AgentPatch)>,
    keep_tokens: Option<u64>,
    /// The first provider it describes in both generations of the format.
    repeated: Option<String>,
}

fn decode(value: &Value) -> Decoded<Contents> {
    let root = decode::object(value)?;
    let model = optional(root, "model", selection::decode)?;
    let older = optional(root, "provider", provider_v1::decode)?.unwrap_or_default();
    let newer = optional(root, "providers", provider_v2::decode)?.unwrap_or_default();
    let described = root.get("providers").and_then(Value::as_object);
    let repeated = older
        .iter()
        .map(|(id, _)| id)
        .find(|id| described.is_some_and(|described| described.contains_key(*id)))
        .cloned();
    // The later description of a provider overrides the earlier one, key by key.
    let providers = older.into_iter().chain(newer).collect();
    Ok(Contents {
        model,
        providers,
        agents: agents(root)?,
        keep_tokens: optional(root, "compaction", compaction::decode)?.flatten(),
        repeated,
    })
}

/// The agents of the document, those of the older generations first.
fn agents(root: &Map<String, Value>) -> Decoded<Vec<(String, AgentPatch)>> {
    let mut agents = Vec::new();
    for name in ["mode", "agent"] {
        agents.extend(optional(root, name, agent::decode_older)?.unwrap_or_default());
    }
    agents.extend(optional(root, "agents", agent::decode)?.unwrap_or_default());
    Ok(agents)
}

fn both_generations(
    origin: &str,
    id: &str,
    position: impl Fn(&[Step]) -> Option<Position>,
) -> Diagnostic {
    let path = [Step::Key("provider".to_owned()), Step::Key(id.to_owned())];
    Diagnostic::new(
        origin,
        DiagnosticKind::Ignored,
        format!(
            "provider.{id} and providers.{id} describe the same provider; where two such descriptions differ, the one under providers holds"
        ),
        position(&path),
    )
}
