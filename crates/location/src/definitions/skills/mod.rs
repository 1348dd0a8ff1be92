//! Skills: Markdown files with instructions that a model reads when it needs them. There are no
//! built-in skills.
//!
//! Unlike all other definitions, skills are not a snapshot: each observation reads the current state of
//! the disk. Files that have not changed are not read again.

mod observation;
mod sources;

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use opencode_schema::permission::{PermissionEffect, Ruleset, evaluate};
use opencode_schema::skill::SkillInfo;
use parking_lot::{Mutex, MutexGuard};

use crate::config::{Configuration, Diagnostic};
use crate::environment::Environment;
use observation::{ObservedSkills, Observer};
pub use sources::RemoteSkills;

/// The skills of one directory.
pub struct Skills {
    /// Locked during disk access, so only code that may block must lock it.
    observer: Arc<Mutex<Observer>>,
    /// The result of the last observation.
    last: Arc<Mutex<ObservedSkills>>,
    remote: Vec<RemoteSkills>,
}

impl Skills {
    /// Builds the skills of a Location from the current state of the disk. Blocks on disk access.
    pub(crate) fn build(
        configuration: &Configuration,
        environment: &Environment,
        directory: &Path,
        worktree: &Path,
        diagnostics: &mut Vec<Diagnostic>,
    ) -> Self {
        let sources = sources::of(configuration, environment, directory, worktree, diagnostics);
        let mut observer = Observer::new(sources.directories);
        let seen = observer.observe();
        Self {
            observer: Arc::new(Mutex::new(observer)),
            last: Arc::new(Mutex::new(seen)),
            remote: sources.remote,
        }
    }

    /// The skills behind addresses. The host copies them into directories that are observed.
    pub fn remote(&self) -> &[RemoteSkills] {
        &self.remote
    }

    /// Returns the current skills on the disk, in the order of their sources. If a name occurs repeatedly, the last
    /// skill applies, at the position of the first. Returns the same list while nothing changes.
    pub async fn observe(&self) -> Arc<[SkillInfo]> {
        let (observer, last) = (Arc::clone(&self.observer), Arc::clone(&self.last));
        let look = move || {
            let mut observer = lock(&observer);
            let seen = observer.observe();
            *lock(&last) = seen.clone();
            seen.skills
        };
        let observed = opencode_log::spawn_blocking(look).await;
        // Only a runtime during shutdown rejects the task.
        observed.unwrap_or_else(|_| Arc::clone(&lock(&self.last).skills))
    }

    /// The diagnostics of the last observation.
    pub fn diagnostics(&self) -> Arc<[Diagnostic]> {
        Arc::clone(&lock(&self.last).diagnostics)
    }
}

/// Returns the skills that the rules do not deny to an agent.
pub fn available<'s>(skills: &'s [SkillInfo], rules: &Ruleset<'_>) -> Vec<&'s SkillInfo> {
    let is_denied =
        |skill: &SkillInfo| evaluate("skill", &skill.name, rules) == PermissionEffect::Deny;
    skills.iter().filter(|skill| !is_denied(skill)).collect()
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock()
}

/// Shows only the names.
impl fmt::Debug for Skills {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let skills = Arc::clone(&lock(&self.last).skills);
        f.debug_set()
            .entries(skills.iter().map(|skill| &skill.name))
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_observation_does_not_block_readers_of_the_last_result() {
        let nothing = (&Configuration::default(), &Environment::default());
        let nowhere = Path::new("/nowhere");
        let skills = Skills::build(nothing.0, nothing.1, nowhere, nowhere, &mut Vec::new());
        let _looking = lock(&skills.observer);
        assert_eq!(*skills.diagnostics(), []);
        assert_eq!(format!("{skills:?}"), "{}");
    }
}
