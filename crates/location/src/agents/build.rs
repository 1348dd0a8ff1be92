//! One description per agent out of those in several documents and files.

use std::collections::HashMap;
use std::path::Path;

use opencode_schema::agent::{AgentInfo, AgentMode};
use opencode_schema::catalogue::RequestSettings;
use opencode_schema::model::ModelRef;
use opencode_schema::permission::{PermissionEffect, PermissionRule};

use super::builtin::{self, Builtin, Places};
use super::{Agent, Agents};
use crate::catalogue::{shown_headers, shown_members};
use crate::config::{
    AgentPatch, Configuration, Diagnostic, DiagnosticKind, Entry, decode_agent_fields,
};
use crate::environment::Environment;
use crate::markdown::{Folder, Markdown, Reader};
use crate::references::References;
use crate::secret::{Headers, Members};

/// Most agents of a Location.
const MAX_AGENTS: usize = 500;

/// Most copies of rules that all agents have in common: each has its own. Where there are more rules
/// there are fewer agents, since an agent that is not there may do nothing, and one without some of
/// its rules could do more than it may.
const MAX_SHARED_RULES: usize = 200_000;

/// Where Markdown files describe agents, in a directory of definitions. Modes are the oldest form.
const FOLDERS: [(Folder, Option<AgentMode>); 4] = [
    (Folder::with_subfolders("agent"), None),
    (Folder::with_subfolders("agents"), None),
    (Folder::alone("mode"), Some(AgentMode::Primary)),
    (Folder::alone("modes"), Some(AgentMode::Primary)),
];

impl Agents {
    /// The agents of a Location. Reads the Markdown files of the configuration's directories.
    ///
    /// A later description overrides an earlier one field by field; permissions add up, and so do
    /// settings of requests. One that disables an agent removes it, and what a still later one
    /// describes is a new agent without what was built in.
    pub(crate) fn build(
        configuration: &Configuration,
        environment: &Environment,
        directory: &Path,
        references: &References,
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
        merged.describe(configuration, reader);
        let home = environment.home.to_string_lossy();
        let shared: Vec<_> = configuration
            .documents()
            .flat_map(|document| document.permissions.iter().cloned())
            .collect();
        let most = MAX_AGENTS.min(MAX_SHARED_RULES / shared.len().max(1));
        if merged.index.len() > most {
            reader.diagnostics.push(merged.excess(most, directory));
        }
        let mut agents = Self::new(merged.finish(most, &shared, &home));
        let diagnostic = agents.take_default(configuration);
        reader.diagnostics.extend(diagnostic);
        agents
    }

    /// Takes the default agent that the strongest document names, and says so if it cannot be one.
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

/// The agents described so far, in the order in which they were first described.
#[derive(Default)]
struct Merged {
    /// None where an agent was removed.
    drafts: Vec<Option<Draft>>,
    /// Places by id.
    index: HashMap<String, usize>,
}

/// An agent while it is being described.
struct Draft {
    info: AgentInfo,
    /// The variant of its model.
    variant: Option<String>,
    /// Headers of its model requests.
    headers: Headers,
    /// Options of its model requests.
    body: Members,
    /// Rules it had from the beginning; none unless it is built in.
    defaults: Vec<PermissionRule>,
    /// How many of these every built-in agent has.
    common: usize,
    /// Rules that were said about it.
    own: Vec<PermissionRule>,
}

impl Merged {
    fn begin(&mut self, draft: Draft) -> &mut Draft {
        let place = self.drafts.len();
        self.index.insert(draft.info.id.clone(), place);
        self.drafts.push(None);
        self.drafts[place].insert(draft)
    }

    fn apply(&mut self, id: &str, patch: &AgentPatch) {
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
        draft.apply(patch);
    }

    /// Adds what documents and files say, in order.
    fn describe(&mut self, configuration: &Configuration, reader: &mut Reader) {
        for entry in &configuration.entries {
            match entry {
                Entry::Document(document) => {
                    for (id, patch) in &document.agents {
                        self.apply(id, patch);
                    }
                }
                Entry::Directory(directory) => {
                    for (folder, mode) in FOLDERS {
                        reader.read(directory, folder, |id, file, diagnostics| {
                            if let Some(patch) = file.decode(decode_agent_fields, diagnostics) {
                                self.apply(id, &with_text(patch, file, mode));
                            }
                        });
                    }
                }
            }
        }
    }

    fn excess(&self, most: usize, directory: &Path) -> Diagnostic {
        let described = self.index.len();
        let message = format!("{described} agents are described; only the first {most} are there");
        let (kind, origin) = (DiagnosticKind::Ignored, directory.display().to_string());
        Diagnostic::new(&origin, kind, message, None)
    }

    /// The first agents, at most so many.
    fn finish(self, most: usize, shared: &[PermissionRule], home: &str) -> Vec<Agent> {
        let drafts = self.drafts.into_iter().flatten().take(most);
        drafts.map(|draft| draft.finish(shared, home)).collect()
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
        }
    }

    fn apply(&mut self, patch: &AgentPatch) {
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
        self.own.extend(patch.permissions.iter().cloned());
    }

    fn finish(mut self, shared: &[PermissionRule], home: &str) -> Agent {
        // An empty text is none, so that a file can take the built-in one away.
        self.info.system = self.info.system.filter(|system| !system.is_empty());
        self.info.model = self.info.model.map(|model| ModelRef {
            variant: self.variant.or(model.variant),
            ..model
        });
        let said = shared.iter().cloned().chain(self.own);
        let said = said.map(|rule| rule.with_home(home));
        let mut rules: Vec<_> = self.defaults.into_iter().chain(said).collect();
        self.info.permissions.clone_from(&rules);
        if self.common > 0 {
            rules.insert(self.common, repetition());
        }
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
            rules,
        }
    }
}

/// The rule about an agent that does the same again and again.
fn repetition() -> PermissionRule {
    PermissionRule {
        action: "doom_loop".to_owned(),
        resource: "*".to_owned(),
        effect: PermissionEffect::Ask,
    }
}

fn begin(builtin: Builtin) -> Draft {
    let mut draft = Draft::new(builtin.id);
    draft.info.mode = builtin.mode;
    draft.info.hidden = builtin.hidden;
    draft.info.description = builtin.description.map(str::to_owned);
    draft.info.system = builtin.system.map(|system| system.trim().to_owned());
    draft.defaults = builtin.rules;
    draft.common = builtin.common;
    draft
}

fn set<T: Clone>(base: &mut Option<T>, over: &Option<T>) {
    if over.is_some() {
        base.clone_from(over);
    }
}
