//! Definitions of one directory in configuration and Markdown files, except its models.

pub mod agents;
pub mod commands;
mod markdown;
pub mod mcp;
pub mod references;
pub mod skills;
mod untrusted;

use std::path::Path;

use agents::Agents;
use commands::Commands;
use markdown::Reader;
use mcp::McpServers;
use references::References;
use skills::Skills;
use untrusted::UntrustedChoices;

use crate::catalogue::Catalogue;
use crate::config::{Configuration, Diagnostic};
use crate::environment::Environment;
use crate::project::Project;

/// Agents, commands, references, skills and MCP servers.
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
    /// The servers of the Model Context Protocol.
    pub mcp: McpServers,
}

impl Definitions {
    /// Reads the definitions of a configuration for a directory in normal form. Also returns
    /// diagnostics for parts without effect. Blocks on disk access.
    pub fn read(
        configuration: &Configuration,
        catalogue: &Catalogue,
        environment: &Environment,
        project: &Project,
        directory: &str,
    ) -> (Self, Vec<Diagnostic>) {
        let directory = Path::new(directory);
        let worktree = project.worktree(directory, &environment.home);
        let choices = UntrustedChoices::new(configuration, catalogue);
        let mut reader = Reader::default();
        let diagnostics = &mut reader.diagnostics;
        let references = References::build(configuration, environment, worktree, diagnostics);
        let definitions = Self {
            agents: Agents::build(
                configuration,
                environment,
                directory,
                &references,
                &choices,
                &mut reader,
            ),
            commands: Commands::build(configuration, &choices, &mut reader),
            skills: Skills::build(
                configuration,
                environment,
                directory,
                worktree,
                &mut reader.diagnostics,
            ),
            references,
            mcp: McpServers::build(configuration, &mut reader.diagnostics),
        };
        (definitions, reader.diagnostics)
    }
}
