//! Copies of Git references and of skills behind addresses, for the Locations that name them.
//!
//! A boundary never waits for a copy. The model is told the directory of a reference in any case, so the text stays the
//! same when its clone appears. New skills are found at the next observation of their directory.

use std::sync::Arc;

use opencode_downloads::{Copy, Downloads, Origin};
use opencode_location::config::Diagnostic;
use opencode_location::environment::Environment;
use opencode_location::location::Location;
use opencode_net::Fetch;
use opencode_schema::clock::Clock;
use opencode_schema::event::{Nothing, Notice};
use tokio_util::sync::CancellationToken;

use crate::live::Announcer;

/// The copies of a host.
pub(super) struct Copies(Downloads);

impl Copies {
    pub(super) fn new(
        environment: &Environment,
        clock: Arc<dyn Clock>,
        fetch: Arc<dyn Fetch>,
        announcer: Arc<Announcer>,
        closing: CancellationToken,
    ) -> Self {
        let announce = move |copy: &Copy| {
            if matches!(copy.origin, Origin::Repository { .. }) {
                announcer.notify(None, &Notice::ReferenceUpdated(Nothing {}));
            }
        };
        let mut variables = environment.variables.clone();
        // Git reads the configuration and the credentials of the user there.
        let home = environment.home.display().to_string();
        variables.entry("HOME".to_owned()).or_insert(home);
        Self(Downloads::new(fetch, clock, variables, announce, closing))
    }

    /// Makes or updates the copies of a Location in the background.
    pub(super) fn keep(&self, location: &Location) {
        for (copy, _) in copies(location) {
            self.0.keep(&copy);
        }
    }

    /// Returns a diagnostic for each copy whose last attempt failed.
    pub(super) fn diagnostics(&self, location: &Location) -> Vec<Diagnostic> {
        let failed = copies(location).filter_map(|(copy, declared)| {
            let reason = self.0.failure(&copy)?;
            let message = match copy.directory.is_dir() {
                true => format!("{}, so the last copy is used", declared.message),
                false => declared.message.clone(),
            };
            Some(Diagnostic {
                message: format!("{message}: {reason}"),
                ..declared.clone()
            })
        });
        failed.collect()
    }
}

/// Returns the copies that a Location needs, each with the diagnostic of its failure.
fn copies(location: &Location) -> impl Iterator<Item = (Copy, &Diagnostic)> {
    let repositories = location.references.repositories().iter().map(|it| {
        let origin = Origin::Repository {
            address: it.address.clone(),
            branch: it.branch.clone(),
        };
        let copy = Copy {
            origin,
            directory: it.directory.clone(),
            work: it.work.clone(),
        };
        (copy, &it.declared)
    });
    let skills = location.skills.remote().iter().map(|it| {
        let address = it.address.clone();
        let copy = Copy {
            origin: Origin::Skills { address },
            directory: it.directory.clone(),
            work: it.work.clone(),
        };
        (copy, &it.declared)
    });
    repositories.chain(skills)
}
