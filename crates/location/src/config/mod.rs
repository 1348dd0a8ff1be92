//! Configuration: which documents speak for a directory, and what each of them says.
//!
//! Documents stay apart, weakest first. There is no merged configuration object: each consumer
//! reduces the documents by its own rule, as the catalogue does with providers. A document that
//! cannot be used is left out alone, and a [`Diagnostic`] says so.
//!
//! How to read it: `discovery` says where documents are, `document` reads one, `keys` is the table of
//! its keys; the other files read one key or a few that belong together.

mod agent;
mod check;
mod command;
mod decode;
mod diagnostic;
mod discovery;
mod document;
mod host;
mod jsonc;
mod keys;
mod mcp;
mod patch;
mod permission;
mod policy;
mod provider_v1;
mod provider_v2;
mod reference;
mod selection;
mod settings;
mod shape;
mod skill;
mod substitution;

use std::fmt;
use std::path::{Path, PathBuf};

use opencode_schema::model::ModelRef;
use url::Url;

pub use check::{ConfigurationProblem, problems};
pub use diagnostic::{Diagnostic, DiagnosticKind};
pub use document::{Document, MAX_DOCUMENT_BYTES};
pub use host::{HostConfiguration, HostModel};
pub use selection::parse_model;
pub use settings::{Compaction, ImageLimits, Settings, Share, ToolOutputLimits};

pub(crate) use agent::{AgentPatch, decode_fields as decode_agent_fields};
pub(crate) use command::{CommandPatch, decode_fields as decode_command_fields};
pub(crate) use decode::{
    Decoded, Invalid, Step, boolean, count, elements, entries, number, object, optional, text,
    texts, wrong,
};
pub(crate) use document::Located;
pub(crate) use jsonc::{Position, position};
pub(crate) use patch::{ApiPatch, ModelPatch, ProviderPatch, ReasoningOption, VariantPatch};
pub(crate) use policy::Policy;
pub(crate) use provider_v1::{cost as listed_cost, listed_model};
pub(crate) use provider_v2::request as request_settings;
pub(crate) use reference::{ReferenceOrigin, ReferencePatch};
pub(crate) use selection::NamedModel;

use crate::environment::Environment;
use crate::project::Project;
use crate::secret::shown_address;
use discovery::Place;
use document::{Outcome, Problem};

/// What speaks for a directory.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Configuration {
    /// Documents and directories of definitions, weakest first.
    pub entries: Vec<Entry>,
    /// What was left out or has no effect, in the order of discovery.
    pub diagnostics: Vec<Diagnostic>,
    /// The keys that are one value each.
    pub settings: Settings,
    /// The model that the embedding program chose.
    pub(crate) host_model: Option<HostModel>,
    instructions: Vec<InstructionEntry>,
}

/// Something that speaks for a directory.
#[derive(Debug, Clone, PartialEq)]
pub enum Entry {
    /// A usable document.
    Document(Box<Document>),
    /// A directory in which agents, commands and skills are defined in files of their own. It need
    /// not exist.
    Directory(PathBuf),
}

/// Instructions that a document asks for.
#[derive(Clone, PartialEq, Eq)]
pub struct InstructionEntry {
    /// A path, a glob or an address, as it is written.
    pub text: String,
    /// The directory at which a relative path starts.
    pub base: PathBuf,
    /// Whether a document of the project asks, not one of the user or the host.
    pub from_project: bool,
}

impl InstructionEntry {
    /// The address, if the entry is one and not a path on this machine.
    pub fn address(&self) -> Option<Url> {
        let url = Url::parse(&self.text).ok()?;
        matches!(url.scheme(), "http" | "https").then_some(url)
    }
}

/// Shows what of an address is no secret.
impl fmt::Debug for InstructionEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = self.address().map(|url| shown_address(&url));
        f.debug_struct("InstructionEntry")
            .field("text", text.as_ref().unwrap_or(&self.text))
            .field("base", &self.base)
            .field("from_project", &self.from_project)
            .finish()
    }
}

impl Configuration {
    /// Reads everything that speaks for a directory in normal form. Blocks on the disk.
    ///
    /// `host` is what the embedding program configures itself; it is the strongest.
    pub fn load(
        environment: &Environment,
        project: &Project,
        directory: &str,
        host: &HostConfiguration,
    ) -> Self {
        Self::default().reload(environment, project, directory, host)
    }

    /// Reads it again. A document that has become unusable stays in force as it was read last.
    pub fn reload(
        &self,
        environment: &Environment,
        project: &Project,
        directory: &str,
        host: &HostConfiguration,
    ) -> Self {
        let mut loaded = Self::default();
        for layer in discovery::layers(environment, project, directory, host.config.as_ref()) {
            if let Place::Directory(path) = layer.place {
                loaded.entries.push(Entry::Directory(path));
                continue;
            }
            match document::read(&layer, environment) {
                Outcome::Absent => {}
                Outcome::Usable(document, notes) => {
                    loaded.entries.push(Entry::Document(document));
                    loaded.diagnostics.extend(notes);
                }
                Outcome::Broken(problem) => loaded.leave_out(problem, self),
            }
        }
        if let Some(model) = &host.model {
            loaded.choose(model, Path::new(directory));
        }
        loaded.settings = Settings::of(loaded.documents());
        loaded.settings.switch(environment, &mut loaded.diagnostics);
        loaded.instructions = loaded.documents().flat_map(instructions).collect();
        loaded
    }

    /// The usable documents, weakest first.
    pub fn documents(&self) -> impl DoubleEndedIterator<Item = &Document> {
        self.entries.iter().filter_map(|entry| match entry {
            Entry::Document(document) => Some(&**document),
            Entry::Directory(_) => None,
        })
    }

    /// The instructions that documents ask for, those of the weakest first.
    pub fn instructions(&self) -> &[InstructionEntry] {
        &self.instructions
    }

    /// The model for small tasks that the strongest document names.
    pub fn small_model(&self) -> Option<&ModelRef> {
        let named = self
            .documents()
            .rev()
            .find_map(|it| it.small_model.as_ref());
        named.map(|named| &named.value)
    }

    /// The agent of sessions that choose none, as the strongest document names it.
    pub fn default_agent(&self) -> Option<&str> {
        let named = self
            .documents()
            .rev()
            .find_map(|it| it.default_agent.as_ref());
        named.map(|named| named.value.as_str())
    }

    /// Puts what the embedding program says of a model over all documents.
    fn choose(&mut self, model: &HostModel, directory: &Path) {
        for entry in &mut self.entries {
            if let Entry::Document(document) = entry {
                self.diagnostics.extend(model.withhold_addresses(document));
            }
        }
        let document = model.document(directory);
        self.entries.push(Entry::Document(Box::new(document)));
        self.host_model = Some(model.clone());
    }

    /// Leaves a document out, or keeps it as it was before.
    fn leave_out(&mut self, problem: Problem, before: &Self) {
        let previous = before
            .documents()
            .find(|document| problem.keeps_previous && document.origin == problem.origin);
        let consequence = match (&previous, problem.kind) {
            (Some(_), _) => "; the document stays in force as it was read before",
            (None, DiagnosticKind::Invalid) => "; the whole document is left out",
            (None, _) => "",
        };
        self.diagnostics.push(Diagnostic::new(
            &problem.origin,
            problem.kind,
            problem.message + consequence,
            problem.position,
        ));
        let kept = previous.cloned().map(Box::new).map(Entry::Document);
        self.entries.extend(kept);
    }
}

fn instructions(document: &Document) -> impl Iterator<Item = InstructionEntry> {
    document.instructions.iter().map(|text| InstructionEntry {
        text: text.clone(),
        base: document.base.clone(),
        from_project: document.from_project,
    })
}
