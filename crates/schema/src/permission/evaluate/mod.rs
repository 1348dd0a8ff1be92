//! Evaluates permission rules for an action. Pure functions, used both to decide and to list the
//! actions that are possible.

mod spelling;

use std::borrow::Cow;
use std::sync::Arc;

pub use spelling::folded;

use super::{PermissionEffect, PermissionRule, SavedPermission};

/// True if a pattern matches a whole text.
///
/// `*` matches any run of characters, including `/` and line ends. `?` matches exactly one
/// character. Every other character matches itself, case-sensitively. A backslash equals a slash on
/// both sides. A pattern that ends in a space and `*` also matches without that tail: `git *` also
/// matches `git`.
///
/// Takes time proportional to the text, multiplied by the length of each part of the pattern that
/// contains `?`.
///
/// ```
/// # use opencode_schema::permission::matches;
/// assert!(matches("git *", "git") && matches("git *", "git push") && !matches("git *", "gitk"));
/// assert!(matches("src/*", r"src\a\b.rs") && matches("?.md", "a.md"));
/// ```
pub fn matches(pattern: &str, text: &str) -> bool {
    let (pattern, text) = (slashes(pattern), slashes(text));
    let bare = pattern.strip_suffix(" *");
    covers(&pattern, &text) || bare.is_some_and(|bare| covers(bare, &text))
}

/// A resource, with all names by which an action reaches it.
#[derive(Debug, Clone, Copy)]
pub struct NamedResource<'a> {
    /// The name that the host shows and that approvals store. For a file, its real path.
    pub name: &'a str,
    /// Other names: paths that lead to the file through symbolic links.
    pub others: &'a [String],
}

impl<'a> From<&'a str> for NamedResource<'a> {
    fn from(name: &'a str) -> Self {
        Self { name, others: &[] }
    }
}

/// Returns the effect of the rules for an action on a resource. Every restriction can make the
/// effect stricter.
pub fn evaluate(action: &str, resource: &str, rules: &Ruleset<'_>) -> PermissionEffect {
    evaluate_names(action, resource.into(), rules)
}

/// Returns the effect of the rules for an action on a resource with several names.
///
/// A rule about another name of the resource can make the effect stricter: the last rule that
/// matches that name counts, unless it matches the resource itself, too. Then the rules after it
/// have already decided. For paths, a spelling that differs only in case or in its Unicode form counts
/// as another name.
pub fn evaluate_names(
    action: &str,
    resource: NamedResource<'_>,
    rules: &Ruleset<'_>,
) -> PermissionEffect {
    let restricted = rules.restrictions.iter();
    let restricted = restricted.filter_map(|it| effect_of(action, resource, &it.rules));
    let own = by_rules(action, resource, &rules.rules);
    restricted.fold(own, PermissionEffect::stricter)
}

/// Returns the effect of the rules for an action on several resources at once. One denied resource
/// denies the action. One resource that asks makes the host ask. An action on no resource is
/// allowed.
///
/// A saved permission of the project answers rules that ask. It never overrides a rule that denies
/// or a restriction that asks each time.
pub fn decide<'a>(
    action: &str,
    resources: impl IntoIterator<Item = NamedResource<'a>>,
    rules: &Ruleset<'_>,
    saved: &[SavedPermission],
) -> PermissionEffect {
    let is_saved = |resource: &str| {
        saved
            .iter()
            .any(|it| matches(&it.action, action) && matches(&it.resource, resource))
    };
    let mut outcome = PermissionEffect::Allow;
    for resource in resources {
        match evaluate_names(action, resource, rules) {
            PermissionEffect::Deny => return PermissionEffect::Deny,
            PermissionEffect::Ask
                if rules.asks_each_time(action, resource) || !is_saved(resource.name) =>
            {
                outcome = PermissionEffect::Ask;
            }
            PermissionEffect::Ask | PermissionEffect::Allow => {}
        }
    }
    outcome
}

/// True if no rule can allow the action on any resource: the last rule for the action denies it
/// everywhere, or the last rule of a limit or a restriction does. The host does not offer such an
/// action. [`evaluate`] still decides about each use.
pub fn is_denied_everywhere(action: &str, rules: &Ruleset<'_>) -> bool {
    let own = rules.rules.split(PermissionRule::begins_list);
    let restrictions = rules.restrictions.iter().map(|it| &*it.rules);
    own.chain(restrictions).any(|rules| {
        let mut rules = rules.iter().rev();
        let last = rules.find(|rule| matches(&rule.action, action));
        last.is_some_and(|rule| rule.effect == PermissionEffect::Deny && rule.resource == "*")
    })
}

/// The rules that decide about the actions of an agent in a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ruleset<'a> {
    /// Permission rules. The last match decides. If no rule matches, the host asks. The limits of
    /// tasks and the rules of imports follow. [`PermissionRule::LIMIT`] begins each limit, and
    /// [`PermissionRule::RESTRICTION`] the rules of each import.
    pub rules: Cow<'a, [PermissionRule]>,
    /// Lists of rules that can only make an effect stricter.
    pub restrictions: &'a [Restriction],
}

impl<'a> Ruleset<'a> {
    /// Creates a ruleset without restrictions.
    #[must_use]
    pub fn of(rules: &'a [PermissionRule]) -> Self {
        Self {
            rules: Cow::Borrowed(rules),
            restrictions: &[],
        }
    }

    fn asks_each_time(&self, action: &str, resource: NamedResource<'_>) -> bool {
        let mut restrictions = self.restrictions.iter().filter(|it| it.each_time);
        restrictions.any(|it| effect_of(action, resource, &it.rules) == Some(PermissionEffect::Ask))
    }
}

/// Rules that no other rule can loosen. The last match decides. `allow` leaves the effect to the
/// other rules.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Restriction {
    /// Permission rules of the restriction.
    pub rules: Arc<[PermissionRule]>,
    /// True if the host asks for every use. Otherwise a saved permission of the project answers an
    /// `ask`.
    pub each_time: bool,
}

impl PermissionEffect {
    /// Returns the stricter of two effects. The order is `deny`, `ask`, `allow`.
    #[must_use]
    pub fn stricter(self, other: Self) -> Self {
        let rank = |effect| match effect {
            Self::Allow => 0,
            Self::Ask => 1,
            Self::Deny => 2,
        };
        if rank(other) > rank(self) {
            other
        } else {
            self
        }
    }
}

/// Returns the effect of a list of rules. Each limit denies the actions that its own rules deny, and has no
/// other effect. Each restriction can make the effect stricter.
fn by_rules(
    action: &str,
    resource: NamedResource<'_>,
    rules: &[PermissionRule],
) -> PermissionEffect {
    let (own, others) = PermissionRule::split_own(rules);
    let others = others.filter_map(|list| {
        let (begin, rules) = list.split_first()?;
        let effect = effect_of(action, resource, rules)?;
        (effect == PermissionEffect::Deny || begin.is_restriction()).then_some(effect)
    });
    others.fold(
        own_effect(action, resource, own),
        PermissionEffect::stricter,
    )
}

/// Returns the effect of the rules of an agent. Without a rule about the resource itself, the host asks.
fn own_effect(
    action: &str,
    resource: NamedResource<'_>,
    rules: &[PermissionRule],
) -> PermissionEffect {
    let own = last_match(action, resource.name, rules);
    let own = own.map_or(PermissionEffect::Ask, |rule| rule.effect);
    of_other_names(action, resource, rules).fold(own, PermissionEffect::stricter)
}

/// Returns the strictest effect of a list of rules on any name of the resource.
fn effect_of(
    action: &str,
    resource: NamedResource<'_>,
    rules: &[PermissionRule],
) -> Option<PermissionEffect> {
    let own = last_match(action, resource.name, rules).map(|rule| rule.effect);
    own.into_iter()
        .chain(of_other_names(action, resource, rules))
        .reduce(PermissionEffect::stricter)
}

/// Returns the effects on other names of the resource of those rules that only these names match.
fn of_other_names(
    action: &str,
    resource: NamedResource<'_>,
    rules: &[PermissionRule],
) -> impl Iterator<Item = PermissionEffect> {
    let last = move |name: &String| last_match(action, name, rules);
    let last = resource.others.iter().filter_map(last);
    let last = last.chain(matches_of_spellings(action, resource, rules));
    let only = last.filter(move |rule| !matches(&rule.resource, resource.name));
    only.map(|rule| rule.effect)
}

/// Returns the last rule that matches each name of a path, if case and Unicode form are disregarded. Some file systems
/// disregard them, too, so a file can be reached by a name that no rule spells.
fn matches_of_spellings<'a>(
    action: &str,
    resource: NamedResource<'_>,
    rules: &'a [PermissionRule],
) -> Vec<&'a PermissionRule> {
    if !PATH_ACTIONS.contains(&action) {
        return Vec::new();
    }
    let is_plain = |text: &str| matches!(folded(text), Cow::Borrowed(_));
    let mut names =
        std::iter::once(resource.name).chain(resource.others.iter().map(String::as_str));
    // Without another spelling, the exact matches decide.
    if names.all(is_plain) && rules.iter().all(|rule| is_plain(&rule.resource)) {
        return Vec::new();
    }
    let names = std::iter::once(resource.name).chain(resource.others.iter().map(String::as_str));
    let last = names.filter_map(|name| {
        let name = folded(name);
        let mut rules = rules.iter().rev();
        rules.find(|rule| matches(&rule.action, action) && matches(&folded(&rule.resource), &name))
    });
    last.collect()
}

fn last_match<'a>(
    action: &str,
    resource: &str,
    rules: &'a [PermissionRule],
) -> Option<&'a PermissionRule> {
    let mut rules = rules.iter().rev();
    rules.find(|rule| matches(&rule.action, action) && matches(&rule.resource, resource))
}

/// Actions that have paths as resources.
const PATH_ACTIONS: [&str; 3] = ["external_directory", "read", "edit"];

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

    /// True if the resource of the rule can be a pattern of paths.
    #[must_use]
    pub fn is_about_paths(&self) -> bool {
        PATH_ACTIONS
            .iter()
            .any(|action| matches(&self.action, action))
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
        let below = ["~", "$HOME"]
            .iter()
            .find_map(|name| self.resource.strip_prefix(name));
        let below = below.filter(|below| below.is_empty() || below.starts_with(['/', '\\']));
        match below {
            Some(below) if !home.is_empty() && PATH_ACTIONS.contains(&&*self.action) => Self {
                resource: format!("{}{below}", home.trim_end_matches(['/', '\\'])),
                ..self
            },
            _ => self,
        }
    }
}

fn slashes(text: &str) -> Cow<'_, str> {
    if text.contains('\\') {
        text.replace('\\', "/").into()
    } else {
        text.into()
    }
}

/// Searches the pieces between the stars in order. A star follows each piece, so its first match is
/// as good as any later one, and the search never backtracks.
fn covers(pattern: &str, text: &str) -> bool {
    let mut pieces = pattern.split('*');
    let first = pieces.next().unwrap_or_default();
    let Some(mut rest) = after(first, text) else {
        return false;
    };
    let Some(last) = pieces.next_back() else {
        return rest.is_empty();
    };
    for piece in pieces {
        match after_first(piece, rest) {
            Some(behind) => rest = behind,
            None => return false,
        }
    }
    ends_with(rest, last)
}

/// Returns the rest of the text after a piece that the text begins with.
fn after<'t>(piece: &str, text: &'t str) -> Option<&'t str> {
    let mut rest = text.chars();
    for expected in piece.chars() {
        let found = rest.next()?;
        if expected != '?' && expected != found {
            return None;
        }
    }
    Some(rest.as_str())
}

/// Returns the rest of the text after the first match of a piece.
fn after_first<'t>(piece: &str, text: &'t str) -> Option<&'t str> {
    if !piece.contains('?') {
        return text.find(piece).map(|at| &text[at + piece.len()..]);
    }
    text.char_indices()
        .find_map(|(at, _)| after(piece, &text[at..]))
}

fn ends_with(text: &str, piece: &str) -> bool {
    let Some(back) = piece.chars().count().checked_sub(1) else {
        return true;
    };
    let start = text.char_indices().rev().nth(back);
    start.is_some_and(|(at, _)| after(piece, &text[at..]).is_some())
}

#[cfg(test)]
mod tests;
