//! How a tool gets at skills. Where they lie, and who may load which, is not known here.

use futures::future::BoxFuture;
use opencode_schema::skill::SkillInfo;

/// Knows the skills that the agent of a call may load.
pub trait Skills: Send + Sync + 'static {
    /// The skill of this name as it is now; nothing if there is none, or none for the agent.
    fn find<'a>(&'a self, name: &'a str) -> BoxFuture<'a, Option<SkillInfo>>;
}
