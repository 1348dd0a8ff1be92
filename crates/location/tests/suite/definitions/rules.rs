//! The rules of agents: those of built-in agents, and the position of those from the configuration.

use std::path::Path;

use opencode_schema::agent::AgentMode;
use opencode_schema::permission::{PermissionEffect, PermissionRule};
use serde_json::{Value, json};

use super::{agent, defined, nothing};
use crate::machine::Machine;

/// Formats rules as `action resource effect`, without the root of the machine.
fn lines(machine: &Machine, rules: &[PermissionRule]) -> Vec<String> {
    let line = |it: &PermissionRule| {
        let effect = match it.effect {
            PermissionEffect::Allow => "allow",
            PermissionEffect::Deny => "deny",
            PermissionEffect::Ask => "ask",
        };
        let resource = it.resource.replace(&machine.text(""), "~/");
        format!("{} {resource} {effect}", it.action)
    };
    rules.iter().map(line).collect()
}

fn permissions(machine: &Machine, host: Value, id: &str) -> Vec<String> {
    let definitions = defined(machine, host);
    lines(machine, &agent(&definitions, id).permissions)
}

const BASE: [&str; 12] = [
    "* * allow",
    "external_directory * ask",
    "external_directory ~/data/tool-output/* allow",
    "external_directory ~/tmp/opencode/* allow",
    "question * deny",
    "read * allow",
    "read *.env ask",
    "read *.env.* ask",
    "read *.envrc ask",
    "read *.envrc.* ask",
    "read *.env~ ask",
    "read *.env.example allow",
];

fn machine() -> Machine {
    let mut machine = Machine::new();
    let temporary = machine.text("tmp");
    machine.set("TMPDIR", &temporary);
    machine
}

#[test]
fn the_built_in_agents_have_their_rules_in_order() {
    let machine = machine();
    let definitions = defined(&machine, nothing());
    let base = |own: &[&str]| -> Vec<String> {
        BASE.iter().chain(own).map(|it| (*it).to_owned()).collect()
    };
    use AgentMode::{Primary, Subagent};
    let expected = [
        ("build", Primary, false, true, base(&["question * allow"])),
        (
            "plan",
            Primary,
            false,
            false,
            base(&[
                "question * allow",
                "external_directory ~/data/plans/* allow",
                "edit * deny",
                "edit .opencode/plans/*.md allow",
                "edit ../data/plans/*.md allow",
            ]),
        ),
        (
            "general",
            Subagent,
            false,
            false,
            base(&["todowrite * deny"]),
        ),
        (
            "explore",
            Subagent,
            false,
            true,
            base(&[
                "* * deny",
                "grep * allow",
                "glob * allow",
                "webfetch * allow",
                "websearch * allow",
                "read * allow",
                "read *.env ask",
                "read *.env.* ask",
                "read *.envrc ask",
                "read *.envrc.* ask",
                "read *.env~ ask",
                "read *.env.example allow",
                "external_directory * ask",
                "external_directory ~/data/tool-output/* allow",
                "external_directory ~/tmp/opencode/* allow",
            ]),
        ),
        ("compaction", Primary, true, false, base(&["* * deny"])),
        ("title", Primary, true, true, base(&["* * deny"])),
    ];
    let found: Vec<_> = definitions
        .agents
        .list()
        .iter()
        .map(|it| {
            let rules = lines(&machine, &it.permissions);
            (&*it.id, it.mode, it.hidden, it.system.is_some(), rules)
        })
        .collect();
    assert_eq!(found, expected);
}

#[test]
fn the_rule_for_repetition_follows_the_common_rules_and_is_not_listed() {
    let machine = machine();
    let definitions = defined(
        &machine,
        json!({"agents": {"own": {}}, "permissions": [
            {"action": "bash", "resource": "*", "effect": "ask"},
        ]}),
    );
    for built_in in ["build", "plan", "general", "explore", "compaction", "title"] {
        let mut expected = agent(&definitions, built_in).permissions.clone();
        let rule = |action: &str, effect| PermissionRule {
            action: action.to_owned(),
            resource: "*".to_owned(),
            effect,
        };
        expected.insert(BASE.len(), rule("doom_loop", PermissionEffect::Ask));
        // Patterns that lead out of the Location are followed by those of the real paths.
        let mut rules = definitions.agents.rules(built_in).rules.into_owned();
        let plans = machine.path("data/plans/*.md");
        rules.retain(|rule| Path::new(&rule.resource) != plans);
        assert_eq!(rules, expected, "{built_in}");
    }
    let own = lines(&machine, &definitions.agents.rules("own").rules);
    assert_eq!(own, ["bash * ask"]);
    let unknown = lines(&machine, &definitions.agents.rules("nobody").rules);
    assert_eq!(unknown, ["* * deny"]);
}

#[test]
fn common_rules_are_between_the_defaults_and_the_rules_of_the_agent() {
    let machine = machine();
    machine.write(
        "config/opencode.json",
        json!({
            "permission": {"bash": "ask", "read": {"~/notes/*": "allow"}},
            "tools": {"webfetch": false},
            "agent": {"own": {"permission": {"edit": "deny"}}, "build": {"tools": {"bash": true}}},
        })
        .to_string(),
    );
    machine.write(
        "project/.opencode/agent/own.md",
        "---\npermission:\n  bash:\n    \"*\": deny\n    \"git *\": allow\n---\nDo.",
    );
    let host = json!({
        "permissions": [{"action": "edit", "resource": "$HOME/x", "effect": "ask"}],
        "agents": {"own": {"permissions": [{"action": "a", "resource": "b", "effect": "ask"}]}},
    });
    let shared = [
        "webfetch * deny",
        "bash * ask",
        "read ~/home/notes/* allow",
        "edit ~/home/x ask",
    ];
    let own = ["edit * deny", "bash * deny", "bash git * allow", "a b ask"];
    let expected: Vec<_> = shared.iter().chain(&own).copied().collect();
    assert_eq!(permissions(&machine, host.clone(), "own"), expected);
    let expected: Vec<_> = BASE
        .iter()
        .chain(&["question * allow"])
        .chain(&shared)
        .chain(&["bash * allow"])
        .copied()
        .collect();
    assert_eq!(permissions(&machine, host, "build"), expected);
}

#[test]
fn references_may_be_read_by_built_in_agents() {
    let machine = machine();
    machine.directory("docs");
    let host = json!({"references": {"docs": "../docs"}, "agents": {"own": {}}});
    let rule = "external_directory ~/docs/* allow".to_owned();
    let build = permissions(&machine, host.clone(), "build");
    assert_eq!(build[4], rule);
    let explore = permissions(&machine, host.clone(), "explore");
    assert_eq!((&explore[4], explore.last()), (&rule, Some(&rule)));
    assert_eq!(permissions(&machine, host, "own"), Vec::<String>::new());
}
