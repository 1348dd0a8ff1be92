//! The System Context of a Location: the operations of a host.

use std::sync::Arc;

use opencode_context::{Registration, SystemContext};
use opencode_location::config::Diagnostic;
use opencode_location::directory::normalise;
use opencode_location::location::Location;
use opencode_schema::reference::ReferenceInfo;
use opencode_schema::skill::SkillInfo;

use crate::runtime::Runtime;
use crate::sources::{ContributionError, SessionSource, SessionSourceRegistration};

impl Runtime {
    /// Contributes to the System Context of every session at a Location, until the [`Registration`]
    /// is dropped. Each session notices both at its next Safe Provider-Turn Boundary. The directory
    /// need not exist yet.
    ///
    /// # Errors
    ///
    /// Fails if the directory is not absolute, or if a key is malformed or in use.
    pub fn contribute_context(
        &self,
        directory: &str,
        key: &str,
        contribution: SystemContext,
    ) -> Result<Registration, ContributionError> {
        let directory = normalise(directory)?;
        Ok(self
            .drains
            .sources
            .contribute(directory, key, contribution)?)
    }

    /// Adds a Context Source that depends on the session, for one Location or for all, until the result is dropped.
    ///
    /// # Errors
    ///
    /// Fails if the directory is not absolute, or if the key is malformed or in use.
    pub fn add_session_source(
        &self,
        directory: Option<&str>,
        source: Arc<dyn SessionSource>,
    ) -> Result<SessionSourceRegistration, ContributionError> {
        let directory = directory.map(normalise).transpose()?;
        let sources = &self.drains.sources;
        Ok(sources.add_session_source(directory, source)?)
    }

    /// Returns the problems of the configuration of a Location: those found when it was opened, those of its skills at
    /// their last observation, and those of the last requests to addresses and repositories.
    pub fn diagnostics(&self, location: &Location) -> Vec<Diagnostic> {
        self.drains.sources.diagnostics(location)
    }

    /// Returns the references of a Location. Clones of repositories that are not current are made in the background.
    pub fn references(&self, location: &Location) -> Vec<ReferenceInfo> {
        self.drains.sources.keep_copies(location);
        location.references.list().to_vec()
    }

    /// Returns the skills of a Location as they are now. Skills behind addresses that are not current are fetched in
    /// the background.
    pub async fn skills(&self, location: &Location) -> Vec<SkillInfo> {
        self.drains.sources.keep_copies(location);
        location.skills.observe().await.to_vec()
    }
}
