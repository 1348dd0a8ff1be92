//! No combination of files makes an effect looser than the host's rules, or the ceiling.

use opencode_location::catalogue::Catalogue;
use opencode_location::config::{HostConfiguration, permission_rules};
use opencode_location::definitions::Definitions;
use opencode_schema::permission::{
    PermissionEffect, PermissionRule, Restriction, Ruleset, SavedPermission, decide, evaluate,
    matches,
};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::machine::Machine;

const AGENTS: [&str; 5] = ["build", "plan", "explore", "mine", "yours"];
const ACTIONS: [&str; 4] = ["bash", "edit", "read", "external_directory"];
const RESOURCES: [&str; 3] = ["a", "b/c", "~/x"];

fn effect() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just("allow"),
        Just("ask"),
        Just("deny"),
        Just("allow"),
        Just("denyy")
    ]
    .prop_map(Value::from)
}

fn permission() -> impl Strategy<Value = Value> {
    let action = prop::sample::select(vec![
        "*",
        "bash",
        "edit",
        "read",
        "e*",
        "external_directory",
    ]);
    let resource = prop::sample::select(vec!["*", "a", "b/*", "~/x"]);
    let by_resource = prop::collection::vec((resource, effect()), 1..3).prop_map(|rules| {
        Value::Object(
            rules
                .into_iter()
                .map(|(it, to)| (it.to_owned(), to))
                .collect(),
        )
    });
    let rules = prop_oneof![effect(), by_resource];
    let by_action = prop::collection::vec((action, rules), 0..4).prop_map(|rules| {
        Value::Object(
            rules
                .into_iter()
                .map(|(it, to)| (it.to_owned(), to))
                .collect(),
        )
    });
    prop_oneof![1 => effect(), 4 => by_action]
}

fn agent() -> impl Strategy<Value = Value> {
    let disabled = prop_oneof![4 => Just(None), 1 => any::<bool>().prop_map(Some)];
    let mode = prop::sample::select(vec!["primary", "subagent", "all", "odd"]);
    (prop::option::of(permission()), disabled, mode).prop_map(|(permission, disabled, mode)| {
        let mut agent = json!({ "mode": mode });
        if let Some(permission) = permission {
            agent["permission"] = permission;
        }
        if let Some(disabled) = disabled {
            agent["disable"] = disabled.into();
        }
        agent
    })
}

fn document() -> impl Strategy<Value = Value> {
    let agents = prop::collection::vec((prop::sample::select(AGENTS.to_vec()), agent()), 0..3);
    let key = prop::sample::select(vec!["agent", "mode", "agents"]);
    let default = prop::option::of(prop::sample::select(AGENTS.to_vec()));
    let tools = prop::option::of(any::<bool>());
    (prop::option::of(permission()), agents, key, default, tools).prop_map(
        |(permission, agents, key, default, tools)| {
            let agents = agents.into_iter().map(|(id, agent)| (id.to_owned(), agent));
            let mut document = json!({ key: Value::Object(agents.collect()) });
            if let Some(permission) = permission {
                document["permission"] = permission;
            }
            if let Some(default) = default {
                document["default_agent"] = default.into();
            }
            if let Some(on) = tools {
                document["tools"] = json!({"bash": on, "write": !on});
            }
            document
        },
    )
}

/// The files of a machine as texts. Some are invalid.
fn files() -> impl Strategy<Value = Vec<(&'static str, String)>> {
    let place = prop::sample::select(vec![
        "config/opencode.json",
        "home/.opencode/opencode.json",
        "project/opencode.json",
        "project/opencode.jsonc",
        "project/.opencode/opencode.json",
    ]);
    let text = (document(), 0..10).prop_map(|(document, broken)| match broken {
        0 => "{".to_owned(),
        _ => document.to_string(),
    });
    let markdown = prop::sample::select(vec![
        "project/.opencode/agent/build.md",
        "config/agents/mine.md",
        "project/.opencode/mode/yours.md",
    ]);
    let head = permission().prop_map(|it| format!("---\npermission: {it}\n---\ntext"));
    prop::collection::vec(prop_oneof![3 => (place, text), 1 => (markdown, head)], 0..5)
}

/// The host's own rules for an agent.
fn of_host(config: &Value, agent: &str, home: &str) -> Vec<PermissionRule> {
    let read = |value: &Value| permission_rules(value, "x").unwrap_or_default();
    let mut rules: Vec<_> = config.get("permission").map(read).unwrap_or_default();
    if let Some(own) = config["agent"][agent].get("permission") {
        rules.extend(read(own));
    }
    rules.into_iter().map(|rule| rule.with_home(home)).collect()
}

fn host() -> impl Strategy<Value = Value> {
    let valid = permission().prop_filter("rules that can be read", |it| {
        permission_rules(it, "x").is_ok()
    });
    let own = permission().prop_filter("rules that can be read", |it| {
        permission_rules(it, "x").is_ok()
    });
    (
        valid,
        prop::option::of((prop::sample::select(AGENTS.to_vec()), own)),
    )
        .prop_map(|(permission, agent)| match agent {
            Some((id, own)) => {
                json!({"permission": permission, "agent": {id: {"permission": own}}})
            }
            None => json!({"permission": permission}),
        })
}

fn last(rules: &[PermissionRule], action: &str, resource: &str) -> Option<PermissionEffect> {
    let fits =
        |rule: &&PermissionRule| matches(&rule.action, action) && matches(&rule.resource, resource);
    rules.iter().rev().find(fits).map(|rule| rule.effect)
}

fn definitions(machine: &Machine, host: &HostConfiguration, is_trusted: bool) -> Definitions {
    let configuration = machine.configuration_with("project", "project", host, is_trusted);
    let (catalogue, _) = Catalogue::build(&configuration, &machine.environment);
    machine.definitions(&configuration, &catalogue).0
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(192))]

    #[test]
    fn no_combination_of_files_is_looser_than_the_host(
        files in files(),
        config in host(),
        ceiling in permission(),
        is_trusted: bool,
    ) {
        let machine = Machine::new();
        for (name, text) in &files {
            machine.write(name, text);
        }
        let home = machine.text("home");
        let ceiling = permission_rules(&ceiling, "x").unwrap_or_default();
        let host = HostConfiguration {
            ceiling: ceiling.clone(),
            ..HostConfiguration::from(Some(config.clone()))
        };
        let found = definitions(&machine, &host, is_trusted);
        let ceiling: Vec<_> = ceiling.into_iter().map(|rule| rule.with_home(&home)).collect();
        let everything = [SavedPermission {
            id: "psv_1".to_owned(),
            project_id: "p".to_owned(),
            action: "*".to_owned(),
            resource: "*".to_owned(),
        }];
        let session = [PermissionRule {
            action: "*".to_owned(),
            resource: "*".to_owned(),
            effect: PermissionEffect::Allow,
        }];
        for agent in AGENTS {
            // Session rules do not reach an agent that no file describes.
            if found.agents.get(agent).is_none() {
                continue;
            }
            let of_host = of_host(&config, agent, &home);
            let rules = found.agents.rules(agent);
            let loosened = Ruleset {
                rules: [&*rules.rules, &session].concat().into(),
                ..rules.clone()
            };
            for action in ACTIONS {
                for resource in RESOURCES {
                    let resource = resource.replace('~', &home);
                    let effect = evaluate(action, &resource, &loosened);
                    for limit in [last(&of_host, action, &resource), last(&ceiling, action, &resource)] {
                        let limit = limit.unwrap_or(PermissionEffect::Allow);
                        prop_assert_eq!(effect.stricter(limit), effect, "{} {}", action, resource);
                    }
                    // A saved answer does not replace a question of the ceiling.
                    if last(&ceiling, action, &resource) == Some(PermissionEffect::Ask) {
                        let decided = decide(action, [resource.as_str().into()], &loosened, &everything);
                        prop_assert_ne!(decided, PermissionEffect::Allow);
                    }
                }
            }
        }
    }

    #[test]
    fn no_untrusted_file_loosens_anything(files in files(), config in host()) {
        let (machine, bare) = (Machine::new(), Machine::new());
        for (name, text) in &files {
            machine.write(name, text);
            if !name.starts_with("project") {
                bare.write(name, text);
            }
        }
        let host = HostConfiguration::from(Some(config));
        let (found, before) = (definitions(&machine, &host, false), definitions(&bare, &host, false));
        for agent in AGENTS {
            // An agent that only the project describes does not affect other agents.
            if before.agents.get(agent).is_none() {
                continue;
            }
            for action in ACTIONS {
                for resource in RESOURCES {
                    let of = |found: &Definitions, machine: &Machine| {
                        let resource = resource.replace('~', &machine.text("home"));
                        evaluate(action, &resource, &found.agents.rules(agent))
                    };
                    let (effect, least) = (of(&found, &machine), of(&before, &bare));
                    prop_assert_eq!(effect.stricter(least), effect, "{} {} {}", agent, action, resource);
                }
            }
        }
        // The user may name an agent that only the project describes.
        let of_user = files.iter().filter(|(name, _)| !name.starts_with("project"));
        if !of_user.into_iter().any(|(_, text)| text.contains("default_agent")) {
            let id = |found: &Definitions| found.agents.default_agent().map(|it| it.id.clone());
            prop_assert_eq!(id(&found), id(&before));
        }
    }
}

/// An untrusted project cannot restore an agent that the user disabled.
#[test]
fn an_agent_of_an_untrusted_project_is_not_the_default() {
    for disabled in [vec!["build"], vec!["build", "plan"]] {
        let machine = Machine::new();
        let off = |id: &&str| ((*id).to_owned(), json!({"disable": true}));
        let agents: serde_json::Map<_, _> = disabled.iter().map(off).collect();
        machine.write("config/opencode.json", json!({"agent": agents}).to_string());
        let build = json!({"agent": {"build": {"mode": "primary"}}});
        machine.write("project/opencode.json", build.to_string());
        let host = HostConfiguration::from(Some(json!({})));
        let found = definitions(&machine, &host, false);
        let default = found.agents.default_agent().map(|agent| agent.id.as_str());
        let expected = (!disabled.contains(&"plan")).then_some("plan");
        assert_eq!(default, expected);
        assert!(found.agents.get("build").is_some());
    }
}

/// The restrictions of a ruleset are all that a session cannot loosen.
#[test]
fn a_ceiling_is_separate_from_the_rules() {
    let host = HostConfiguration {
        ceiling: permission_rules(&json!({"bash": "deny"}), "x").unwrap(),
        ..HostConfiguration::from(Some(json!({})))
    };
    let found = definitions(&Machine::new(), &host, true);
    let [Restriction { rules, each_time }] = found.agents.rules("build").restrictions else {
        panic!("the ceiling alone restricts");
    };
    assert_eq!((rules.len(), *each_time), (1, true));
}
