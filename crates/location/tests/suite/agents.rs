//! What configuration says about agents, and which document wins.

use opencode_location::agents::{Agent, Agents};
use serde_json::{Value, json};

use crate::documents::select;
use crate::machine::Machine;

/// The agents `a`, `b` and `c` of two documents, the first of them the weaker.
fn agents(weaker: Value, stronger: Value) -> [Option<Agent>; 3] {
    let machine = Machine::new();
    machine.write("project/opencode.json", weaker.to_string());
    let configuration = machine.configuration("project", "project", Some(&stronger));
    assert_eq!(configuration.diagnostics, []);
    let agents = Agents::build(&configuration.documents);
    ["a", "b", "c"].map(|id| agents.get(id).cloned())
}

fn agent(model: Option<(&str, Option<&str>)>, steps: Option<u32>) -> Option<Agent> {
    let model = model.map(|(id, variant)| select("p", id, variant));
    Some(Agent { model, steps })
}

#[test]
fn a_stronger_document_overrides_an_agent_field_by_field() {
    let weaker = json!({"agents": {
        "a": {"model": "p/m#low", "steps": 3},
        "b": {"model": "p/m", "variant": "low"},
    }});
    let stronger = json!({"agents": {
        "a": {"variant": "high"},
        "b": {"model": {"providerID": "p", "id": "n"}, "steps": 4},
        "c": {"variant": "high"},
    }});
    assert_eq!(
        agents(weaker, stronger),
        [
            agent(Some(("m", Some("high"))), Some(3)),
            agent(Some(("n", Some("low"))), Some(4)),
            // A variant without a model is one of no model.
            agent(None, None),
        ]
    );
}

#[test]
fn the_newer_generation_holds_over_the_older_ones() {
    let document = json!({
        "agents": {"a": {"steps": 1}},
        "agent": {"a": {"steps": 2, "model": "p/m"}, "b": {"maxSteps": 5}},
        "mode": {"b": {"maxSteps": 6}, "c": {"maxSteps": 7}},
    });
    assert_eq!(
        agents(json!({}), document),
        [
            agent(Some(("m", None)), Some(1)),
            agent(None, Some(5)),
            agent(None, Some(7)),
        ]
    );
}

#[test]
fn a_disabled_agent_is_gone_until_a_later_document_describes_it_anew() {
    let described = json!({"agents": {
        "a": {"steps": 1, "model": "p/m"}, "b": {"steps": 2}, "c": {"disabled": true},
    }});
    let disabled = json!({
        "agent": {"a": {"disable": true}, "b": {"disable": true}},
        "agents": {"b": {"model": "p/n"}, "c": {"disabled": false, "steps": 3}},
    });
    assert_eq!(
        agents(described, disabled),
        [None, agent(Some(("n", None)), None), agent(None, Some(3))]
    );
}
