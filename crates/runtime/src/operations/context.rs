//! The System Context of a Location: the operations of a host.

use opencode_context::{Registration, SystemContext};
use opencode_location::config::Diagnostic;
use opencode_location::directory::normalise;
use opencode_location::location::Location;

use crate::runtime::Runtime;
use crate::sources::ContributionError;

impl Runtime {
    /// Contributes to the System Context of every session at a Location, until the [`Registration`]
    /// is dropped. Each session notices both at its next Safe Provider-Turn Boundary. The directory
    /// need not exist yet.
    ///
    /// # Errors
    ///
    /// The directory is not absolute, or a key is taken there or is none.
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

    /// Returns the problems of the configuration of a Location: those found when it was opened, those of its skills at
    /// their last observation, and those of the addresses of instructions at their last request.
    pub fn diagnostics(&self, location: &Location) -> Vec<Diagnostic> {
        self.drains.sources.diagnostics(location)
    }
}
