//! The agents that configuration describes.

use std::collections::HashMap;

use opencode_schema::model::ModelRef;

use crate::config::{AgentPatch, Document};

/// An agent as far as running a session needs it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Agent {
    /// The model of sessions that have chosen none.
    pub model: Option<ModelRef>,
    /// Provider Turns that one input is good for, at least 1. In the last of them no tools are
    /// offered. None leaves it to the runtime's own allowance.
    pub steps: Option<u32>,
}

/// The agents of one directory by id. Never changes; a new configuration gives new ones.
#[derive(Debug, Default)]
pub struct Agents(HashMap<String, Agent>);

impl Agents {
    /// The agents of these documents, weakest first: a later description of an agent overrides an
    /// earlier one field by field, and one that disables it removes what came before.
    pub fn build(documents: &[Document]) -> Self {
        let mut merged: HashMap<&str, AgentPatch> = HashMap::new();
        for (id, patch) in documents.iter().flat_map(|document| &document.agents) {
            if patch.disabled == Some(true) {
                merged.remove(id.as_str());
                continue;
            }
            let known = merged.entry(id).or_default();
            known.model = patch.model.clone().or(known.model.take());
            known.variant = patch.variant.clone().or(known.variant.take());
            known.steps = patch.steps.or(known.steps);
        }
        let agents = merged.into_iter();
        Self(
            agents
                .map(|(id, patch)| (id.to_owned(), finish(patch)))
                .collect(),
        )
    }

    /// The agent of that id. A session may name one that nobody describes; it has no model and no
    /// steps of its own.
    pub fn get(&self, id: &str) -> Option<&Agent> {
        self.0.get(id)
    }
}

fn finish(patch: AgentPatch) -> Agent {
    Agent {
        model: patch.model.map(|model| ModelRef {
            variant: patch.variant.or(model.variant),
            ..model
        }),
        steps: patch.steps,
    }
}
