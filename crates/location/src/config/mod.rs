//! Configuration: which documents speak for a directory, and what each of them says.
//!
//! Documents stay apart, weakest first. There is no merged configuration object: each consumer
//! reduces the documents by its own rule, as the catalogue does with providers. A value that cannot
//! be used is left out alone, and a [`Diagnostic`] says so. If it could have held permissions, the
//! host asks before everything that it might have restricted ([`LostPermissions`]).
//!
//! Of the files of an untrusted project only text and caution count ([`Source::UntrustedProject`]):
//! the table of keys says which keys do, `untrusted` which fields of agents and commands.
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
#[cfg(test)]
mod fuzz;
mod host;
mod jsonc;
mod keys;
mod lost;
mod mcp;
pub(crate) mod options;
mod patch;
mod permission;
mod policy;
mod provider_v1;
mod provider_v2;
mod pruned;
mod reading;
mod reference;
mod selection;
mod settings;
mod shape;
mod skill;
mod source;
mod step;
mod substitution;

use std::fmt;
use std::path::{Path, PathBuf};

use opencode_schema::model::ModelRef;
use opencode_schema::permission::PermissionRule;
use url::Url;

pub use check::{ConfigurationProblem, problems};
pub use diagnostic::{Diagnostic, DiagnosticKind};
pub use document::{Document, MAX_DOCUMENT_BYTES};
pub use host::{HostConfiguration, HostModel};
pub use lost::LostPermissions;
pub(crate) use lost::misspelt_fields;
pub use permission::{WrongRules, permission_rules};
pub use selection::parse_model;
pub use settings::{Compaction, ImageLimits, Settings, Share, ToolOutputLimits};
pub use source::Source;

pub(crate) use agent::{AgentPatch, decode_fields as decode_agent_fields};
pub(crate) use command::{CommandPatch, decode_fields as decode_command_fields};
pub(crate) use decode::{
    Decoded, Invalid, boolean, count, elements, entries, number, object, optional, text, texts,
    wrong,
};
pub(crate) use document::{Located, untrusted};
pub(crate) use jsonc::{Position, position};
pub(crate) use patch::{ApiPatch, ModelPatch, ProviderPatch, ReasoningOption, VariantPatch};
pub(crate) use policy::Policy;
pub(crate) use provider_v1::{cost as listed_cost, listed_model};
pub(crate) use provider_v2::request as request_settings;
pub(crate) use pruned::Pruned;
pub(crate) use reference::{ReferenceOrigin, ReferencePatch};
pub(crate) use selection::NamedModel;
pub(crate) use step::Step;

use crate::directory::lexical;
use crate::environment::Environment;
use crate::project::Project;
use crate::secret::shown_address;
use discovery::{Layer, Place};
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
    /// Rules of the embedding program that no other rule loosens. An `ask` asks each time.
    pub(crate) ceiling: Vec<PermissionRule>,
    instructions: Vec<InstructionEntry>,
    /// Values and documents that cannot be read and could have held permissions.
    pub(crate) lost: Vec<LostPermissions>,
}

/// Something that speaks for a directory.
#[derive(Debug, Clone, PartialEq)]
pub enum Entry {
    /// A usable document.
    Document(Box<Document>),
    /// A directory in which agents, commands and skills are defined in files of their own. It need
    /// not exist.
    Directory(DefinitionDirectory),
}

/// A directory in which agents, commands and skills are defined in files of their own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DefinitionDirectory {
    /// Its path.
    pub path: PathBuf,
    /// Who wrote its files.
    pub source: Source,
    /// The directory that the files must not lead out of; none if they may.
    pub bound: Option<PathBuf>,
}

/// Instructions that a document asks for.
#[derive(Clone, PartialEq, Eq)]
pub struct InstructionEntry {
    /// A path, a glob or an address, as it is written.
    pub text: String,
    /// The directory at which a relative path starts.
    pub base: PathBuf,
    /// Who asks.
    pub source: Source,
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
            .field("source", &self.source)
            .finish()
    }
}

impl Configuration {
    /// Reads everything that speaks for a directory in normal form. Blocks on the disk.
    ///
    /// `host` is what the embedding program configures itself; it is the strongest. `is_trusted` says
    /// whether the host trusts the files of the project.
    pub fn load(
        environment: &Environment,
        project: &Project,
        directory: &str,
        host: &HostConfiguration,
        is_trusted: bool,
    ) -> Self {
        Self::default().reload(environment, project, directory, host, is_trusted)
    }

    /// Reads it again. A document that has become unusable stays in force as it was read last, under
    /// the restriction that the host asks before everything.
    pub fn reload(
        &self,
        environment: &Environment,
        project: &Project,
        directory: &str,
        host: &HostConfiguration,
        is_trusted: bool,
    ) -> Self {
        let mut loaded = Self::default();
        let config = host.config.as_ref();
        let worktree = project.worktree(Path::new(directory), &environment.home);
        for layer in discovery::layers(environment, project, directory, is_trusted, config) {
            if let Place::Directory(path) = layer.place {
                let source = layer.source;
                loaded.entries.push(Entry::Directory(DefinitionDirectory {
                    path,
                    source,
                    bound: source.is_untrusted().then(|| worktree.to_owned()),
                }));
                continue;
            }
            match document::read(&layer, worktree, environment) {
                Outcome::Absent => {}
                Outcome::Usable(read) => {
                    loaded.entries.push(Entry::Document(read.document));
                    loaded.diagnostics.extend(read.diagnostics);
                    loaded.lost.extend(read.lost);
                }
                Outcome::Broken(problem) => loaded.leave_out(problem, &layer, self),
            }
        }
        loaded.ceiling.clone_from(&host.ceiling);
        if let Some(model) = &host.model {
            loaded.choose(model, Path::new(directory));
        }
        loaded.settings = Settings::of(loaded.documents());
        loaded.settings.switch(environment, &mut loaded.diagnostics);
        loaded.take_instructions(environment, worktree);
        loaded
    }

    /// Takes the instructions that documents ask for. Those of an untrusted project must lie in it.
    fn take_instructions(&mut self, environment: &Environment, worktree: &Path) {
        for entry in self.documents().flat_map(instructions).collect::<Vec<_>>() {
            let (origin, entry) = entry;
            let place = lexical(&environment.expand(&entry.base, &entry.text));
            let leads_out = entry.address().is_some() || !place.starts_with(worktree);
            if entry.source.is_untrusted() && leads_out {
                let message = "An entry of instructions leads out of the project and has no effect";
                let (kind, message) = (DiagnosticKind::Ignored, untrusted(message));
                self.diagnostics
                    .push(Diagnostic::new(&origin, kind, message, None));
                continue;
            }
            self.instructions.push(entry);
        }
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

    /// Whether the embedding program chooses the model of sessions that choose none.
    pub(crate) fn host_names_model(&self) -> bool {
        let mut of_host = self.documents().filter(|it| it.source == Source::Host);
        of_host.any(|it| it.model.is_some())
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

    /// Leaves a document out, or keeps it as it was before. Either way it could have held permissions.
    fn leave_out(&mut self, problem: Problem, layer: &Layer<'_>, before: &Self) {
        let same = |document: &&Document| {
            document.origin == problem.origin && document.source == layer.source
        };
        let previous = before
            .documents()
            .find(|document| problem.keeps_previous && same(document));
        let effect = match (&previous, problem.kind) {
            (Some(_), _) => "; the document stays in force as it was read before",
            (None, DiagnosticKind::Invalid) => "; the whole document is left out",
            (None, _) => "",
        };
        let mut lost = LostPermissions::everything(String::new());
        let diagnostic = Diagnostic::new(
            &problem.origin,
            problem.kind,
            problem.message + effect + &lost.consequence(),
            problem.position,
        );
        lost.reason = diagnostic.to_string();
        lost.file = layer.place.file().map(Path::to_owned);
        self.lost.push(lost);
        self.diagnostics.push(diagnostic);
        let kept = previous.cloned().map(Box::new).map(Entry::Document);
        self.entries.extend(kept);
    }
}

/// The instructions that a document asks for, with its origin.
fn instructions(document: &Document) -> impl Iterator<Item = (String, InstructionEntry)> {
    document.instructions.iter().map(|text| {
        let entry = InstructionEntry {
            text: text.clone(),
            base: document.base.clone(),
            source: document.source,
        };
        (document.origin.clone(), entry)
    })
}
