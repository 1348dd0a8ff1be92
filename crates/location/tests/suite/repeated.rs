//! Keys that stand twice in one document: a diagnostic names both places, and the rules of both restrict.

use opencode_location::catalogue::Catalogue;
use opencode_location::config::HostConfiguration;
use opencode_location::definitions::Definitions;
use opencode_schema::permission::{PermissionEffect, PermissionRule, Ruleset, evaluate};
use proptest::prelude::*;

use crate::machine::Machine;

/// The definitions of a machine, and all diagnostics as text.
fn read(machine: &Machine, is_trusted: bool) -> (Definitions, Vec<String>) {
    let host = HostConfiguration::default();
    let project = machine.project("project");
    let configuration = machine.configuration_with("project", "project", &host, is_trusted);
    let (catalogue, _) = Catalogue::build(&configuration, &machine.environment);
    let (definitions, found) = Definitions::read(
        &configuration,
        &catalogue,
        &machine.environment,
        &project,
        &project.directory,
    );
    let diagnostics = configuration.diagnostics.iter().chain(&found);
    (definitions, diagnostics.map(ToString::to_string).collect())
}

/// Decides with rules of the session that allow everything.
fn effect(found: &Definitions, agent: &str, action: &str, resource: &str) -> PermissionEffect {
    let rules = found.agents.rules(agent);
    let everything = PermissionRule {
        action: "*".to_owned(),
        resource: "*".to_owned(),
        effect: PermissionEffect::Allow,
    };
    let loosened = Ruleset {
        rules: [&*rules.rules, &[everything]].concat().into(),
        ..rules.clone()
    };
    evaluate(action, resource, &loosened)
}

#[test]
fn rules_of_both_keys_restrict_at_every_depth() {
    let twice = "stands twice";
    for (text, agent, name) in [
        (
            r#"{"permission": {"bash": "deny"}, "permission": {"edit": "ask"}}"#,
            "build",
            "permission",
        ),
        (
            r#"{"permission": {"bash": "deny"}, "p\u0065rmission": {"bash": "allow"}}"#,
            "build",
            "permission",
        ),
        (
            r#"{"permission": {"bash": "deny", "bash": "allow"}}"#,
            "build",
            "permission.bash",
        ),
        (
            r#"{"permission": {"bash": "deny", "b\u0061sh": {"*": "allow"}}}"#,
            "build",
            "permission.bash",
        ),
        (
            r#"{"permission": {"bash": {"rm *": "deny", "rm *": "allow"}}}"#,
            "build",
            "permission.bash.rm *",
        ),
        (
            r#"{"permission": {"bash": "deny", "bash": "ask", "bash": "allow"}}"#,
            "build",
            "permission.bash",
        ),
        (
            r#"{"permission": {"bash": "allow", "bash": "deny"}, "permission": {}}"#,
            "build",
            "permission",
        ),
        (
            r#"{"permission": "deny", "permission": "allow"}"#,
            "build",
            "permission",
        ),
        (
            r#"{"tools": {"bash": false}, "tools": {"bash": true}}"#,
            "build",
            "tools",
        ),
        (
            r#"{"tools": {"bash": false, "bash": true}}"#,
            "build",
            "tools.bash",
        ),
        (
            r#"{"permissions": [{"action": "bash", "resource": "*", "effect": "deny"}], "permissions": []}"#,
            "build",
            "permissions",
        ),
        (
            r#"{"agent": {"build": {"permission": {"bash": "deny"}}}, "agent": {}}"#,
            "build",
            "agent",
        ),
        (
            r#"{"agent": {"build": {"permission": {"bash": "deny"}}, "build": {"steps": 3}}}"#,
            "build",
            "agent.build",
        ),
        (
            r#"{"agents": {"build": {"permissions": [{"action": "bash", "resource": "*", "effect": "deny"}], "permissions": []}}}"#,
            "build",
            "agents.build.permissions",
        ),
        (
            r#"{"mode": {"mine": {"tools": {"bash": false}, "tools": {"bash": true}}}}"#,
            "mine",
            "mode.mine.tools",
        ),
    ] {
        let machine = Machine::new();
        machine.write("config/opencode.json", text);
        let (found, diagnostics) = read(&machine, true);
        assert_eq!(
            effect(&found, agent, "bash", "rm x"),
            PermissionEffect::Deny,
            "{text}: {diagnostics:?}"
        );
        let expected = format!("The key {name} {twice} in line 1");
        assert!(
            diagnostics.iter().any(|it| it.contains(&expected)),
            "{text}: {diagnostics:?}"
        );
    }
}

#[test]
fn every_document_reports_its_keys() {
    let text = "{\n  \"permission\": {\"bash\": \"deny\"},\n  // twice\n  \"permission\": {}\n}";
    let expected = "The key permission stands twice, in the lines 2 and 4";
    let write = |machine: &mut Machine, place: &str| match place {
        "OPENCODE_CONFIG_CONTENT" => machine.set(place, text),
        _ => machine.write(place, text),
    };
    for (place, is_trusted) in [
        ("config/opencode.json", true),
        ("config/opencode.jsonc", true),
        ("home/.opencode/opencode.json", true),
        ("project/opencode.json", true),
        ("project/opencode.json", false),
        ("project/.opencode/opencode.jsonc", false),
        ("OPENCODE_CONFIG_CONTENT", true),
    ] {
        let mut machine = Machine::new();
        write(&mut machine, place);
        let (found, diagnostics) = read(&machine, is_trusted);
        assert_eq!(diagnostics.len(), 1, "{place}: {diagnostics:?}");
        assert!(
            diagnostics[0].contains(expected),
            "{place}: {diagnostics:?}"
        );
        let bash = effect(&found, "build", "bash", "x");
        assert_eq!(bash, PermissionEffect::Deny, "{place}");
        let read = effect(&found, "build", "read", "x");
        assert_eq!(read, PermissionEffect::Allow, "{place}");
    }
}

#[test]
fn the_permissions_of_the_environment_are_a_document() {
    let mut machine = Machine::new();
    machine.set(
        "OPENCODE_PERMISSION",
        r#"{"bash": "deny", "bash": "allow"}"#,
    );
    let (found, diagnostics) = read(&machine, true);
    assert_eq!(effect(&found, "build", "bash", "x"), PermissionEffect::Deny);
    assert!(
        diagnostics[0].contains("The key permission.bash stands twice"),
        "{diagnostics:?}"
    );
}

#[test]
fn members_of_one_rule_that_stand_twice_make_the_host_ask() {
    let rule = r#"{"action": "bash", "action": "edit", "resource": "*", "effect": "deny", "effect": "allow"}"#;
    let machine = Machine::new();
    machine.write(
        "config/opencode.json",
        format!(r#"{{"permissions": [{rule}]}}"#),
    );
    let (found, diagnostics) = read(&machine, true);
    assert_ne!(
        effect(&found, "build", "bash", "x"),
        PermissionEffect::Allow
    );
    assert_eq!(effect(&found, "build", "edit", "x"), PermissionEffect::Deny);
    assert!(
        diagnostics
            .iter()
            .any(|it| it.contains("the host asks before every use")),
        "{diagnostics:?}"
    );
}

#[test]
fn an_earlier_value_that_cannot_be_read_makes_the_host_ask() {
    let machine = Machine::new();
    machine.write(
        "config/opencode.json",
        r#"{"permission": {"bash": "denyy"}, "permission": {}}"#,
    );
    let (found, _) = read(&machine, true);
    assert_eq!(effect(&found, "build", "bash", "x"), PermissionEffect::Ask);
}

#[test]
fn more_keys_than_are_read_make_the_host_ask() {
    let many = r#""bash": "allow","#.repeat(40);
    let machine = Machine::new();
    machine.write(
        "config/opencode.json",
        format!(r#"{{"permission": {{{many} "edit": "allow"}}}}"#),
    );
    let (found, diagnostics) = read(&machine, true);
    assert_eq!(
        effect(&found, "build", "read", "x"),
        PermissionEffect::Ask,
        "{diagnostics:?}"
    );
}

#[test]
fn other_settings_that_restrict_hold_too() {
    for text in [
        r#"{"agent": {"build": {"steps": 3, "steps": 500}}}"#,
        r#"{"agent": {"build": {"steps": 3}, "build": {"steps": 500}}}"#,
    ] {
        let machine = Machine::new();
        machine.write("config/opencode.json", text);
        let (found, _) = read(&machine, true);
        assert_eq!(found.agents.get("build").unwrap().steps, Some(3), "{text}");
    }
    let machine = Machine::new();
    machine.write(
        "config/opencode.json",
        r#"{"agent": {"mine": {"disable": true, "disable": false}}}"#,
    );
    assert!(read(&machine, true).0.agents.get("mine").is_none());
}

#[test]
fn names_of_front_matter_that_stand_twice_restrict() {
    for (front, name) in [
        (
            "permission:\n  bash: deny\npermission:\n  bash: allow",
            "permission stands twice, in the lines 2 and 4",
        ),
        (
            "permission:\n  bash: deny\n\"permissi\\u006fn\":\n  edit: ask",
            "permission stands twice, in the lines 2 and 4",
        ),
        (
            "permission:\n  bash: deny\n  edit: ask\n  bash: allow",
            "permission.bash stands twice, in the lines 3 and 5",
        ),
        (
            "permission: {bash: {\"rm *\": deny, \"rm *\": allow}}",
            "permission.bash.rm * stands twice in line 2",
        ),
        (
            "tools: {bash: false}\ndescription: a\ntools: {bash: true}",
            "tools stands twice, in the lines 2 and 4",
        ),
        (
            "permissions:\n- {action: bash, resource: '*', effect: deny}\npermissions: []",
            "permissions stands twice, in the lines 2 and 4",
        ),
        // Without quotes it is no YAML.
        (
            "description: when: now\ntools: {bash: false}\ntools: {}",
            "tools stands twice, in the lines 3 and 4",
        ),
    ] {
        for is_trusted in [true, false] {
            let machine = Machine::new();
            machine.write(
                "project/.opencode/agent/mine.md",
                format!("---\n{front}\n---\nText"),
            );
            let (found, diagnostics) = read(&machine, is_trusted);
            let bash = effect(&found, "mine", "bash", "rm x");
            assert_eq!(bash, PermissionEffect::Deny, "{front}: {diagnostics:?}");
            assert!(
                diagnostics.iter().any(|it| it.contains(name)),
                "{front}: {diagnostics:?}"
            );
        }
    }
    for file in ["command/mine.md", "skill/mine/SKILL.md"] {
        let machine = Machine::new();
        let front = "description: a\nname: mine\ndescription: b";
        machine.write(
            &format!("project/.opencode/{file}"),
            format!("---\n{front}\n---\nText"),
        );
        let (_, diagnostics) = read(&machine, true);
        if file.starts_with("command") {
            let expected =
                "The key description stands twice, in the lines 2 and 4; the last one holds";
            assert!(
                diagnostics.iter().any(|it| it.contains(expected)),
                "{file}: {diagnostics:?}"
            );
        }
    }
}

fn rules() -> impl Strategy<Value = String> {
    let action = prop::sample::select(vec!["bash", "edit", "read", "*"]);
    let effect = prop::sample::select(vec!["allow", "ask", "deny"]);
    let one = (action, effect).prop_map(|(action, effect)| format!("\"{action}\": \"{effect}\""));
    prop::collection::vec(one, 0..4).prop_map(|rules| format!("{{{}}}", rules.join(", ")))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn two_values_are_no_looser_than_either(first in rules(), second in rules()) {
        let documents = [
            format!(r#"{{"permission": {first}, "permission": {second}}}"#),
            format!(r#"{{"permission": {first}}}"#),
            format!(r#"{{"permission": {second}}}"#),
        ];
        let [both, first, second] = documents.map(|text| {
            let machine = Machine::new();
            machine.write("config/opencode.json", text);
            read(&machine, true).0
        });
        for action in ["bash", "edit", "read", "task"] {
            let decide = |found: &Definitions| evaluate(action, "x", &found.agents.rules("mine"));
            let (of_both, limits) = (decide(&both), [decide(&first), decide(&second)]);
            for limit in limits {
                // The first value alone does not say what its earlier repetition would.
                if limit != PermissionEffect::Allow {
                    prop_assert_ne!(of_both, PermissionEffect::Allow, "{}", action);
                }
            }
        }
    }
}
