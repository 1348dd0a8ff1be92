//! The instruction files of a directory, and the handling of unreadable ones.

mod configured;
mod general;
mod globs;
mod nearby;
#[cfg(unix)]
mod unreadable;

use std::path::PathBuf;

use opencode_location::config::InstructionEntry;
use opencode_location::config::Source;
use opencode_location::instructions::{Found, InstructionQuery, Instructions, Place};
use opencode_location::project::{Project, Vcs};

use crate::machine::Machine;

/// A directory of a machine, in a project.
pub(crate) struct Site {
    pub(crate) machine: Machine,
    project: Project,
    directory: String,
    pub(crate) is_trusted: bool,
    configured: Vec<InstructionEntry>,
    nearby: Vec<PathBuf>,
}

/// The files of each kind as `path: content`, relative to the root of the machine, or the reason for a failure.
#[derive(Debug, PartialEq, Default)]
pub(crate) struct Seen {
    pub(crate) general: Vec<String>,
    pub(crate) configured: Vec<String>,
    pub(crate) nearby: Vec<String>,
}

impl Site {
    /// The directory `project/a/b` in a project at `project`.
    pub(crate) fn new() -> Self {
        Self::at("project", "project/a/b")
    }

    pub(crate) fn at(project: &str, directory: &str) -> Self {
        let machine = Machine::new();
        machine.directory(project);
        machine.directory("config");
        let repository = Project {
            directory: machine.text(project),
            vcs: Some(Vcs::Git {
                store: String::new(),
            }),
            ..Project::global()
        };
        Self {
            directory: machine.directory(directory),
            project: repository,
            is_trusted: true,
            machine,
            configured: Vec::new(),
            nearby: Vec::new(),
        }
    }

    /// Adds instructions that a document of the project at `base` names.
    pub(crate) fn ask(self, base: &str, texts: &[&str]) -> Self {
        self.ask_of(base, texts, Source::Project)
    }

    /// Adds instructions that a document of the user at `base` names.
    pub(crate) fn user_asks(self, base: &str, texts: &[&str]) -> Self {
        self.ask_of(base, texts, Source::User)
    }

    fn ask_of(mut self, base: &str, texts: &[&str], source: Source) -> Self {
        let entry = |text: &&str| InstructionEntry {
            text: (*text).to_owned(),
            base: self.machine.path(base),
            source,
        };
        let entries: Vec<_> = texts.iter().map(entry).collect();
        self.configured.extend(entries);
        self
    }

    /// Adds directories in which the session has read files.
    pub(crate) fn read_in(mut self, directories: &[&str]) -> Self {
        let paths = directories.iter().map(|it| self.machine.path(it));
        let paths: Vec<_> = paths.collect();
        self.nearby.extend(paths);
        self
    }

    pub(crate) fn write(&self, below: &str, content: impl AsRef<[u8]>) -> &Self {
        self.machine.write(below, content);
        self
    }

    pub(crate) fn observe(&self) -> Instructions {
        let place = Place {
            environment: &self.machine.environment,
            project: &self.project,
            directory: &self.directory,
            is_trusted: self.is_trusted,
        };
        let wanted = InstructionQuery {
            configured: &self.configured,
            nearby: &self.nearby,
        };
        Instructions::observe(&place, wanted)
    }

    pub(crate) fn seen(&self) -> Seen {
        let observed = self.observe();
        Seen {
            general: self.shown(&observed.general),
            configured: self.shown(&observed.configured),
            nearby: self.shown(&observed.nearby),
        }
    }

    fn shown(&self, found: &Found) -> Vec<String> {
        let root = self.machine.text("");
        let below = |text: &str| text.replace(&root, "");
        match found {
            Ok(files) => files
                .iter()
                .map(|file| format!("{}: {}", below(&file.path), file.content))
                .collect(),
            Err(error) => vec![below(&error.to_string())],
        }
    }
}

pub(crate) fn texts<const N: usize>(texts: [&str; N]) -> Vec<String> {
    texts.map(str::to_owned).to_vec()
}
