//! What configuration and Markdown files define for one directory, beside its models.

use std::path::Path;

use crate::agents::Agents;
use crate::commands::Commands;
use crate::config::{Configuration, Diagnostic};
use crate::environment::Environment;
use crate::markdown::Reader;
use crate::references::References;
use crate::skills::Skills;

/// Agents, commands, references and skills.
#[derive(Debug)]
pub struct Definitions {
    /// The agents.
    pub agents: Agents,
    /// The commands.
    pub commands: Commands,
    /// The references.
    pub references: References,
    /// The skills.
    pub skills: Skills,
}

impl Definitions {
    /// Reads the definitions of a configuration for a directory in normal form, and what in them
    /// has no effect. Blocks on the disk.
    pub fn read(
        configuration: &Configuration,
        environment: &Environment,
        directory: &str,
    ) -> (Self, Vec<Diagnostic>) {
        let directory = Path::new(directory);
        let mut reader = Reader::default();
        let references = References::build(configuration, environment, &mut reader.diagnostics);
        let definitions = Self {
            agents: Agents::build(
                configuration,
                environment,
                directory,
                &references,
                &mut reader,
            ),
            commands: Commands::build(configuration, &mut reader),
            skills: Skills::build(
                configuration,
                environment,
                directory,
                &mut reader.diagnostics,
            ),
            references,
        };
        (definitions, reader.diagnostics)
    }
}
