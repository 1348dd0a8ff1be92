//! Definitions of a directory from configuration and Markdown files.

mod agents;
mod commands;
mod files;
mod references;
mod rules;
mod skills;

use opencode_location::catalogue::Catalogue;
use opencode_location::config::Configuration;
use opencode_location::definitions::Definitions;
use opencode_schema::agent::AgentInfo;
use serde_json::{Value, json};

use crate::machine::Machine;

/// The definitions for the directory `project` of a machine, and all diagnostics, without the root of the machine.
fn define(machine: &Machine, host: Value) -> (Definitions, Vec<String>) {
    let configuration = machine.configuration("project", "project", Some(&host));
    let (definitions, diagnostics) = read(machine, &configuration);
    let said = configuration.diagnostics.iter().chain(&diagnostics);
    let skills = definitions.skills.diagnostics();
    let said = said.chain(&*skills);
    let said = said.map(|it| it.to_string().replace(&machine.text(""), ""));
    let said = said.collect();
    (definitions, said)
}

fn read(
    machine: &Machine,
    configuration: &Configuration,
) -> (Definitions, Vec<opencode_location::config::Diagnostic>) {
    let (catalogue, _) = Catalogue::build(configuration, &machine.environment);
    machine.definitions(configuration, &catalogue)
}

/// The definitions. Fails if there are diagnostics.
fn defined(machine: &Machine, host: Value) -> Definitions {
    let (definitions, said) = define(machine, host);
    assert_eq!(said, Vec::<String>::new());
    definitions
}

#[tokio::test]
async fn a_location_has_definitions_and_their_diagnostics() {
    let machine = Machine::new();
    machine.write("project/.opencode/agent/own.md", "Do it.");
    machine.write("project/.opencode/agent/bad.md", "---\nsteps: 0\n---\n");
    machine.write("project/.opencode/command/run.md", "Run it.");
    machine.write("project/.opencode/skill/one.md", "Like this.");
    let docs = machine.directory("docs");
    let locations = machine.locations(Some(json!({"references": {"docs": docs}})));
    let location = locations.get(&machine.text("project")).await.unwrap();
    let skills = location.skills.observe().await;
    assert_eq!(
        (
            location.agents.get("own").unwrap().system.as_deref(),
            location.commands.list().last().unwrap().template.as_str(),
            location.references.list()[0].name.as_str(),
            skills[0].name.as_str(),
        ),
        (Some("Do it."), "Run it.", "docs", "one")
    );
    let [diagnostic] = &location.configuration.diagnostics[..] else {
        panic!("{:?}", location.configuration.diagnostics)
    };
    assert_eq!(
        diagnostic.path,
        machine.text("project/.opencode/agent/bad.md")
    );
    assert_eq!((diagnostic.line, diagnostic.column), (Some(2), Some(1)));
}

fn nothing() -> Value {
    json!({})
}

fn agent<'d>(definitions: &'d Definitions, id: &str) -> &'d AgentInfo {
    definitions.agents.get(id).unwrap()
}
