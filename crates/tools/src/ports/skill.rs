//! Access of tools to skills. The implementation of the trait knows their location and the permissions.

use futures::future::BoxFuture;
use opencode_schema::skill::SkillInfo;

/// Returns the skills that the agent of a call may load.
pub trait Skills: Send + Sync + 'static {
    /// Returns the current version of a skill, or `None` if it does not exist or the agent may not load
    /// it.
    fn find<'a>(&'a self, name: &'a str) -> BoxFuture<'a, Option<SkillInfo>>;

    /// Returns the names of the skills.
    fn names(&self) -> BoxFuture<'_, Vec<String>>;
}
