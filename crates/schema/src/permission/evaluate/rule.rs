//! Parts of a rule, and rules that begin a list of rules.

use super::pattern::{matches, slashes};
use super::spelling::folded;
use crate::permission::tools::action_of_tool;
use crate::permission::{PermissionEffect, PermissionRule};

/// Actions that have paths as resources.
pub(super) const PATH_ACTIONS: [&str; 3] = ["external_directory", "read", "edit"];

impl PermissionRule {
    /// Begins a limit in a list of rules. The rules that follow, up to the next limit, only deny.
    /// This rule itself matches nothing.
    pub const LIMIT: Self = Self {
        action: String::new(),
        resource: String::new(),
        effect: PermissionEffect::Deny,
    };

    /// Begins a restriction in a list of rules. The rules that follow, up to the next limit or
    /// restriction, can only make an effect stricter. This rule itself matches nothing.
    pub const RESTRICTION: Self = Self {
        action: String::new(),
        resource: String::new(),
        effect: PermissionEffect::Ask,
    };

    /// True if this rule begins a limit.
    #[must_use]
    pub fn is_limit(&self) -> bool {
        *self == Self::LIMIT
    }

    /// True if this rule begins a restriction.
    #[must_use]
    pub fn is_restriction(&self) -> bool {
        *self == Self::RESTRICTION
    }

    /// True if this rule begins a limit or a restriction.
    #[must_use]
    pub fn begins_list(&self) -> bool {
        self.is_limit() || self.is_restriction()
    }

    /// Splits a list of rules into those before the first limit or restriction, and the limits and
    /// restrictions. Each of these includes the rule that begins it.
    pub fn split_own(rules: &[Self]) -> (&[Self], impl Iterator<Item = &[Self]>) {
        let own = rules.iter().position(Self::begins_list);
        let (own, others) = rules.split_at(own.unwrap_or(rules.len()));
        (own, others.chunk_by(|_, next| !next.begins_list()))
    }

    /// True if the rule names one action that has paths as resources, or a tool with such an action.
    fn names_paths(&self) -> bool {
        let action = self.action.to_ascii_lowercase();
        PATH_ACTIONS.contains(&action_of_tool(&action))
    }

    pub(super) fn is_about_all_of(&self, action: &str) -> bool {
        self.resource == "*" && matches(&self.action, action)
    }

    /// True if the resource of the rule can be a pattern of paths.
    #[must_use]
    pub fn is_about_paths(&self) -> bool {
        PATH_ACTIONS.iter().any(|action| self.is_about(action))
    }

    /// True if the pattern of resources contains this name as a whole, without a wildcard.
    #[must_use]
    pub fn names(&self, name: &str) -> bool {
        let pattern = slashes(&self.resource);
        let name = folded(name);
        let mut parts = pattern.split('/');
        parts.any(|part| !part.contains(['*', '?']) && folded(part) == name)
    }

    /// Replaces a leading `~` or `$HOME` of the resource with the home directory, if the action has
    /// paths as resources. An empty `home` replaces nothing.
    #[must_use]
    pub fn with_home(self, home: &str) -> Self {
        let found = self.names_paths().then(|| self.in_home(home));
        found.flatten().unwrap_or(self)
    }

    /// Returns the rule that a pattern of actions needs in addition, so that it restricts paths below the home directory.
    /// For other actions, `~` is a text like any other.
    #[must_use]
    pub fn restricting_home(&self, home: &str) -> Option<Self> {
        let restricts = self.effect != PermissionEffect::Allow;
        let is_pattern = restricts && self.is_about_paths() && !self.names_paths();
        is_pattern.then(|| self.in_home(home)).flatten()
    }

    fn in_home(&self, home: &str) -> Option<Self> {
        let mut names = ["~", "$HOME"].iter();
        let below = names.find_map(|name| self.resource.strip_prefix(name))?;
        let is_below = below.is_empty() || below.starts_with(['/', '\\']);
        (is_below && !home.is_empty()).then(|| Self {
            resource: format!("{}{below}", home.trim_end_matches(['/', '\\'])),
            ..self.clone()
        })
    }
}
