//! The influence of the agent on the request of a turn: the first text, the available tools and its
//! settings.

use std::sync::Arc;

use opencode_llm::{GenerationControls, LlmRequest};
use opencode_runtime::DrainOutcome;
use opencode_schema::id::SessionID;
use opencode_schema::prompt::Delivery;
use opencode_testkit::{Fixture, Reply, compact, output};
use serde_json::{Value, json};

/// A project with this configuration, three tools, and a session.
async fn with(config: Value) -> (Fixture, SessionID) {
    let f = Fixture::open().await;
    f.project.write("opencode.json", &config.to_string());
    for tool in ["read", "edit", "bash"] {
        f.tool(tool, |_, _| async { output(json!({})) });
    }
    f.model.otherwise(|_| Reply::says("Yes."));
    let session = f.session().await;
    (f, session)
}

fn tools(request: &LlmRequest) -> Vec<&str> {
    request.tools.iter().map(|tool| &*tool.name).collect()
}

/// The first sentence of the text before the baseline, and the tools.
fn of(request: &LlmRequest) -> (Option<String>, Vec<&str>) {
    let (_, own) = request.system.split_last().unwrap();
    assert!(own.len() <= 1);
    let own = own.first().map(|part| {
        let sentence = part.text.split_inclusive('.').next();
        sentence.unwrap().to_owned()
    });
    (own, tools(request))
}

#[tokio::test]
async fn an_agent_uses_its_own_text_or_that_of_the_model_family() {
    let reviewer = json!({"prompt": "You review. Nothing else.", "mode": "primary"});
    let config = json!({"agent": {
        "reviewer": reviewer,
        "silent": {"mode": "primary"},
        "blank": {"mode": "primary", "prompt": " \n"},
    }});
    let (f, session) = with(config).await;
    let base = "You are a coding agent.";
    let all = ["read", "edit", "bash"];
    for (agent, own, shown) in [
        ("reviewer", Some("You review."), &all[..]),
        ("silent", Some(base), &all),
        ("blank", Some(base), &all),
        ("plan", Some(base), &all),
    ] {
        f.switch_agent(&session, agent).await;
        f.ask(&session, agent).await;
        let request = f.model.last_request();
        let expected = (own.map(str::to_owned), shown.to_vec());
        assert_eq!(of(&request), expected, "{agent}");
    }
    // The description of the environment is the same for all agents.
    let requests = f.model.requests();
    for request in &requests {
        assert_eq!(request.system.last(), requests[0].system.last());
    }
}

#[tokio::test]
async fn a_session_without_an_agent_uses_the_default_one() {
    for (config, expected) in [
        (json!({}), "build"),
        (json!({"default_agent": "plan"}), "plan"),
        (json!({"agent": {"build": {"disable": true}}}), "plan"),
    ] {
        let (f, session) = with(config.clone()).await;
        f.ask(&session, "Hi").await;
        let started = f.payloads(&session, "step.started").await;
        assert_eq!(started[0]["agent"], expected, "{config}");
        assert_eq!(f.info(&session).await.agent, None);
    }
}

#[tokio::test]
async fn a_missing_agent_leaves_the_input_pending_and_is_reported() {
    let unknown = "There is no agent \"biuld\". Did you mean build? Choose one of build, plan";
    let hidden = "The default agent \"compaction\" cannot be used and no other one is used instead: it is hidden. Set default_agent to one of build, plan";
    for (config, chosen, message) in [
        (json!({}), Some("biuld"), unknown),
        (json!({"default_agent": "compaction"}), None, hidden),
    ] {
        let (f, session) = with(config).await;
        if let Some(agent) = chosen {
            f.switch_agent(&session, agent).await;
        }
        let before = f.events(&session).await.len();
        let mut live = f.live();
        f.leave(&session, "Hi", Delivery::Steer).await;
        let outcome = f.run(&session).await;
        let DrainOutcome::Failed(error) = &outcome else {
            panic!("{outcome:?}")
        };
        assert_eq!(
            (error.tag(), &*error.to_string()),
            ("AgentUnavailable", message)
        );
        f.read_until(&mut live, &format!("session.error {message}"))
            .await;
        let events = f.events_after(&session, before).await;
        assert_eq!(events, ["prompt.admitted Hi"]);
        assert!(f.model.requests().is_empty());
        // When the session has a valid agent again, the pending input is promoted too.
        f.switch_agent(&session, "build").await;
        f.ask(&session, "Now").await;
        assert_eq!(
            compact::messages(&f.model.last_request()),
            ["user: Hi", "user: Now"]
        );
    }
}

/// A client of the contract may give a session any agent.
#[tokio::test]
async fn an_unknown_agent_is_tolerated_in_prompts_of_contract_clients() {
    let (f, session) = with(json!({})).await;
    f.switch_agent(&session, "biuld").await;
    f.runtime().tolerate_unknown_agent(&session, true);
    f.ask(&session, "Hi").await;
    let request = f.model.last_request();
    assert!(request.tools.is_empty());
    f.runtime().tolerate_unknown_agent(&session, false);
    f.leave(&session, "And?", Delivery::Steer).await;
    let outcome = f.run(&session).await;
    assert!(matches!(&outcome, DrainOutcome::Failed(error) if error.tag() == "AgentUnavailable"));
}

#[tokio::test]
async fn a_new_list_of_skills_follows_the_prompt_if_the_agent_changes() {
    let denied = json!([{"action": "skill", "resource": "greet", "effect": "deny"}]);
    let agents = json!({"shy": {"mode": "primary", "permissions": denied}});
    let (f, session) = with(json!({"agents": agents})).await;
    let skill = "---\nname: greet\ndescription: How to greet.\n---\nSay hello.\n";
    f.project.write(".opencode/skill/greet/SKILL.md", skill);
    let mut told = Vec::new();
    for agent in ["build", "plan", "shy", "build", "shy"] {
        f.switch_agent(&session, agent).await;
        let before = f.events(&session).await.len();
        f.ask(&session, agent).await;
        let events = f.events_after(&session, before).await;
        assert_eq!(events[1], format!("prompted {agent}"));
        let update = events[2].strip_prefix("context.updated ");
        told.push(update.map(|text| text.contains("How to greet.")));
        let at = 2 + usize::from(update.is_some());
        assert_eq!(events[at], "step.started");
    }
    // `None` without an update, otherwise true if the update names the skill.
    let expected = [None, None, Some(false), Some(true), Some(false)];
    assert_eq!(told, expected);
}

#[tokio::test]
async fn the_last_rule_of_an_action_decides_whether_its_tools_are_offered() {
    for (rules, expected) in [
        (json!([]), &["read", "edit", "bash"][..]),
        (json!([["edit", "*", "deny"]]), &["read", "bash"]),
        (json!([["edit", "*", "ask"]]), &["read", "edit", "bash"]),
        // The action is allowed for some resources, or denied only for some.
        (
            json!([["edit", "*", "deny"], ["edit", "docs/*", "allow"]]),
            &["read", "edit", "bash"],
        ),
        (
            json!([["edit", "docs/*", "deny"]]),
            &["read", "edit", "bash"],
        ),
        (json!([["*", "*", "deny"]]), &[]),
        (json!([["*", "*", "deny"], ["read", "*", "ask"]]), &["read"]),
    ] {
        let permissions = rules.as_array().unwrap().iter();
        let permissions: Vec<_> = permissions
            .map(|rule| json!({"action": rule[0], "resource": rule[1], "effect": rule[2]}))
            .collect();
        let agent = json!({"mode": "primary", "permissions": permissions});
        let (f, session) = with(json!({"agents": {"careful": agent}})).await;
        f.switch_agent(&session, "careful").await;
        f.ask(&session, "Hi").await;
        assert_eq!(tools(&f.model.last_request()), expected, "{rules}");
    }
}

#[tokio::test]
async fn the_definitions_of_tools_are_the_same_in_every_turn() {
    let denied = json!([{"action": "edit", "resource": "*", "effect": "deny"}]);
    let agents = json!({"careful": {"mode": "primary", "permissions": denied}});
    let (f, session) = with(json!({"agents": agents})).await;
    for agent in ["build", "careful", "build", "careful"] {
        f.switch_agent(&session, agent).await;
        f.ask(&session, agent).await;
    }
    let requests = f.model.requests();
    for (request, expected) in requests
        .iter()
        .zip([&["read", "edit", "bash"][..], &["read", "bash"]].repeat(2))
    {
        assert_eq!(tools(request), expected);
    }
    for (one, other) in [(0, 2), (1, 3)] {
        assert!(Arc::ptr_eq(&requests[one].tools, &requests[other].tools));
    }
    // Another host offers the same definitions.
    let (g, session) = with(json!({})).await;
    g.ask(&session, "Hi").await;
    assert_eq!(g.model.last_request().tools, requests[0].tools);
}

#[tokio::test]
async fn settings_of_an_agent_override_those_of_the_model() {
    let config = json!({
        "providers": {"mock": {"models": {"m1": {"request": {
            "headers": {"x-both": "model", "x-model": "1"},
            "body": {"temperature": 0.1, "top_p": 0.9, "custom": {"model": 1, "both": 1}},
        }}}}},
        "agents": {"warm": {"mode": "primary", "request": {
            "headers": {"x-both": "agent", "x-agent": "1"},
            "body": {"temperature": 0.7, "custom": {"both": 2}, "reasoning_effort": "low"},
        }}},
    });
    let (f, session) = with(config).await;
    f.switch_agent(&session, "warm").await;
    f.ask(&session, "Hi").await;
    let request = f.model.last_request();
    assert_eq!(
        request.effective_generation(),
        GenerationControls {
            temperature: Some(0.7),
            top_p: Some(0.9),
            ..GenerationControls::default()
        }
    );
    assert_eq!(
        Value::Object(request.effective_overlay()),
        json!({"custom": {"model": 1, "both": 2}})
    );
    let options = request.effective_options("openai");
    assert_eq!(Value::Object(options), json!({"reasoningEffort": "low"}));
    let own: Vec<_> = request.http.headers.iter().skip(2).collect();
    assert_eq!(
        own,
        [
            &("x-agent".to_owned(), "1".to_owned()),
            &("x-both".to_owned(), "agent".to_owned()),
        ]
    );
    // The settings belong to the agent, not to the session.
    f.switch_agent(&session, "build").await;
    f.ask(&session, "Hi").await;
    let generation = f.model.last_request().effective_generation();
    assert_eq!(generation.temperature, Some(0.1));
}
