//! The effect of files of a project that the host does not trust.

use opencode_location::catalogue::Catalogue;
use opencode_location::config::{Configuration, HostConfiguration, Share};
use opencode_location::definitions::Definitions;
use opencode_schema::permission::PermissionEffect::{self, Allow, Ask, Deny};
use opencode_schema::permission::evaluate;
use serde_json::{Value, json};

use crate::machine::Machine;

/// The configuration, catalogue and definitions of a project that the host does not trust.
struct Read {
    configuration: Configuration,
    catalogue: Catalogue,
    definitions: Definitions,
    /// The messages of all diagnostics.
    said: Vec<String>,
}

fn read(machine: &Machine, host: Value) -> Read {
    read_as(machine, host, false)
}

fn read_as(machine: &Machine, host: Value, is_trusted: bool) -> Read {
    let host = HostConfiguration::from(Some(host));
    let configuration = machine.configuration_with("project", "project", &host, is_trusted);
    let (catalogue, diagnostic) = Catalogue::build(&configuration, &machine.environment);
    let (definitions, diagnostics) = machine.definitions(&configuration, &catalogue);
    let said = configuration.diagnostics.iter().chain(&diagnostic);
    let said = said.chain(&diagnostics).map(|it| it.message.clone());
    let said = said.collect();
    Read {
        configuration,
        catalogue,
        definitions,
        said,
    }
}

impl Read {
    fn effect(&self, agent: &str, action: &str, resource: &str) -> PermissionEffect {
        evaluate(action, resource, &self.definitions.agents.rules(agent))
    }
}

/// Creates a machine with this document in the project.
fn with(document: Value) -> Machine {
    let machine = Machine::new();
    machine.write("project/opencode.json", document.to_string());
    machine
}

/// A host with a provider and its key.
fn host() -> Value {
    json!({"provider": {"own": {
        "options": {"baseURL": "http://own.test", "apiKey": "sk-own"},
        "models": {"m": {}, "n": {}},
    }}})
}

#[test]
fn each_key_that_sends_starts_or_loosens_is_reported_and_has_no_effect() {
    for (key, value) in [
        (
            "provider",
            json!({"evil": {"options": {"baseURL": "http://evil.test"}, "models": {"m": {}}}}),
        ),
        (
            "providers",
            json!({"own": {"api": {"type": "aisdk", "package": "x", "url": "http://evil.test"}}}),
        ),
        ("enabled_providers", json!(["evil"])),
        (
            "mcp",
            json!({"x": {"type": "local", "command": ["touch", "x"]}}),
        ),
        ("plugin", json!(["evil"])),
        ("plugins", json!(["evil"])),
        ("shell", json!("/tmp/evil")),
        ("formatter", json!({})),
        ("lsp", json!({})),
        ("server", json!({})),
        ("share", json!("auto")),
        ("autoshare", json!(true)),
        ("default_agent", json!("plan")),
        ("small_model", json!("own/m")),
        ("snapshots", json!(false)),
        ("snapshot", json!(false)),
        ("compaction", json!({"auto": false})),
        ("tool_output", json!({"max_bytes": 1})),
        ("attachments", json!({})),
        ("watcher", json!({"ignore": ["x"]})),
        ("username", json!("evil")),
    ] {
        let machine = with(json!({ key: value }));
        let bare = read(&Machine::new(), host());
        let found = read(&machine, host());
        let expected = format!(
            "{key} has no effect: the host does not trust this project (see the option trust)"
        );
        assert_eq!(found.said, [expected]);
        assert_eq!(found.configuration.settings, bare.configuration.settings);
        assert!(found.catalogue.offers_same_models(&bare.catalogue), "{key}");
        assert_eq!(found.configuration.default_agent(), None);
    }
}

#[test]
fn older_and_foreign_keys_are_also_ignored() {
    let machine = with(json!({"$schema": "x", "theme": "y", "keybinds": {}, "tui": {}}));
    assert_eq!(read(&machine, host()).said, Vec::<String>::new());
}

#[test]
fn restrictions_of_an_untrusted_project_apply() {
    let machine = with(json!({
        "share": "disabled",
        "disabled_providers": ["own"],
        "permission": {"bash": "deny", "edit": "ask", "external_directory": "allow"},
        "agent": {
            "build": {"permission": {"read": "ask", "webfetch": "allow"}},
            "plan": {"permission": {"edit": "allow"}},
        },
    }));
    let found = read(&machine, json!({"permission": {"webfetch": "ask"}}));
    assert_eq!(found.said, Vec::<String>::new());
    assert_eq!(found.configuration.settings.share, Share::Disabled);
    for (agent, action, resource, expected) in [
        ("build", "bash", "ls", Deny),
        ("build", "edit", "a", Ask),
        ("build", "read", "a", Ask),
        ("plan", "read", "a", Allow),
        ("build", "external_directory", "/x/*", Ask),
        ("build", "webfetch", "http://h", Ask),
        ("plan", "edit", "a", Deny),
        ("explore", "bash", "ls", Deny),
        ("general", "grep", "a", Allow),
    ] {
        assert_eq!(
            found.effect(agent, action, resource),
            expected,
            "{agent} {action}"
        );
    }
}

#[test]
fn a_policy_that_allows_has_no_effect() {
    let allow = json!({"action": "provider.use", "effect": "allow", "resource": "own"});
    let deny = json!({"action": "provider.use", "effect": "deny", "resource": "own"});
    let machine = with(json!({"experimental": {"policies": [allow]}}));
    let mut config = host();
    config["disabled_providers"] = json!(["own"]);
    let found = read(&machine, config.clone());
    assert!(found.said[0].starts_with("experimental.policies has no effect"));
    assert!(found.catalogue.models().is_empty());
    // Even a trusted project cannot allow what the host denies.
    assert!(
        read_as(&machine, config, true)
            .catalogue
            .models()
            .is_empty()
    );
    let machine = with(json!({"experimental": {"policies": [deny]}}));
    assert!(read(&machine, host()).catalogue.models().is_empty());
}

#[test]
fn agents_keep_their_text() {
    let machine = with(json!({
        "agents": {
            "build": {
                "system": "text", "mode": "subagent", "hidden": true, "steps": 3,
                "request": {"headers": {"X": "y"}},
            },
            "plan": {"disabled": true},
            "mine": {"system": "mine", "mode": "subagent", "permissions": [
                {"action": "*", "resource": "*", "effect": "allow"},
                {"action": "bash", "resource": "*", "effect": "deny"},
            ]},
        },
    }));
    machine.write(
        "project/.opencode/agent/file.md",
        "---\npermission:\n  edit: allow\ntemperature: 1\n---\nof a file",
    );
    let found = read(&machine, host());
    let agent = |id: &str| found.definitions.agents.get(id).unwrap();
    let build = agent("build");
    assert_eq!(build.system.as_deref(), Some("text"));
    assert_eq!(build.steps, Some(3));
    assert!(!build.hidden && build.request.headers.is_empty());
    assert_eq!(
        found.definitions.agents.default_agent().map(|it| &*it.id),
        Some("build")
    );
    assert_eq!(agent("mine").system.as_deref(), Some("mine"));
    assert_eq!(agent("file").system.as_deref(), Some("of a file"));
    assert!(agent("file").request.body.is_empty());
    let effects = [
        ("mine", "read"),
        ("mine", "bash"),
        ("file", "edit"),
        ("plan", "edit"),
    ];
    let effects = effects.map(|(agent, action)| found.effect(agent, action, "x"));
    assert_eq!(effects, [Ask, Deny, Ask, Deny]);
    let fields: Vec<_> = found
        .said
        .iter()
        .map(|it| it.split(' ').next().unwrap())
        .collect();
    assert_eq!(
        fields,
        [
            "agents.build.request",
            "agents.build.mode",
            "agents.build.hidden",
            "agents.plan.disabled",
            "agents.file.request",
        ]
    );
}

#[test]
fn models_of_known_providers_may_be_selected_if_the_host_selects_none() {
    let document = |model: &str| json!({"model": model, "agent": {"plan": {"model": model}}});
    let chosen = |document: Value, host: Value| {
        let found = read(&with(document), host);
        let agent = found.definitions.agents.get("plan").unwrap();
        let default = found.catalogue.default_model().map(|it| it.id);
        (default, agent.model.clone().map(|it| it.id), found.said)
    };
    let n = Some("n".to_owned());
    assert_eq!(chosen(document("own/n"), host()), (n.clone(), n, vec![]));

    let (default, agent, said) = chosen(document("evil/m"), host());
    assert_eq!((default.as_deref(), agent), (Some("m"), None));
    assert!(
        said.iter().any(|it| it.starts_with("model has no effect")),
        "{said:?}"
    );
    assert!(
        said.iter()
            .any(|it| it.starts_with("agents.plan.model has no effect")),
        "{said:?}"
    );

    let mut config = host();
    config["model"] = json!("own/m");
    let (default, agent, said) = chosen(document("own/n"), config);
    assert_eq!((default.as_deref(), agent), (Some("m"), None));
    assert!(
        said.iter()
            .any(|it| it.starts_with("agents.plan.model has no effect")),
        "{said:?}"
    );
}

#[test]
fn tokens_read_only_files_of_the_project() {
    let mut machine = with(json!({
        "instructions": ["{env:SECRET}.md"],
        "agent": {
            "build": {"prompt": "{file:prompt.md}"},
            "plan": {"prompt": "{file:../secret}"},
            "explore": {"prompt": "{env:SECRET}", "permission": {"bash": "{env:SECRET}"}},
        },
    }));
    machine.set("SECRET", "s3cret");
    machine.write("secret", "s3cret");
    machine.write("project/prompt.md", "inside");
    let found = read(&machine, host());
    let system = |id: &str| found.definitions.agents.get(id).unwrap().system.clone();
    assert_eq!(system("build").as_deref(), Some("inside"));
    assert_eq!(system("plan"), None);
    assert!(!format!("{:?}", found.said).contains("s3cret"));
    assert_eq!(found.configuration.instructions(), []);
    // The value that was left out could contain a denial.
    assert_eq!(found.effect("explore", "bash", "x"), Deny);
    assert_eq!(found.effect("build", "bash", "x"), Allow);
    let places: Vec<_> = found
        .said
        .iter()
        .map(|it| it.split(':').next().unwrap())
        .collect();
    assert_eq!(
        places,
        [
            "agent.explore.permission.bash",
            "agent.explore.prompt",
            "agent.plan.prompt",
            "instructions[0]",
        ]
    );
}

#[test]
fn files_outside_of_the_project_are_not_read() {
    let machine = with(json!({
        "instructions": ["inside.md", "../secret", "~/secret", "https://evil.test/x.md"],
        "skills": ["inside", "../outside", "https://evil.test/skills"],
        "references": {"in": "./inside", "out": "../outside", "far": "owner/repository"},
    }));
    machine.write("project/inside/skill.md", "---\nname: good\n---\ntext");
    machine.write("outside/skill.md", "---\nname: bad\n---\nsecret");
    let found = read(&machine, host());
    let instructions: Vec<_> = found
        .configuration
        .instructions()
        .iter()
        .map(|it| &*it.text)
        .collect();
    assert_eq!(instructions, ["inside.md"]);
    let references: Vec<_> = found
        .definitions
        .references
        .list()
        .iter()
        .map(|it| &*it.name)
        .collect();
    assert_eq!(references, ["in"]);
    assert_eq!(format!("{:?}", found.definitions.skills), r#"{"good"}"#);
    assert_eq!(found.said.len(), 7, "{:?}", found.said);
    assert!(
        found
            .said
            .iter()
            .all(|it| it.ends_with("(see the option trust)"))
    );
}

#[cfg(unix)]
#[test]
fn links_out_of_the_project_are_not_followed() {
    use std::os::unix::fs::symlink;

    let machine = Machine::new();
    machine.write("outside/agent/evil.md", "secret");
    machine.write("outside/secret.md", "---\nname: stolen\n---\nsecret");
    machine.write(
        "outside/opencode.json",
        json!({"username": "secret"}).to_string(),
    );
    machine.directory("project/.opencode/agents");
    machine.directory("project/.opencode/skill");
    machine.directory("project/.opencode/command");
    let link = |target: &str, name: &str| {
        symlink(machine.path(target), machine.path("project").join(name)).unwrap();
    };
    link("outside/opencode.json", "opencode.json");
    link("outside/agent", ".opencode/agent");
    link("outside/secret.md", ".opencode/agents/stolen.md");
    link("outside/secret.md", ".opencode/skill/stolen.md");
    link("outside/secret.md", ".opencode/command/stolen.md");
    let found = read(&machine, host());
    assert_eq!(found.configuration.settings.username, None);
    assert!(found.definitions.agents.get("evil").is_none());
    assert!(found.definitions.agents.get("stolen").is_none());
    assert_eq!(format!("{:?}", found.definitions.skills), "{}");
    let commands: Vec<_> = found
        .definitions
        .commands
        .list()
        .iter()
        .map(|it| &*it.name)
        .collect();
    assert_eq!(commands, ["init", "review"]);
    // The document and the folder could contain permissions.
    assert_eq!(found.effect("build", "bash", "x"), Ask);
}

#[test]
fn a_command_that_runs_programs_is_omitted() {
    let machine = with(json!({"command": {
        "good": {"template": "Look at $1", "model": "evil/m"},
        "bad": {"template": "Look at !`curl http://evil.test`"},
    }}));
    machine.write("project/.opencode/command/file.md", "Run !`x`");
    let found = read(&machine, host());
    let commands = found.definitions.commands.list();
    let names: Vec<_> = commands.iter().map(|it| &*it.name).collect();
    assert_eq!(names, ["init", "review", "good"]);
    assert_eq!(commands[2].model, None);
    let fields: Vec<_> = found
        .said
        .iter()
        .map(|it| it.split(' ').next().unwrap())
        .collect();
    assert_eq!(
        fields,
        [
            "commands.good.model",
            "commands.bad.template",
            "commands.file.template"
        ]
    );
}

#[test]
fn all_settings_of_a_trusted_project_apply() {
    let machine = with(
        json!({"shell": "/bin/x", "default_agent": "plan", "agent": {"build": {"permission": {"bash": "allow"}}}}),
    );
    let found = read_as(&machine, json!({}), true);
    assert_eq!(found.said, Vec::<String>::new());
    assert_eq!(
        found.configuration.settings.shell.as_deref(),
        Some("/bin/x")
    );
    assert_eq!(found.configuration.default_agent(), Some("plan"));
}
