//! The built-in agents, and their changes and additions by configuration.

use opencode_location::definitions::Definitions;
use opencode_schema::agent::AgentMode;
use opencode_schema::permission::matches;
use serde_json::{Value, json};

use super::{agent, define, defined, nothing};
use crate::documents::select;
use crate::machine::Machine;

fn ids(definitions: &Definitions) -> Vec<&str> {
    let agents = definitions.agents.list().iter();
    agents.map(|agent| &*agent.id).collect()
}

#[test]
fn a_later_description_overrides_an_earlier_one_field_by_field() {
    let machine = Machine::new();
    machine.write(
        "config/opencode.json",
        json!({"agents": {
            "a": {
                "model": "p/m#low", "steps": 3, "description": "first", "color": "accent",
                "request": {"headers": {"X-A": "1", "X-B": "1"}, "body": {"a": 1, "b": 1}},
            },
            "b": {"model": "p/m", "variant": "low"},
        }})
        .to_string(),
    );
    machine.write(
        "config/agents/a.md",
        "---\ndescription: second\nmode: subagent\nrequest:\n  headers: {x-b: two}\n  body: {b: 2, c: 2}\n---\n\nFrom the file.\n",
    );
    let definitions = defined(
        &machine,
        json!({"agents": {
            "a": {"variant": "high", "hidden": true},
            "b": {"model": {"providerID": "p", "id": "n"}, "steps": 4, "system": "s"},
            "c": {"variant": "high"},
        }}),
    );
    let a = agent(&definitions, "a");
    assert_eq!(a.model, Some(select("p", "m", Some("high"))));
    assert_eq!(
        (a.steps, a.hidden, a.mode),
        (Some(3), true, AgentMode::Subagent)
    );
    assert_eq!(a.description.as_deref(), Some("second"));
    assert_eq!(a.system.as_deref(), Some("From the file."));
    assert_eq!(a.color.as_ref().map(|it| it.as_str()), Some("accent"));
    assert_eq!(
        json!(a.request),
        json!({"headers": {"X-A": "1", "X-B": "two"}, "body": {"a": 1, "b": 2, "c": 2}})
    );
    let b = agent(&definitions, "b");
    assert_eq!(b.model, Some(select("p", "n", Some("low"))));
    assert_eq!((b.steps, b.system.as_deref()), (Some(4), Some("s")));
    // A variant without a model has no effect.
    let c = agent(&definitions, "c");
    assert_eq!((c.mode, &c.model, c.hidden), (AgentMode::All, &None, false));
    assert_eq!(ids(&definitions)[6..], ["a", "b", "c"]);
}

#[test]
fn a_disabled_agent_is_removed_and_a_later_definition_creates_a_new_one() {
    let machine = Machine::new();
    machine.write(
        "config/opencode.json",
        json!({
            "agents": {"a": {"steps": 1, "permissions": []}, "b": {"steps": 2}},
            "agent": {"plan": {"disable": true}, "build": {"disable": true}},
        })
        .to_string(),
    );
    machine.write("config/agent/b.md", "---\ndisable: true\n---\n");
    let definitions = defined(
        &machine,
        json!({
            "agents": {"a": {"disabled": true}, "b": {"model": "p/n"}, "build": {"steps": 9}},
        }),
    );
    assert_eq!(
        ids(&definitions),
        ["general", "explore", "compaction", "title", "b", "build"]
    );
    let build = agent(&definitions, "build");
    assert_eq!((build.mode, &build.system), (AgentMode::All, &None));
    assert_eq!((build.steps, build.permissions.len()), (Some(9), 0));
    assert_eq!(*definitions.agents.rules("build").rules, []);
    let b = agent(&definitions, "b");
    assert_eq!((b.steps, &b.model), (None, &Some(select("p", "n", None))));
}

#[test]
fn agents_and_rules_without_effect_are_reported_and_not_listed() {
    let machine = Machine::new();
    machine.write(
        "config/opencode.json",
        json!({
            "agents": {"title": {"model": "p/m"}, "summary": {"mode": "all"}},
            "permissions": [{"action": "plan_enter", "resource": "*", "effect": "allow"}],
        })
        .to_string(),
    );
    machine.write("config/agent/summary.md", "Sum up.");
    machine.write(
        "config/agent/a.md",
        "---\npermission:\n  plan_exit: deny\n---\n",
    );
    let (definitions, diagnostics) = define(&machine, json!({}));
    let known = [
        "build",
        "plan",
        "general",
        "explore",
        "compaction",
        "title",
        "a",
    ];
    assert_eq!(ids(&definitions), known);
    for agent in definitions.agents.list() {
        let mut actions = agent.permissions.iter().map(|rule| &*rule.action);
        assert!(
            actions.all(|action| !action.starts_with("plan_")),
            "{}",
            agent.id
        );
    }
    let mut told: Vec<_> = diagnostics
        .iter()
        .map(|it| it.split_once(": ").unwrap().1)
        .collect();
    told.sort_unstable();
    assert_eq!(
        told,
        [
            "The agent summary has no effect, because no operation runs it; remove it",
            "The agent summary has no effect, because no operation runs it; remove it",
            "The permission plan_enter has no effect, because no tool asks for it; remove it",
            "The permission plan_exit has no effect, because no tool asks for it; remove it",
        ]
    );
}

#[test]
fn the_newer_generation_overrides_the_older_ones() {
    let machine = Machine::new();
    let host = json!({
        "agents": {"a": {"steps": 1}},
        "agent": {"a": {"steps": 2, "model": "p/m"}, "b": {"maxSteps": 5}},
        "mode": {"b": {"maxSteps": 6}, "c": {"maxSteps": 7}},
    });
    let (definitions, _) = define(&machine, host);
    let found = ["a", "b", "c"].map(|id| {
        let agent = agent(&definitions, id);
        (agent.steps, agent.mode, agent.model.is_some())
    });
    assert_eq!(
        found,
        [
            (Some(1), AgentMode::All, true),
            (Some(5), AgentMode::Primary, false),
            (Some(7), AgentMode::Primary, false),
        ]
    );
}

#[test]
fn markdown_files_are_named_by_their_path() {
    let machine = Machine::new();
    let dot = "project/.opencode";
    machine.write(&format!("{dot}/agent/one.md"), "Prompt one.");
    machine.write(
        &format!("{dot}/agent/nested/deeper/two.md"),
        "---\nmode: primary\n---\nTwo.",
    );
    machine.write(
        &format!("{dot}/agents/one.md"),
        "---\nsystem: not this\n---\nOne again.",
    );
    machine.write(&format!("{dot}/agents/notes.txt"), "no definition");
    machine.write(
        &format!("{dot}/mode/three.md"),
        "---\nmode: subagent\n---\nThree.",
    );
    machine.write(&format!("{dot}/modes/nested/four.md"), "not read");
    machine.write("home/.opencode/agent/five.md", "Five.");
    let definitions = defined(&machine, nothing());
    let found: Vec<_> = definitions.agents.list()[6..]
        .iter()
        .map(|it| (&*it.id, it.mode, it.system.as_deref().unwrap()))
        .collect();
    assert_eq!(
        found,
        [
            ("five", AgentMode::All, "Five."),
            ("nested/deeper/two", AgentMode::Primary, "Two."),
            ("one", AgentMode::All, "One again."),
            ("three", AgentMode::Primary, "Three."),
        ]
    );
}

#[test]
fn an_empty_file_removes_a_built_in_prompt() {
    let machine = Machine::new();
    machine.write("config/agent/build.md", "---\nsteps: 2\n---\n\n");
    let definitions = defined(&machine, nothing());
    let build = agent(&definitions, "build");
    assert_eq!((&build.system, build.steps), (&None, Some(2)));
}

#[test]
fn a_wrong_field_of_a_file_is_omitted_and_reported_with_its_position() {
    let machine = Machine::new();
    machine.write(
        "config/agent/a.md",
        "---\ndescription: x\nmode: sometimes\n---\ntext",
    );
    machine.write("config/agent/b.md", "---\ncolor: red\n---\ntext");
    machine.write("config/agent/c.md", "---\nsteps: 0\nx: y\n---\ntext");
    machine.write(
        "config/agent/d.md",
        "---\npermission:\n  bash: maybe\n---\ntext",
    );
    machine.write("config/agent/e.md", "---\n\"x\n---\ntext");
    machine.write("config/agent/f.md", "good");
    let (definitions, said) = define(&machine, nothing());
    let left_out = "; this value is left out";
    assert_eq!(
        said,
        [
            format!("config/agent/a.md:3:1: mode must be \"subagent\", \"primary\" or \"all\"{left_out}"),
            format!("config/agent/b.md:2:1: color must be a colour such as \"#7fa0ff\", or one of \"primary\", \"secondary\", \"accent\", \"success\", \"warning\", \"error\", \"info\"{left_out}"),
            format!("config/agent/c.md:2:1: steps must be a whole number of at least 1{left_out}"),
            format!("config/agent/d.md:2:1: permission.bash must be \"allow\", \"deny\" or \"ask\"{left_out}"),
            "config/agent/e.md:2:1: The front matter is not YAML: unclosed quote; everything counts as the text".to_owned(),
        ]
    );
    assert_eq!(ids(&definitions)[6..], ["a", "b", "c", "d", "e", "f"]);
    assert_eq!(agent(&definitions, "a").description.as_deref(), Some("x"));
    // Unreadable values that could contain permissions restrict the agents: a rule for bash, and
    // everything that front matter can contain.
    let allowed = |agent: &str, action: &str| {
        let rules = definitions.agents.rules(agent);
        rules
            .restrictions
            .iter()
            .flat_map(|it| it.rules.iter())
            .all(|rule| !matches(&rule.action, action))
    };
    let asks = ["a", "d", "e"].map(|agent| (allowed(agent, "bash"), allowed(agent, "read")));
    assert_eq!(asks, [(true, true), (false, true), (false, false)]);
    assert_eq!(
        agent(&definitions, "e").system.as_deref(),
        Some("---\n\"x\n---\ntext")
    );
}

/// The default agent and the diagnostics about it.
fn default(host: Value) -> (Option<String>, Vec<String>) {
    let machine = Machine::new();
    let (definitions, said) = define(&machine, host);
    let id = definitions.agents.default_agent().map(|it| it.id.clone());
    (id, said)
}

#[test]
fn sessions_without_a_selected_agent_have_a_default() {
    let without = |ids: &[&str], mut host: Value| {
        for id in ids {
            host["agents"][*id] = json!({"disabled": true});
        }
        host
    };
    for (host, expected, reason) in [
        (json!({}), Some("build"), None),
        (json!({"default_agent": "plan"}), Some("plan"), None),
        (
            json!({"default_agent": "own", "agents": {"own": {}}}),
            Some("own"),
            None,
        ),
        (
            json!({"default_agent": "biuld"}),
            None,
            Some(
                "The default agent \"biuld\" cannot be used and no other one is used instead: there is no such agent. Did you mean build? Set default_agent to one of build, plan",
            ),
        ),
        (
            json!({"default_agent": "general"}),
            None,
            Some(
                "The default agent \"general\" cannot be used and no other one is used instead: it is a subagent. Set default_agent to one of build, plan",
            ),
        ),
        (
            json!({"default_agent": "compaction"}),
            None,
            Some(
                "The default agent \"compaction\" cannot be used and no other one is used instead: it is hidden. Set default_agent to one of build, plan",
            ),
        ),
        (
            without(&["build"], json!({"agents": {}})),
            Some("plan"),
            None,
        ),
        (
            json!({"agents": {"build": {"mode": "subagent"}}}),
            Some("plan"),
            None,
        ),
        (
            json!({"agents": {"build": {"hidden": true}}}),
            Some("plan"),
            None,
        ),
        (
            without(&["build", "plan"], json!({"agents": {"own": {}}})),
            Some("own"),
            None,
        ),
        (
            without(&["build", "plan"], json!({"agents": {}})),
            None,
            None,
        ),
        (
            without(
                &["build", "plan"],
                json!({"default_agent": "x", "agents": {}}),
            ),
            None,
            Some(
                "The default agent \"x\" cannot be used and no other one is used instead: there is no such agent. No agent can be chosen here",
            ),
        ),
    ] {
        let reason = reason.map(|it| format!("the host's config option: {it}"));
        let expected = (expected.map(str::to_owned), Vec::from_iter(reason));
        assert_eq!(default(host.clone()), expected, "{host}");
    }
}

#[test]
fn a_selected_agent_is_never_replaced() {
    let machine = Machine::new();
    let resolved = |host: Value, chosen: Option<&str>| {
        let (definitions, _) = define(&machine, host);
        let resolved = definitions.agents.resolve(chosen);
        let resolved = resolved.map(|agent| agent.id.clone());
        let judged = definitions.agents.id_of(chosen);
        (resolved.map_err(|error| error.to_string()), judged)
    };
    let own = || json!({"agents": {"reviewer": {}}});
    for (host, chosen, expected, judged) in [
        (own(), None, Ok("build"), "build"),
        (own(), Some("reviewer"), Ok("reviewer"), "reviewer"),
        (own(), Some("explore"), Ok("explore"), "explore"),
        (
            own(),
            Some("revewer"),
            Err(
                "There is no agent \"revewer\". Did you mean reviewer? Choose one of build, plan, reviewer",
            ),
            "revewer",
        ),
        (
            json!({"default_agent": "nobody"}),
            None,
            Err(
                "The default agent \"nobody\" cannot be used and no other one is used instead: there is no such agent. Set default_agent to one of build, plan",
            ),
            "nobody",
        ),
        (
            json!({"agents": {"build": {"hidden": true}, "plan": {"disabled": true}}}),
            None,
            Err(
                "No agent is selected and there is none to use by default: all are disabled, hidden or subagents. Choose one, or configure one of the mode \"primary\"",
            ),
            "build",
        ),
    ] {
        let expected = expected.map(str::to_owned).map_err(str::to_owned);
        assert_eq!(
            resolved(host.clone(), chosen),
            (expected, judged.to_owned()),
            "{host}"
        );
    }
}

#[test]
fn secrets_of_requests_are_used_and_not_shown() {
    let machine = Machine::new();
    let host = json!({"agents": {"a": {"request": {
        "headers": {"Authorization": "Bearer sk-1", "X-Plain": "p"},
        "body": {"apiKey": "sk-2", "top_k": 3},
    }}}});
    let definitions = defined(&machine, host);
    let used = json!(agent(&definitions, "a").request);
    assert_eq!(
        used,
        json!({
            "headers": {"Authorization": "Bearer sk-1", "X-Plain": "p"},
            "body": {"apiKey": "sk-2", "top_k": 3},
        })
    );
    let shown = json!(definitions.agents.list().last().unwrap().request);
    assert_eq!(
        shown,
        json!({
            "headers": {"Authorization": "<redacted>", "X-Plain": "<redacted>"},
            "body": {"apiKey": "<redacted>", "top_k": 3},
        })
    );
    assert!(!format!("{definitions:?}").contains("sk-"));
}

#[test]
fn the_numbers_of_agents_and_rules_are_bounded() {
    let rule = json!({"action": "bash", "resource": "*", "effect": "deny"});
    for (rules, most) in [(0, 500), (1000, 66)] {
        let many: serde_json::Map<_, _> =
            (0..600).map(|it| (format!("a{it}"), json!({}))).collect();
        let host = json!({ "agents": many, "permissions": vec![rule.clone(); rules] });
        let (definitions, said) = define(&Machine::new(), host);
        assert_eq!(definitions.agents.list().len(), most);
        let expected = format!("606 agents are described; only the first {most} are there");
        assert_eq!(said, [format!("project: {expected}")]);
    }
}
