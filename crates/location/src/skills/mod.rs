//! Skills: Markdown files with instructions that a model reads when it needs them. There are no
//! built-in ones.
//!
//! Unlike everything else here they are not a snapshot: what is on the disk counts, each time
//! somebody looks. Files that have not changed are not read again.

mod observation;
mod sources;

use std::fmt;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use opencode_schema::permission::{PermissionEffect, PermissionRule, evaluate};
use opencode_schema::skill::SkillInfo;

use crate::config::{Configuration, Diagnostic};
use crate::environment::Environment;
use observation::Observer;

/// The skills of one directory.
pub struct Skills {
    observer: Arc<Mutex<Observer>>,
}

impl Skills {
    /// The skills of a Location, as they are on the disk now. Blocks on it.
    pub(crate) fn build(
        configuration: &Configuration,
        environment: &Environment,
        directory: &Path,
        diagnostics: &mut Vec<Diagnostic>,
    ) -> Self {
        let sources = sources::of(configuration, environment, directory, diagnostics);
        let mut observer = Observer::new(sources);
        observer.observe();
        Self {
            observer: Arc::new(Mutex::new(observer)),
        }
    }

    /// The skills that are on the disk now, in the order of their sources: of each name the one
    /// found last, in the place of the one found first. The same list again while nothing changed.
    pub async fn observe(&self) -> Arc<[SkillInfo]> {
        let observer = Arc::clone(&self.observer);
        let observed = tokio::task::spawn_blocking(move || lock(&observer).observe()).await;
        // Only a runtime that shuts down takes no work.
        observed.unwrap_or_else(|_| lock(&self.observer).skills())
    }

    /// What was wrong with skills when they were last observed.
    pub fn diagnostics(&self) -> Vec<Diagnostic> {
        lock(&self.observer).diagnostics()
    }
}

/// The skills that rules leave to an agent: those it is not denied.
pub fn available<'s>(skills: &'s [SkillInfo], rules: &[PermissionRule]) -> Vec<&'s SkillInfo> {
    let is_denied =
        |skill: &SkillInfo| evaluate("skill", &skill.name, rules) == PermissionEffect::Deny;
    skills.iter().filter(|skill| !is_denied(skill)).collect()
}

fn lock(observer: &Mutex<Observer>) -> MutexGuard<'_, Observer> {
    observer.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Shows the names.
impl fmt::Debug for Skills {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let skills = lock(&self.observer).skills();
        f.debug_set()
            .entries(skills.iter().map(|skill| &skill.name))
            .finish()
    }
}
