//! The Context Source `core/skill-guidance`: the skills that the selected agent may load.

use std::sync::Arc;

use futures::FutureExt;
use futures::future::BoxFuture;
use opencode_context::{Observation, Source};
use opencode_location::definitions::skills::available;
use opencode_location::location::Location;
use opencode_schema::agent::AgentInfo;
use opencode_schema::permission::{PermissionEffect, PermissionRule, evaluate};
use opencode_schema::skill::SkillInfo;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::markup::{List, element};
use crate::asks::permissions::RuleScope;

const INTRODUCTION: &str = "Skills are instructions for certain kinds of work. When the task at hand is one that a skill describes, load it with the skill tool before you begin.";

/// The skills of an agent at a Location.
pub(super) struct SkillGuidance {
    scope: RuleScope,
}

/// The data of a skill that the model is told.
#[derive(Serialize, Deserialize)]
struct Guidance {
    name: String,
    description: String,
}

impl SkillGuidance {
    /// `session` are the rules of the session itself.
    pub(super) fn of(
        agent: &AgentInfo,
        session: &[PermissionRule],
        location: &Arc<Location>,
    ) -> Self {
        Self {
            scope: RuleScope::new(Arc::clone(location), agent.id.clone(), session.into()),
        }
    }

    fn observe(&self, skills: &[SkillInfo]) -> Observation {
        let rules = self.scope.rules();
        let available = available(skills, &rules);
        let mut listed: Vec<_> = available.into_iter().filter_map(guidance).collect();
        // An agent that may not load any skill is not told about skills.
        if listed.is_empty() && evaluate("skill", "*", &rules) == PermissionEffect::Deny {
            return Observation::Absent;
        }
        listed.sort_unstable_by(|a, b| a.name.cmp(&b.name));
        Observation::Present(json!(listed))
    }
}

fn guidance(skill: &SkillInfo) -> Option<Guidance> {
    Some(Guidance {
        name: skill.name.clone(),
        description: skill.description.clone()?,
    })
}

impl Source for SkillGuidance {
    fn key(&self) -> &str {
        "core/skill-guidance"
    }

    fn load(&self) -> BoxFuture<'_, Observation> {
        async { self.observe(&self.scope.location.skills.observe().await) }.boxed()
    }

    fn is_valid(&self, value: &Value) -> bool {
        Vec::<Guidance>::deserialize(value).is_ok()
    }

    fn baseline(&self, value: &Value) -> String {
        let skills = Vec::<Guidance>::deserialize(value).unwrap_or_default();
        if skills.is_empty() {
            return format!("{INTRODUCTION}\nNo skill is available at the moment.");
        }
        let mut list = List::new("available_skills");
        for skill in &skills {
            list.item(
                "skill",
                &[
                    element("name", &skill.name),
                    element("description", &skill.description),
                ],
            );
        }
        format!("{INTRODUCTION}\n{}", list.end())
    }

    fn update(&self, _previous: &Value, current: &Value) -> String {
        format!(
            "The available skills have changed; this list takes the place of the one before.\n\n{}",
            self.baseline(current)
        )
    }

    fn removed(&self, _value: &Value) -> Option<String> {
        Some("Skills are not available any more; do not load one that was listed.".to_owned())
    }
}
