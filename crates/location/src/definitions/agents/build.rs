//! Merges the descriptions of an agent in several documents and files into one.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, LazyLock};

use opencode_schema::agent::{AgentInfo, AgentMode};
use opencode_schema::catalogue::RequestSettings;
use opencode_schema::model::ModelRef;
use opencode_schema::permission::{PermissionEffect, PermissionRule};

use super::builtin::{self, Builtin, Places};
use super::misnamed::{Misnamed, with_meant};
use super::restrictions::{OwnRules, Shared};
use super::unread::Unread;
use super::{Agent, Agents, ineffective};
use crate::catalogue::{shown_headers, shown_members};
use crate::config::{
    AgentPatch, Configuration, DefinitionDirectory, Diagnostic, DiagnosticKind, Entry, Source,
    Step, UnreadablePermissions, decode_agent_fields, misspelt_fields,
};
use crate::definitions::markdown::{Definition, Folder, Markdown, Reader};
use crate::definitions::references::References;
use crate::definitions::untrusted::{KnownAgent, UntrustedChoices};
use crate::directory::RealPatterns;
use crate::environment::Environment;
use crate::secret::{Headers, Members};

/// Maximum number of agents of a Location.
const MAX_AGENTS: usize = 500;

/// Maximum number of copies of shared rules. Each agent holds its own copy of these rules. If there are
/// more rules, the number of agents is reduced instead: a missing agent may do nothing, but an agent
/// without some of its rules could do more than it may.
const MAX_SHARED_RULES: usize = 200_000;

/// The source of the rules of the ceiling.
const CEILING: &str = "permissions.ceiling";

/// Folders of a directory of definitions that contain agent files. `mode` and `modes` are the oldest form.
const FOLDERS: [(Folder, Option<AgentMode>); 4] = [
    (Folder::with_subfolders("agent"), None),
    (Folder::with_subfolders("agents"), None),
    (Folder::without_subfolders("mode"), Some(AgentMode::Primary)),
    (
        Folder::without_subfolders("modes"),
        Some(AgentMode::Primary),
    ),
];

impl Agents {
    /// Builds the agents of a Location. Reads the Markdown files of the configuration's directories.
    ///
    /// A later description overrides an earlier one field by field. Permissions and request settings
    /// accumulate. A description that disables an agent removes it. A still later description of the
    /// same id starts a new agent without the built-in settings.
    pub(crate) fn build(
        configuration: &Configuration,
        environment: &Environment,
        directory: &Path,
        references: &References,
        choices: &UntrustedChoices<'_>,
        reader: &mut Reader,
    ) -> Self {
        let places = Places {
            environment,
            directory,
            references: references.list(),
        };
        let mut merged = Merged::default();
        for agent in builtin::agents(&places) {
            merged.begin(begin(agent));
        }
        merged.lost.clone_from(&configuration.lost);
        merged.describe(configuration, choices, reader);
        let real = Arc::new(RealPatterns::new(directory, &environment.home));
        let shared = Shared::of(configuration, Arc::clone(&real));
        let most = MAX_AGENTS.min(MAX_SHARED_RULES / shared.count().max(1));
        if merged.index.len() > most {
            reader.diagnostics.push(merged.excess(most, directory));
        }
        let unread = Unread::of(&merged.lost);
        let misnamed = std::mem::take(&mut merged.misnamed);
        let mut agents = Self::new(merged.finish(most, &shared), unread, real);
        agents.misnamed = misnamed;
        agents.misnamed.add(CEILING, &configuration.ceiling);
        let diagnostic = agents.take_default(configuration);
        reader.diagnostics.extend(diagnostic);
        agents
    }

    /// Sets the default agent that the strongest document names. Returns a diagnostic if that agent
    /// cannot be the default.
    fn take_default(&mut self, configuration: &Configuration) -> Option<Diagnostic> {
        let named = configuration
            .documents()
            .rev()
            .find_map(|document| Some((&document.origin, document.default_agent.as_ref()?)));
        let Some((origin, named)) = named else {
            self.choose_default(None);
            return None;
        };
        self.choose_default(Some(&named.value));
        let error = self.default.as_ref().err()?;
        let kind = DiagnosticKind::Ignored;
        let message = error.to_string();
        Some(Diagnostic::new(origin, kind, message, named.position))
    }
}

fn with_text(patch: AgentPatch, file: &Markdown, mode: Option<AgentMode>) -> AgentPatch {
    AgentPatch {
        system: Some(file.body.trim().to_owned()),
        mode: mode.or(patch.mode),
        ..patch
    }
}

/// The agents described so far, in the order of their first description.
#[derive(Default)]
struct Merged {
    /// `None` if the agent was removed.
    drafts: Vec<Option<Draft>>,
    /// Indices into `drafts` by id.
    index: HashMap<String, usize>,
    /// Configuration that cannot be read and that could contain permissions.
    lost: Vec<UnreadablePermissions>,
    /// Actions in rules that the host does not know.
    misnamed: Misnamed,
}

/// An agent whose description is not complete yet.
struct Draft {
    info: AgentInfo,
    /// The variant of its model.
    variant: Option<String>,
    /// Headers of its model requests.
    headers: Headers,
    /// Options of its model requests.
    body: Members,
    /// Initial rules. Empty unless the agent is built in.
    defaults: Vec<PermissionRule>,
    /// Number of leading rules in `defaults` that every built-in agent has.
    common: usize,
    /// Rules from trusted descriptions of this agent.
    own: Vec<PermissionRule>,
    /// The subset of `own` that the host, the administrator or the user gave.
    given: Vec<PermissionRule>,
    /// The subset of `own` that the host gave.
    of_host: Vec<PermissionRule>,
    /// The subset of `own` that the administrator gave.
    of_administrator: Vec<PermissionRule>,
    /// Rules from files of an untrusted project. They can only restrict.
    untrusted: Vec<PermissionRule>,
    /// Sets of rules from names that stand twice in a file. They can only restrict.
    earlier: Vec<Vec<PermissionRule>>,
    /// True if the agent is built in or a trusted source describes it.
    is_trusted: bool,
}

impl Merged {
    fn begin(&mut self, draft: Draft) -> &mut Draft {
        let place = self.drafts.len();
        self.index.insert(draft.info.id.clone(), place);
        self.drafts.push(None);
        self.drafts[place].insert(draft)
    }

    fn apply(&mut self, id: &str, patch: &AgentPatch, source: Source) {
        if ineffective::is_agent(id) {
            return;
        }
        if patch.disabled == Some(true) {
            if let Some(place) = self.index.remove(id) {
                self.drafts[place] = None;
            }
            return;
        }
        let known = self.index.get(id).copied();
        let draft = match known.and_then(|place| self.drafts[place].as_mut()) {
            Some(draft) => draft,
            None => self.begin(Draft::new(id)),
        };
        draft.apply(patch, source);
    }

    /// Applies the patch of an untrusted project. Returns diagnostics for the parts that have no effect.
    fn apply_untrusted(
        &mut self,
        id: &str,
        patch: &AgentPatch,
        choices: &UntrustedChoices<'_>,
        origin: &str,
    ) -> Vec<Diagnostic> {
        let place = self.index.get(id);
        let known = place.and_then(|place| self.drafts[*place].as_ref());
        let known = known.filter(|draft| draft.is_trusted);
        let known = known.map(|draft| KnownAgent {
            steps: draft.info.steps,
        });
        let mut patch = patch.clone();
        let withheld = choices.restrict_agent(&mut patch, known.as_ref());
        self.apply(id, &patch, Source::UntrustedProject);
        choices.diagnostics_of(&withheld, origin, "agents", id)
    }

    /// Applies all documents and files, in order.
    fn describe(
        &mut self,
        configuration: &Configuration,
        choices: &UntrustedChoices<'_>,
        reader: &mut Reader,
    ) {
        for entry in &configuration.entries {
            match entry {
                Entry::Document(document) => {
                    let origin = &document.origin;
                    self.misnamed.add(origin, &document.permissions);
                    let ineffective = ineffective::in_rules(origin, &document.permissions);
                    reader.diagnostics.extend(ineffective);
                    for (id, patch) in &document.agents {
                        self.misnamed.add(origin, &patch.permissions);
                        let ineffective = ineffective::in_agent(origin, id, patch);
                        reader.diagnostics.extend(ineffective);
                        if document.source.is_untrusted() {
                            let withheld = self.apply_untrusted(id, patch, choices, origin);
                            reader.diagnostics.extend(withheld);
                        } else {
                            self.apply(id, patch, document.source);
                        }
                    }
                }
                Entry::Directory(directory) => self.read(directory, choices, reader),
            }
        }
    }

    /// Applies the agent files of a directory.
    fn read(
        &mut self,
        directory: &DefinitionDirectory,
        choices: &UntrustedChoices<'_>,
        reader: &mut Reader,
    ) {
        for (folder, mode) in FOLDERS {
            let is_complete = reader.read(directory, folder, |definition, diagnostics| {
                let described = self.read_file(definition, mode, diagnostics);
                let Some((patch, file)) = described else {
                    return;
                };
                let id = definition.name;
                self.misnamed.add(file.origin(), &patch.permissions);
                diagnostics.extend(ineffective::in_agent(file.origin(), id, &patch));
                if directory.source.is_untrusted() {
                    diagnostics.extend(self.apply_untrusted(id, &patch, choices, file.origin()));
                } else {
                    self.apply(id, &patch, directory.source);
                }
            });
            if !is_complete {
                let reason = format!(
                    "Not every file that describes agents in {} can be read",
                    directory.path.display()
                );
                let lost = UnreadablePermissions::everything(reason);
                self.lost.push(lost.in_file_at(&directory.path));
            }
        }
    }

    /// Decodes one agent file. Records the parts that cannot be read and that could contain permissions.
    fn read_file<'f>(
        &mut self,
        definition: Definition<'f>,
        mode: Option<AgentMode>,
        diagnostics: &mut Vec<Diagnostic>,
    ) -> Option<(AgentPatch, &'f Markdown)> {
        let (id, path) = (definition.name, definition.path);
        let read = definition
            .markdown
            .and_then(|file| Some((file, file.decode(decode_agent_fields, diagnostics)?)));
        let Some((file, fields)) = read else {
            let reason = format!("The file that describes the agent {id} cannot be read");
            let lost = UnreadablePermissions::of_agent(id, reason);
            self.lost.push(lost.in_file_at(path));
            return None;
        };
        for (field, reason) in fields.lost {
            let lost = UnreadablePermissions::in_file(id, &field, reason);
            self.lost.extend(lost.map(|lost| lost.in_file_at(path)));
        }
        let mut patch = fields.value;
        for earlier in file.earlier() {
            match decode_agent_fields(earlier) {
                Ok(mut earlier) => {
                    patch.restrict(&earlier);
                    patch.earlier.push(std::mem::take(&mut earlier.permissions));
                }
                Err(invalid) => {
                    let reason = format!("{}: {invalid}", file.origin());
                    let lost = UnreadablePermissions::of_agent(id, reason);
                    self.lost.push(lost.in_file_at(path));
                }
            }
        }
        if let Some(reason) = file.uncertain() {
            let lost = UnreadablePermissions::of_agent(id, reason);
            self.lost.push(lost.in_file_at(path));
        }
        for (field, meant) in file.fields().into_iter().flat_map(misspelt_fields) {
            let message = format!("There is no field {field}; {meant} is probably meant");
            let place = [Step::Key(field.to_owned())];
            let diagnostic = file.complaint(DiagnosticKind::Ignored, message, &place);
            let lost = UnreadablePermissions::of_agent(id, diagnostic.to_string());
            self.lost.push(lost.in_file_at(path));
            diagnostics.push(diagnostic);
        }
        Some((with_text(patch, file, mode), file))
    }

    fn excess(&self, most: usize, directory: &Path) -> Diagnostic {
        let described = self.index.len();
        let message = format!("{described} agents are described; only the first {most} are there");
        let (kind, origin) = (DiagnosticKind::Ignored, directory.display().to_string());
        Diagnostic::new(&origin, kind, message, None)
    }

    /// Finishes the first `most` agents.
    fn finish(self, most: usize, shared: &Shared) -> Vec<Agent> {
        let drafts = self.drafts.into_iter().flatten().take(most);
        drafts
            .map(|draft| draft.finish(shared, &self.lost))
            .collect()
    }
}

impl Draft {
    fn new(id: &str) -> Self {
        let info = AgentInfo {
            id: id.to_owned(),
            model: None,
            request: RequestSettings::default(),
            system: None,
            description: None,
            mode: AgentMode::All,
            hidden: false,
            color: None,
            steps: None,
            permissions: Vec::new(),
        };
        Self {
            info,
            variant: None,
            headers: Headers::default(),
            body: Members::default(),
            defaults: Vec::new(),
            common: 0,
            own: Vec::new(),
            given: Vec::new(),
            of_host: Vec::new(),
            of_administrator: Vec::new(),
            untrusted: Vec::new(),
            earlier: Vec::new(),
            is_trusted: false,
        }
    }

    fn apply(&mut self, patch: &AgentPatch, source: Source) {
        let info = &mut self.info;
        set(&mut info.model, &patch.model);
        set(&mut self.variant, &patch.variant);
        set(&mut info.system, &patch.system);
        set(&mut info.description, &patch.description);
        set(&mut info.color, &patch.color);
        set(&mut info.steps, &patch.steps);
        info.mode = patch.mode.unwrap_or(info.mode);
        info.hidden = patch.hidden.unwrap_or(info.hidden);
        self.headers.extend(&patch.headers);
        let body = patch.body.iter();
        self.body
            .extend(body.map(|(name, value)| (name.clone(), value.clone())));
        let permissions = || with_meant(&patch.permissions);
        let earlier = patch
            .earlier
            .iter()
            .map(|rules| with_meant(rules).collect());
        self.earlier.extend(earlier);
        if source.is_untrusted() {
            self.untrusted.extend(permissions());
            return;
        }
        self.is_trusted = true;
        self.own.extend(permissions());
        if !source.is_project() {
            self.given.extend(permissions());
        }
        match source {
            Source::Host => self.of_host.extend(permissions()),
            Source::Administrator => self.of_administrator.extend(permissions()),
            Source::User | Source::Project | Source::UntrustedProject => {}
        }
    }

    fn finish(mut self, shared: &Shared, lost: &[UnreadablePermissions]) -> Agent {
        let own = OwnRules {
            of_host: std::mem::take(&mut self.of_host),
            of_administrator: std::mem::take(&mut self.of_administrator),
            untrusted: std::mem::take(&mut self.untrusted),
            earlier: std::mem::take(&mut self.earlier),
        };
        let restrictions = shared.restrictions(&self.info.id, own, lost);
        // An empty text counts as absent, so that a file can remove the built-in text.
        self.info.system = self.info.system.filter(|system| !system.is_empty());
        self.info.model = self.info.model.map(|model| ModelRef {
            variant: self.variant.or(model.variant),
            ..model
        });
        let said = shared.with(&shared.rules, self.own);
        let mut rules: Vec<_> = self.defaults.into_iter().chain(said).collect();
        rules.retain(|rule| !ineffective::is_rule(rule));
        self.info.permissions = rules;
        let repetition = (self.common > 0).then_some(self.common);
        let rules = shared.resolve(deciding(&self.info, repetition).cloned().collect());
        let shown = RequestSettings {
            headers: shown_headers(&self.headers),
            body: shown_members(&self.body),
        };
        let headers = self.headers.iter();
        self.info.request = RequestSettings {
            headers: headers
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .collect(),
            body: self.body.0,
        };
        Agent {
            info: self.info,
            shown,
            repetition,
            rules,
            restrictions,
            given: shared.given(self.given),
            is_trusted: self.is_trusted,
        }
    }
}

/// Asks the user about an agent that repeats the same action.
static REPETITION: LazyLock<PermissionRule> = LazyLock::new(|| PermissionRule {
    action: "doom_loop".to_owned(),
    resource: "*".to_owned(),
    effect: PermissionEffect::Ask,
});

/// Returns the rules that decide about the tool calls of an agent, as they are written. The rule about repetition
/// stands behind so many others.
pub(super) fn deciding(
    info: &AgentInfo,
    repetition: Option<usize>,
) -> impl Iterator<Item = &PermissionRule> {
    let place = repetition.map_or(info.permissions.len(), |place| {
        place.min(info.permissions.len())
    });
    let (before, after) = info.permissions.split_at(place);
    let repetition = repetition.map(|_| &*REPETITION);
    before.iter().chain(repetition).chain(after)
}

fn begin(builtin: Builtin) -> Draft {
    let mut draft = Draft::new(builtin.id);
    draft.info.mode = builtin.mode;
    draft.info.hidden = builtin.hidden;
    draft.info.description = builtin.description.map(str::to_owned);
    draft.info.system = builtin.system.map(|system| system.trim().to_owned());
    draft.is_trusted = true;
    draft.defaults = builtin.rules;
    draft.common = builtin.common;
    draft
}

fn set<T: Clone>(base: &mut Option<T>, over: &Option<T>) {
    if over.is_some() {
        base.clone_from(over);
    }
}
