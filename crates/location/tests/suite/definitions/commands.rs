//! Commands.

use opencode_schema::command::CommandInfo;
use serde_json::{Value, json};

use super::{define, defined, nothing};
use crate::documents::select;
use crate::machine::Machine;

fn own(commands: &[CommandInfo]) -> Value {
    json!(commands[2..])
}

#[test]
fn two_commands_are_built_in() {
    let definitions = defined(&Machine::new(), nothing());
    let found: Vec<_> = definitions
        .commands
        .list()
        .iter()
        .map(|it| {
            let takes_arguments = it.template.contains("$ARGUMENTS");
            (
                &*it.name,
                it.subtask,
                takes_arguments,
                it.description.is_some(),
            )
        })
        .collect();
    assert_eq!(
        found,
        [
            ("init", None, true, true),
            ("review", Some(true), true, true)
        ]
    );
}

#[test]
fn later_descriptions_override_earlier_ones_field_by_field() {
    let machine = Machine::new();
    machine.write(
        "config/opencode.json",
        json!({"command": {
            "a": {"template": "first", "description": "d", "agent": "plan", "subtask": true},
            "b": {"template": "b", "model": "p/m"},
        }})
        .to_string(),
    );
    machine.write(
        "config/command/a.md",
        "---\ntemplate: not this\nsubtask: false\nmodel: p/m\nvariant: high\n---\n\nsecond $1\n",
    );
    machine.write("project/.opencode/commands/nested/c.md", "third");
    machine.write(
        "project/.opencode/command/b.md",
        "---\ndescription: x: y\n---\nb again",
    );
    let definitions = defined(
        &machine,
        json!({"commands": {"a": {"agent": "build"}, "init": {"template": "mine"}}}),
    );
    let commands = definitions.commands.list();
    assert_eq!(
        own(commands),
        json!([
            {
                "name": "a", "template": "second $1", "description": "d", "agent": "build",
                "model": select("p", "m", Some("high")), "subtask": false,
            },
            {
                "name": "b", "template": "b again", "description": "x: y",
                "model": {"id": "m", "providerID": "p"},
            },
            {"name": "nested/c", "template": "third"},
        ])
    );
    assert_eq!(commands[0].template, "mine");
    assert!(commands[0].description.is_some());
}

#[test]
fn a_command_needs_a_template() {
    let (definitions, said) = define(
        &Machine::new(),
        json!({"commands": {"a": {"agent": "build"}, "b": {"template": ""}}}),
    );
    assert_eq!(
        own(definitions.commands.list()),
        json!([{"name": "b", "template": ""}])
    );
    assert_eq!(
        said,
        ["the host's config option: The command a has no template and is left out"]
    );
}

#[test]
fn a_command_without_template_is_reported_at_its_last_definition() {
    let machine = Machine::new();
    let described =
        |by: &str| format!("{{\n  \"commands\": {{\n    \"a\": {{\"agent\": \"{by}\"}}\n  }}\n}}");
    machine.write("config/opencode.json", described("plan"));
    machine.write("project/opencode.json", described("build"));
    let (definitions, said) = define(&machine, nothing());
    assert_eq!(own(definitions.commands.list()), json!([]));
    assert_eq!(
        said,
        ["project/opencode.json:3:10: The command a has no template and is left out"]
    );
}

#[test]
fn wrong_fields_are_reported() {
    let machine = Machine::new();
    machine.write("config/command/a.md", "---\nsubtask: maybe\n---\ntext");
    machine.write(
        "config/opencode.json",
        "{\"commands\": {\n\"b\": {\"template\": 1}}}",
    );
    let (definitions, said) = define(&machine, json!({"commands": {"c": {"template": "t"}}}));
    assert_eq!(
        own(definitions.commands.list()),
        json!([{"name": "a", "template": "text"}, {"name": "c", "template": "t"}])
    );
    assert_eq!(
        said,
        [
            "config/opencode.json:2:19: commands.b.template must be a string, found a number; this value is left out",
            "config/command/a.md:2:1: subtask must be true or false, found a string; this value is left out",
            "config/opencode.json:2:6: The command b has no template and is left out",
        ]
    );
}
