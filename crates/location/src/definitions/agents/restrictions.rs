//! The rules of an agent that no other rule can loosen.

use std::sync::Arc;

use opencode_schema::permission::{PermissionEffect, PermissionRule, Restriction};

use super::misnamed::with_meant;
use crate::config::{Configuration, EarlierRules, Source, UnreadablePermissions};
use crate::directory::RealPatterns;

/// Rules that apply to all agents.
pub(super) struct Shared {
    /// The rules of all trusted documents.
    pub(super) rules: Vec<PermissionRule>,
    /// The subset of `rules` that the host, the administrator or the user gave.
    given: Vec<PermissionRule>,
    /// The subset of `rules` that the host gave.
    of_host: Vec<PermissionRule>,
    /// The subset of `rules` that the administrator gave.
    of_administrator: Vec<PermissionRule>,
    /// The rules of documents of an untrusted project. They can only restrict.
    untrusted: Vec<PermissionRule>,
    /// The rules of documents with earlier values of keys that stand twice. Each set can only restrict.
    earlier: Vec<EarlierRules>,
    /// The ceiling that the host sets.
    ceiling: Arc<[PermissionRule]>,
    /// Resolves links in patterns.
    real: Arc<RealPatterns>,
}

impl Shared {
    /// Reads the disk.
    pub(super) fn of(configuration: &Configuration, real: Arc<RealPatterns>) -> Self {
        let rules = |fits: fn(Source) -> bool| -> Vec<_> {
            let documents = configuration.documents().filter(|it| fits(it.source));
            documents
                .flat_map(|it| with_meant(&it.permissions))
                .collect()
        };
        let ceiling = with_meant(configuration.ceiling.iter());
        Self {
            rules: rules(|source| !source.is_untrusted()),
            given: rules(|source| !source.is_project()),
            of_host: rules(|source| source == Source::Host),
            of_administrator: rules(|source| source == Source::Administrator),
            untrusted: rules(Source::is_untrusted),
            earlier: configuration
                .documents()
                .flat_map(|it| it.earlier.iter().cloned())
                .collect(),
            ceiling: real.resolve(ceiling).into(),
            real,
        }
    }

    /// Number of rules of which each agent holds a copy.
    pub(super) fn count(&self) -> usize {
        let own = self.of_host.len() + self.of_administrator.len() + self.untrusted.len();
        let earlier: usize = self.earlier.iter().map(EarlierRules::count).sum();
        self.rules.len() + self.given.len() + own + earlier
    }

    /// The rules for all agents followed by those of one agent, with the home directory filled in.
    pub(super) fn with(
        &self,
        shared: &[PermissionRule],
        own: Vec<PermissionRule>,
    ) -> Vec<PermissionRule> {
        let rules = shared.iter().cloned().chain(own);
        rules.map(|rule| self.real.with_home(rule)).collect()
    }

    /// Adds the rules for the real paths of patterns with links.
    pub(super) fn resolve(&self, rules: Vec<PermissionRule>) -> Vec<PermissionRule> {
        self.real.resolve(rules)
    }

    fn restriction(
        &self,
        shared: &[PermissionRule],
        own: Vec<PermissionRule>,
    ) -> Arc<[PermissionRule]> {
        self.resolve(self.with(shared, own)).into()
    }

    /// The rules for one agent that neither a project nor the built-in agents contain.
    pub(super) fn given(&self, own: Vec<PermissionRule>) -> Arc<[PermissionRule]> {
        self.restriction(&self.given, own)
    }

    /// The rules that no other rule can loosen: those of the host, those of the administrator, those of an untrusted
    /// project, the ceiling, and `ask` rules for configuration that cannot be read.
    pub(super) fn restrictions(
        &self,
        agent: &str,
        own: OwnRules,
        lost: &[UnreadablePermissions],
    ) -> Vec<Restriction> {
        let is_about =
            |it: &&UnreadablePermissions| it.agent.as_deref().is_none_or(|about| about == agent);
        let unread = lost.iter().filter(is_about).map(|it| PermissionRule {
            action: it.action.clone().unwrap_or_else(|| "*".to_owned()),
            resource: "*".to_owned(),
            effect: PermissionEffect::Ask,
        });
        let of_documents = self
            .earlier
            .iter()
            .map(|it| with_meant(it.of(agent)).collect());
        let earlier = of_documents.chain(own.earlier);
        let earlier: Vec<(Arc<[_]>, bool)> = earlier
            .map(|rules: Vec<_>| (self.restriction(&[], rules), false))
            .collect();
        let restrictions = [
            (self.restriction(&self.of_host, own.of_host), false),
            (
                self.restriction(&self.of_administrator, own.of_administrator),
                false,
            ),
            (self.restriction(&self.untrusted, own.untrusted), false),
            (unread.collect(), true),
            (Arc::clone(&self.ceiling), true),
        ];
        let restrictions = restrictions.into_iter().chain(earlier);
        let given = restrictions.filter(|(rules, _): &(Arc<[_]>, bool)| !rules.is_empty());
        given
            .map(|(rules, each_time)| Restriction { rules, each_time })
            .collect()
    }
}

/// The rules of one agent that restrict it.
pub(super) struct OwnRules {
    /// Rules that the host gave.
    pub of_host: Vec<PermissionRule>,
    /// Rules that the administrator gave.
    pub of_administrator: Vec<PermissionRule>,
    /// Rules from files of an untrusted project.
    pub untrusted: Vec<PermissionRule>,
    /// Sets of rules from names that stand twice in its file.
    pub earlier: Vec<Vec<PermissionRule>>,
}
