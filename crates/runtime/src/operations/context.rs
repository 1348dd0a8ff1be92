//! The System Context of a Location: the operations of a host.

use std::sync::Arc;

use opencode_context::{Registration, SystemContext};
use opencode_location::config::{Diagnostic, DiagnosticKind};
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
    /// their last observation, those of the last requests to addresses and repositories, and rules about unknown actions.
    pub fn diagnostics(&self, location: &Location) -> Vec<Diagnostic> {
        let mut diagnostics = self.drains.sources.diagnostics(location);
        diagnostics.extend(self.unknown_actions(location));
        diagnostics
    }

    /// Returns the diagnostics of rules that name no action of any tool. Servers that are not connected may have any tool
    /// with their names.
    fn unknown_actions(&self, location: &Location) -> Vec<Diagnostic> {
        let mut misnamed = location.agents.misnamed_actions().peekable();
        if misnamed.peek().is_none() {
            return Vec::new();
        }
        let names = self.drains.tool_names(location);
        misnamed
            .filter(|it| !names.may_have(&it.action))
            .map(|it| {
                let meant = names.meant(&it.action);
                let question = meant.map_or_else(String::new, |name| format!(" Did you mean {name}?"));
                Diagnostic {
                    path: it.origin.clone(),
                    kind: DiagnosticKind::Invalid,
                    message: format!(
                        "The permission {} names no action of any tool.{question} Rules with the name of a built-in tool are about its action",
                        it.action
                    ),
                    line: None,
                    column: None,
                }
            })
            .collect()
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
