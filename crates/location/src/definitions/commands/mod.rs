//! Commands: named prompts with placeholders for arguments.

use std::collections::HashMap;

use opencode_schema::command::CommandInfo;
use opencode_schema::model::ModelRef;

use crate::catalogue::Catalogue;
use crate::config::{
    CommandPatch, Configuration, DefinitionDirectory, Diagnostic, DiagnosticKind, Entry, Position,
    decode_command_fields,
};
use crate::definitions::agents::Agents;
use crate::definitions::markdown::{Definition, Folder, Reader};
use crate::definitions::untrusted::{Restricted, UntrustedChoices};
use crate::nearest::nearest;

/// Folders of a directory of definitions that contain command files.
const FOLDERS: [Folder; 2] = [
    Folder::with_subfolders("command"),
    Folder::with_subfolders("commands"),
];

/// Maximum number of reported mistakes in commands.
const MAX_TOLD: usize = 50;

/// The commands of one directory: the built-in ones first, then the others in the order of their first description.
#[derive(Debug, Default)]
pub struct Commands {
    list: Vec<CommandInfo>,
    /// The last description of each command, in the same order. `None` for built-in commands.
    origins: Vec<Option<Origin>>,
}

/// The origin of a description: the document or file, and the position in it.
type Origin = (String, Option<Position>);

impl Commands {
    /// Builds the commands of a Location. Reads the Markdown files of the configuration's directories.
    ///
    /// A later description overrides an earlier one field by field. A command of an untrusted project
    /// that runs programs is left out.
    pub(crate) fn build(
        configuration: &Configuration,
        choices: &UntrustedChoices<'_>,
        reader: &mut Reader,
    ) -> Self {
        let mut merged = Merged::default();
        for (name, patch) in builtin() {
            merged.apply(name, patch, None);
        }
        for entry in &configuration.entries {
            match entry {
                Entry::Document(document) => {
                    for (name, patch) in &document.commands {
                        let origin = (document.origin.clone(), patch.position);
                        let mut patch = patch.value.clone();
                        let withheld = match document.source.is_untrusted() {
                            true => choices.restrict_command(&mut patch),
                            false => Restricted::default(),
                        };
                        let diagnostics =
                            choices.diagnostics_of(&withheld, &document.origin, "commands", name);
                        reader.diagnostics.extend(diagnostics);
                        if !withheld.is_everything {
                            merged.apply(name, patch, Some(origin));
                        }
                    }
                }
                Entry::Directory(directory) => {
                    for folder in FOLDERS {
                        merged.read(directory, folder, choices, reader);
                    }
                }
            }
        }
        merged.finish(&mut reader.diagnostics)
    }

    /// The commands.
    pub fn list(&self) -> &[CommandInfo] {
        &self.list
    }

    /// Returns the name of a command that is similar to an unknown one. `others` are the names of further commands.
    pub fn similar(&self, unknown: &str, others: &[&str]) -> Option<String> {
        let names = self.list.iter().map(|command| command.name.as_str());
        nearest(unknown, names.chain(others.iter().copied())).map(str::to_owned)
    }

    /// Returns diagnostics for commands that name an unusable agent or model.
    pub(crate) fn check(&self, agents: &Agents, catalogue: &Catalogue) -> Vec<Diagnostic> {
        let mut found = Vec::new();
        for (command, origin) in self.list.iter().zip(&self.origins) {
            if found.len() >= MAX_TOLD {
                break;
            }
            let Some((origin, position)) = origin else {
                continue;
            };
            let mut report = |what: &str, error: String| {
                let name = &command.name;
                let message = format!("The command {name} cannot use its {what}. {error}");
                let kind = DiagnosticKind::Ignored;
                found.push(Diagnostic::new(origin, kind, message, *position));
            };
            if let Some(agent) = &command.agent
                && let Err(error) = agents.resolve(Some(agent))
            {
                report("agent", error.to_string());
            }
            if let Some(model) = &command.model
                && let Err(error) = catalogue.resolve(Some(model))
            {
                report("model", error.to_string());
            }
        }
        found
    }
}

fn builtin() -> [(&'static str, CommandPatch); 2] {
    [
        (
            "init",
            CommandPatch {
                template: Some(include_str!("templates/init.md").trim().to_owned()),
                description: Some("Writes or improves AGENTS.md for this project".to_owned()),
                ..CommandPatch::default()
            },
        ),
        (
            "review",
            CommandPatch {
                template: Some(include_str!("templates/review.md").trim().to_owned()),
                description: Some(
                    "Reviews changes: those not committed, a commit, a branch or a pull request"
                        .to_owned(),
                ),
                subtask: Some(true),
                ..CommandPatch::default()
            },
        ),
    ]
}

/// The commands described so far.
#[derive(Default)]
struct Merged {
    /// In the order of their first description.
    commands: Vec<Draft>,
    index: HashMap<String, usize>,
}

/// A command whose description is not complete yet.
struct Draft {
    name: String,
    patch: CommandPatch,
    /// The document or file that described it last.
    origin: Option<Origin>,
}

impl Merged {
    /// Applies the Markdown files of a folder.
    fn read(
        &mut self,
        directory: &DefinitionDirectory,
        folder: Folder,
        choices: &UntrustedChoices<'_>,
        reader: &mut Reader,
    ) {
        reader.read(directory, folder, |definition, diagnostics| {
            let Definition { name, markdown, .. } = definition;
            let Some((file, fields)) = markdown
                .and_then(|file| Some((file, file.decode(decode_command_fields, diagnostics)?)))
            else {
                return;
            };
            let template = Some(file.body.trim().to_owned());
            let mut patch = CommandPatch {
                template,
                ..fields.value
            };
            if directory.source.is_untrusted() {
                let withheld = choices.restrict_command(&mut patch);
                diagnostics.extend(choices.diagnostics_of(
                    &withheld,
                    file.origin(),
                    "commands",
                    name,
                ));
                if withheld.is_everything {
                    return;
                }
            }
            let field = match &patch.agent {
                Some(_) => "agent",
                None => "model",
            };
            let origin = (file.origin().to_owned(), file.place(field));
            self.apply(name, patch, Some(origin));
        });
    }

    fn apply(&mut self, name: &str, patch: CommandPatch, origin: Option<Origin>) {
        match self.index.get(name) {
            Some(place) => {
                let draft = &mut self.commands[*place];
                overlay(&mut draft.patch, patch);
                draft.origin = origin.or(draft.origin.take());
            }
            None => {
                self.index.insert(name.to_owned(), self.commands.len());
                self.commands.push(Draft {
                    name: name.to_owned(),
                    patch,
                    origin,
                });
            }
        }
    }

    fn finish(self, diagnostics: &mut Vec<Diagnostic>) -> Commands {
        let mut finished = Commands::default();
        for draft in self.commands {
            if draft.patch.template.is_some() {
                finished.list.push(finish(draft.name, draft.patch));
                finished.origins.push(draft.origin);
            } else {
                diagnostics.extend(draft.without_template());
            }
        }
        finished
    }
}

impl Draft {
    /// The diagnostic for a command without a template. Only commands from documents can lack one: the
    /// text of a file is always the template.
    fn without_template(self) -> Option<Diagnostic> {
        let (origin, position) = self.origin?;
        let message = format!("The command {} has no template and is left out", self.name);
        let kind = DiagnosticKind::Ignored;
        Some(Diagnostic::new(&origin, kind, message, position))
    }
}

fn overlay(base: &mut CommandPatch, over: CommandPatch) {
    *base = CommandPatch {
        template: over.template.or(base.template.take()),
        description: over.description.or(base.description.take()),
        agent: over.agent.or(base.agent.take()),
        model: over.model.or(base.model.take()),
        variant: over.variant.or(base.variant.take()),
        subtask: over.subtask.or(base.subtask),
    };
}

fn finish(name: String, patch: CommandPatch) -> CommandInfo {
    CommandInfo {
        name,
        template: patch.template.unwrap_or_default(),
        description: patch.description,
        agent: patch.agent,
        model: patch.model.map(|model| ModelRef {
            variant: patch.variant.or(model.variant),
            ..model
        }),
        subtask: patch.subtask,
    }
}
