//! Configuration: the documents that apply to a directory, and their contents.
//!
//! The documents stay separate, weakest first. There is no merged configuration object: each consumer
//! combines the documents by its own rule, for example the catalogue for providers. A value that cannot
//! be used is left out alone and reported as a [`Diagnostic`]. If the value could contain permissions,
//! the host asks the user before every action that it could restrict ([`UnreadablePermissions`]).
//!
//! In files of an untrusted project, only text and restrictions take effect ([`Source::UntrustedProject`]). The
//! declaration defines this for keys, and `definitions/untrusted.rs` for fields of agents and commands.
//!
//! Overview: `discovery` finds the documents, `document` reads one, and `keys` reads its keys, which the crate
//! `declaration` lists. `values` reads single values as they are declared. Each of the other files reads one key or a few
//! related keys.

mod agent;
mod changed;
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
mod remote;
mod repeated;
mod selection;
mod settings;
mod skill;
mod source;
mod step;
mod substitution;
mod unreadable_permissions;
mod values;

use std::fmt;
use std::path::{Path, PathBuf};

use opencode_schema::model::ModelRef;
use opencode_schema::permission::PermissionRule;
use serde_json::Value;
use url::Url;

pub use check::{ConfigurationProblem, problems};
pub use diagnostic::{Diagnostic, DiagnosticKind};
pub use document::{Document, MAX_DOCUMENT_BYTES};
pub use host::{HostConfiguration, HostModel};
pub use mcp::{McpAddress, McpConnection, McpOAuth, McpProgram, McpServerPatch, McpTimeouts};
pub use permission::{WrongRules, permission_rules};
pub use remote::{LoadRemote, RemoteDocument, RemoteDocuments};
pub use selection::parse_model;
pub use settings::{Compaction, ImageLimits, Settings, Share, ToolOutputLimits};
pub use source::Source;
pub use unreadable_permissions::UnreadablePermissions;
pub(crate) use unreadable_permissions::misspelt_fields;

pub(crate) use agent::{AgentPatch, decode_fields as decode_agent_fields};
pub(crate) use changed::document_places;
pub(crate) use command::{CommandPatch, decode_fields as decode_command_fields};
pub(crate) use decode::{
    Decoded, Invalid, boolean, count, elements, entries, number, object, optional, text, texts,
    wrong,
};
pub(crate) use document::{EarlierRules, Located, untrusted};
pub(crate) use jsonc::{Position, position};
pub(crate) use patch::{ApiPatch, ModelPatch, ProviderPatch, ReasoningOption, VariantPatch};
pub(crate) use policy::Policy;
pub(crate) use provider_v1::{cost as listed_cost, listed_model};
pub(crate) use provider_v2::request as request_settings;
pub(crate) use pruned::Pruned;
pub(crate) use reference::{ReferenceOrigin, ReferencePatch};
pub(crate) use repeated::{Member, Node, Repeats, message as repeated_message};
pub(crate) use selection::NamedModel;
pub(crate) use step::Step;

use crate::directory::lexical;
use crate::environment::Environment;
use crate::project::Project;
use crate::secret::shown_address;
use discovery::{Layer, Place};
use document::{Outcome, Problem};

/// The configuration of a directory.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Configuration {
    /// Documents and directories of definitions, weakest first.
    pub entries: Vec<Entry>,
    /// Parts that were left out or have no effect, in the order of discovery.
    pub diagnostics: Vec<Diagnostic>,
    /// The keys with a single value.
    pub settings: Settings,
    /// The model that the embedding program chose.
    pub(crate) host_model: Option<HostModel>,
    /// Rules of the embedding program that no other rule can loosen. An `ask` rule asks every time.
    pub(crate) ceiling: Vec<PermissionRule>,
    instructions: Vec<InstructionEntry>,
    /// Values and documents that cannot be read and that could contain permissions.
    pub(crate) lost: Vec<UnreadablePermissions>,
}

/// A source of configuration for a directory.
#[derive(Debug, Clone, PartialEq)]
pub enum Entry {
    /// A usable document.
    Document(Box<Document>),
    /// A directory with agents, commands and skills in separate files. It may be missing.
    Directory(DefinitionDirectory),
}

/// A directory with agents, commands and skills in separate files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DefinitionDirectory {
    /// Its path.
    pub path: PathBuf,
    /// The author of its files.
    pub source: Source,
    /// The directory that the files must not lead out of. `None` if there is no such limit.
    pub bound: Option<PathBuf>,
}

/// Instructions that a document names.
#[derive(Clone, PartialEq, Eq)]
pub struct InstructionEntry {
    /// A path, a glob or a URL, as written in the document.
    pub text: String,
    /// The base directory of a relative path.
    pub base: PathBuf,
    /// The author of the document.
    pub source: Source,
}

impl InstructionEntry {
    /// Returns the URL. `None` if the entry is a path on this machine.
    pub fn address(&self) -> Option<Url> {
        let url = Url::parse(&self.text).ok()?;
        matches!(url.scheme(), "http" | "https").then_some(url)
    }
}

/// Shows only the parts of a URL that are not secret.
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

/// Reads the description of a provider of the embedding program.
pub(crate) fn program_provider(description: &Value) -> Result<ProviderPatch, ConfigurationProblem> {
    provider_v2::of_program(description).map_err(|invalid| ConfigurationProblem {
        path: invalid.place(),
        message: invalid.message().to_owned(),
    })
}

/// Reads the description of a server of the Model Context Protocol that a client adds.
///
/// # Errors
///
/// Names the first wrong member.
pub fn mcp_server(description: &Value) -> Result<McpServerPatch, ConfigurationProblem> {
    mcp::server(description).map_err(|invalid| ConfigurationProblem {
        path: invalid.place(),
        message: invalid.message().to_owned(),
    })
}

impl Configuration {
    /// Reads the configuration of a directory in normal form. Blocks on disk access.
    ///
    /// `host` is the configuration of the embedding program, which is the strongest. `is_trusted` is
    /// true if the host trusts the files of the project.
    pub fn load(
        environment: &Environment,
        project: &Project,
        directory: &str,
        host: &HostConfiguration,
        is_trusted: bool,
    ) -> Self {
        Self::default().reload(environment, project, directory, host, is_trusted, &[])
    }

    /// Reads the configuration again, with the documents of servers. If a document has become unusable, its previous
    /// version stays in effect, with the restriction that the host asks the user before everything.
    pub fn reload(
        &self,
        environment: &Environment,
        project: &Project,
        directory: &str,
        host: &HostConfiguration,
        is_trusted: bool,
        remote: &[RemoteDocument],
    ) -> Self {
        let mut loaded = Self::default();
        let values: Vec<_> = host.config.iter().chain(&host.keys).collect();
        let worktree = project.worktree(Path::new(directory), &environment.home);
        loaded.add(discovery::remote(remote), self, worktree, environment);
        let mut layers = discovery::layers(environment, project, directory, is_trusted, &values);
        let distrusted = changed::distrust_changed(&mut layers, environment);
        loaded.diagnostics.extend(distrusted);
        loaded.add(layers, self, worktree, environment);
        loaded.ceiling.clone_from(&host.ceiling);
        if let Some(model) = &host.model {
            loaded.choose(model, Path::new(directory));
        }
        let managed = discovery::managed(host.managed.as_deref());
        loaded.add(managed, self, worktree, environment);
        loaded.settings = Settings::of(loaded.documents());
        loaded.settings.switch(environment, &mut loaded.diagnostics);
        loaded.take_instructions(environment, worktree);
        loaded
    }

    /// Reads layers and adds them as the strongest ones. `before` is the previous configuration.
    fn add(
        &mut self,
        layers: Vec<Layer<'_>>,
        before: &Self,
        worktree: &Path,
        environment: &Environment,
    ) {
        for layer in layers {
            if let Place::Directory(path) = layer.place {
                let source = layer.source;
                self.entries.push(Entry::Directory(DefinitionDirectory {
                    path,
                    source,
                    bound: source.is_untrusted().then(|| worktree.to_owned()),
                }));
                continue;
            }
            match document::read(&layer, worktree, environment) {
                Outcome::Absent => {}
                Outcome::Usable(read) => {
                    self.entries.push(Entry::Document(read.document));
                    self.diagnostics.extend(read.diagnostics);
                    self.lost.extend(read.lost);
                }
                Outcome::Broken(problem) => self.leave_out(problem, &layer, before),
            }
        }
    }

    /// Adds the instructions that documents name. Those of an untrusted project must be inside the project.
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

    /// The instructions that documents name. Those of the weakest document come first.
    pub fn instructions(&self) -> &[InstructionEntry] {
        &self.instructions
    }

    /// The directories that documents name for skills.
    pub(crate) fn skill_places(&self, environment: &Environment, directory: &Path) -> Vec<PathBuf> {
        let places = self.documents().flat_map(|document| &document.skills);
        let paths = places.map(|place| lexical(&environment.expand(directory, &place.value)));
        paths.collect()
    }

    /// The model that the strongest document names for small tasks.
    pub fn small_model(&self) -> Option<&ModelRef> {
        let named = self
            .documents()
            .rev()
            .find_map(|it| it.small_model.as_ref());
        named.map(|named| &named.value)
    }

    /// The default agent that the strongest document names.
    pub fn default_agent(&self) -> Option<&str> {
        let named = self
            .documents()
            .rev()
            .find_map(|it| it.default_agent.as_ref());
        named.map(|named| named.value.as_str())
    }

    /// True if the embedding program or the administrator names the default model.
    pub(crate) fn host_names_model(&self) -> bool {
        let is_stronger = |source| matches!(source, Source::Host | Source::Administrator);
        let mut of_host = self.documents().filter(|it| is_stronger(it.source));
        of_host.any(|it| it.model.is_some())
    }

    /// Adds the model settings of the embedding program as the strongest document.
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

    /// Leaves a document out or keeps its previous version. In both cases, the new version could contain permissions.
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
        let mut lost = UnreadablePermissions::everything(String::new());
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

/// The instructions that a document names, each with the origin of the document.
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
