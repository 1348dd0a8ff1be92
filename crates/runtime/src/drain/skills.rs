//! The skills that the agent of a Provider Turn may load.

use futures::FutureExt;
use futures::future::BoxFuture;
use opencode_location::definitions::skills::available;
use opencode_schema::skill::SkillInfo;
use opencode_tools::Skills;

use crate::asks::permissions::RuleScope;

/// The skills of a Location, for one agent in one session.
pub(super) struct TurnSkills {
    /// The agent and its permission rules.
    pub(super) rule_scope: RuleScope,
}

impl Skills for TurnSkills {
    fn find<'a>(&'a self, name: &'a str) -> BoxFuture<'a, Option<SkillInfo>> {
        async move {
            let skills = self.rule_scope.location.skills.observe().await;
            let mut available = available(&skills, &self.rule_scope.rules()).into_iter();
            available.find(|skill| skill.name == name).cloned()
        }
        .boxed()
    }

    fn names(&self) -> BoxFuture<'_, Vec<String>> {
        async move {
            let skills = self.rule_scope.location.skills.observe().await;
            let available = available(&skills, &self.rule_scope.rules()).into_iter();
            available.map(|skill| skill.name.clone()).collect()
        }
        .boxed()
    }
}
