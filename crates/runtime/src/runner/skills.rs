//! The skills that the agent of a Provider Turn may load.

use std::sync::Arc;

use futures::FutureExt;
use futures::future::BoxFuture;
use opencode_location::location::Location;
use opencode_location::skills::available;
use opencode_schema::skill::SkillInfo;
use opencode_tools::Skills;

/// The skills of a Location, for one agent.
pub(super) struct TurnSkills {
    pub(super) location: Arc<Location>,
    /// The agent, whether or not there is such an agent.
    pub(super) agent: String,
}

impl Skills for TurnSkills {
    fn find<'a>(&'a self, name: &'a str) -> BoxFuture<'a, Option<SkillInfo>> {
        async move {
            let skills = self.location.skills.observe().await;
            let rules = self.location.agents.rules(&self.agent);
            let mut available = available(&skills, rules).into_iter();
            available.find(|skill| skill.name == name).cloned()
        }
        .boxed()
    }
}
