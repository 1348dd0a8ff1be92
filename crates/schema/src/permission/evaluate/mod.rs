//! Evaluates permission rules for an action. Pure functions, used both to decide and to list the
//! actions that are possible.

use std::borrow::Cow;
use std::collections::HashSet;
use std::iter;
use std::sync::Arc;

use super::tools::action_of_tool;
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
/// have already decided.
pub fn evaluate_names(
    action: &str,
    resource: NamedResource<'_>,
    rules: &Ruleset<'_>,
) -> PermissionEffect {
    rules.effect(action, Asked::One(resource))
}

/// Returns the effect of the rules for an action on several resources at once. One denied resource
/// denies the action. One resource that asks makes the host ask.
///
/// No resource, and a resource without a name, mean every resource: each rule about the action counts,
/// unless a later one overrules it for all of its resources.
///
/// A saved permission of the project answers rules that ask. It never overrides a rule that denies
/// or a restriction that asks each time.
pub fn decide<'a>(
    action: &str,
    resources: impl IntoIterator<Item = NamedResource<'a>>,
    rules: &Ruleset<'_>,
    saved: &[SavedPermission],
) -> PermissionEffect {
    let mut outcome = PermissionEffect::Allow;
    for asked in all_asked(resources) {
        match rules.effect(action, asked) {
            PermissionEffect::Deny => return PermissionEffect::Deny,
            PermissionEffect::Ask
                if rules.asks_each_time(action, asked) || !asked.is_saved(action, saved) =>
            {
                outcome = PermissionEffect::Ask;
            }
            PermissionEffect::Ask | PermissionEffect::Allow => {}
        }
    }
    outcome
}

/// Returns the effect on an action of those rules that name the tool that asks for it. Rules about all actions do not
/// count. Without a rule about the tool, the action is allowed.
pub fn decide_by_tool<'a>(
    tool: &str,
    action: &str,
    resources: impl IntoIterator<Item = NamedResource<'a>>,
    rules: &Ruleset<'_>,
    saved: &[SavedPermission],
) -> PermissionEffect {
    let mut outcome = PermissionEffect::Allow;
    for asked in all_asked(resources) {
        let effect = |list| {
            let rule = decisive(tool, asked, list).filter(|rule| rule.action != "*");
            rule.map(|rule| rule.effect)
        };
        let asks = |list| effect(list) == Some(PermissionEffect::Ask);
        if rules
            .lists()
            .any(|it| effect(it) == Some(PermissionEffect::Deny))
        {
            return PermissionEffect::Deny;
        }
        let each_time = rules.restrictions.iter().filter(|it| it.each_time);
        // A limit of a task only denies.
        let own = rules.rules.split(PermissionRule::is_limit).next();
        let restricted = rules.restrictions.iter().map(|it| &*it.rules);
        if each_time.map(|it| &*it.rules).any(asks)
            || own.into_iter().chain(restricted).any(asks) && !asked.is_saved(action, saved)
        {
            outcome = PermissionEffect::Ask;
        }
    }
    outcome
}

/// Returns a rule because of which [`decide`] denies an action on these resources.
pub fn denying_rule<'r>(
    action: &str,
    resources: impl IntoIterator<Item = NamedResource<'r>>,
    rules: &'r Ruleset<'_>,
) -> Option<&'r PermissionRule> {
    let denying = |asked| {
        let mut decisive = rules.lists().filter_map(|it| decisive(action, asked, it));
        decisive.find(|rule| rule.effect == PermissionEffect::Deny)
    };
    all_asked(resources).find_map(denying)
}

/// True if no rule can allow the action on any resource: the last rule for the action denies it
/// everywhere, or the last rule of a limit or a restriction does. The host does not offer such an
/// action. [`evaluate`] still decides about each use.
pub fn is_denied_everywhere(action: &str, rules: &Ruleset<'_>) -> bool {
    rules.lists().any(|rules| {
        let mut rules = rules.iter().rev();
        let last = rules.find(|rule| rule.is_about(action));
        last.is_some_and(|rule| rule.effect == PermissionEffect::Deny && rule.resource == "*")
    })
}

/// The rules that decide about the actions of an agent in a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ruleset<'a> {
    /// Permission rules. The last match decides. If no rule matches, the host asks. The limits of
    /// tasks follow, and [`PermissionRule::LIMIT`] begins each of them.
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

    /// The rules of the agent and the session, then each limit, then each restriction.
    fn lists(&self) -> impl Iterator<Item = &[PermissionRule]> {
        let own = self.rules.split(PermissionRule::is_limit);
        own.chain(self.restrictions.iter().map(|it| &*it.rules))
    }

    fn effect(&self, action: &str, asked: Asked<'_>) -> PermissionEffect {
        let restricted = self.restrictions.iter();
        let restricted = restricted.filter_map(|it| effect_of(action, asked, &it.rules));
        let own = by_rules(action, asked, &self.rules);
        restricted.fold(own, PermissionEffect::stricter)
    }

    fn asks_each_time(&self, action: &str, asked: Asked<'_>) -> bool {
        let mut restrictions = self.restrictions.iter().filter(|it| it.each_time);
        restrictions.any(|it| effect_of(action, asked, &it.rules) == Some(PermissionEffect::Ask))
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

/// The use of an action.
#[derive(Debug, Clone, Copy)]
enum Asked<'a> {
    One(NamedResource<'a>),
    /// The action may use any resource.
    Every,
}

impl<'a> Asked<'a> {
    fn of(resource: NamedResource<'a>) -> Self {
        if resource.name.is_empty() {
            return Self::Every;
        }
        Self::One(resource)
    }

    fn is_saved(self, action: &str, saved: &[SavedPermission]) -> bool {
        let covers = |it: &SavedPermission| match self {
            Self::One(resource) => matches(&it.resource, resource.name),
            Self::Every => it.resource == "*",
        };
        saved
            .iter()
            .any(|it| matches(&it.action, action) && covers(it))
    }
}

fn all_asked<'a>(
    resources: impl IntoIterator<Item = NamedResource<'a>>,
) -> impl Iterator<Item = Asked<'a>> {
    let mut resources = resources.into_iter().map(Asked::of).peekable();
    let none = resources.peek().is_none().then_some(Asked::Every);
    resources.chain(none)
}

/// Returns the effect of a list of rules. Each limit denies the actions that its own rules deny, and has no
/// other effect.
fn by_rules(action: &str, asked: Asked<'_>, rules: &[PermissionRule]) -> PermissionEffect {
    let mut lists = rules.split(PermissionRule::is_limit);
    let own = lists
        .next()
        .map_or(PermissionEffect::Ask, |own| own_effect(action, asked, own));
    let denies = |limit| effect_of(action, asked, limit) == Some(PermissionEffect::Deny);
    if lists.any(denies) {
        return PermissionEffect::Deny;
    }
    own
}

/// Returns the effect of the rules of an agent. Without a rule about the resource itself, the host asks.
fn own_effect(action: &str, asked: Asked<'_>, rules: &[PermissionRule]) -> PermissionEffect {
    let is_decided = match asked {
        Asked::One(resource) => last_match(action, resource.name, rules).is_some(),
        Asked::Every => rules.iter().any(|rule| rule.is_about_all_of(action)),
    };
    let undecided = (!is_decided).then_some(PermissionEffect::Ask);
    effect_of(action, asked, rules)
        .into_iter()
        .chain(undecided)
        .fold(PermissionEffect::Allow, PermissionEffect::stricter)
}

/// Returns the strictest effect of a list of rules on any name of the resource.
fn effect_of(action: &str, asked: Asked<'_>, rules: &[PermissionRule]) -> Option<PermissionEffect> {
    decisive(action, asked, rules).map(|rule| rule.effect)
}

/// Returns the rule of a list that decides: the strictest one about any name of the resource.
fn decisive<'r>(
    action: &str,
    asked: Asked<'_>,
    rules: &'r [PermissionRule],
) -> Option<&'r PermissionRule> {
    let strictest = |one: &'r PermissionRule, other: &'r PermissionRule| {
        if one.effect.stricter(other.effect) == one.effect {
            one
        } else {
            other
        }
    };
    match asked {
        Asked::One(resource) => {
            let own = last_match(action, resource.name, rules);
            let others = of_other_names(action, resource, rules);
            own.into_iter().chain(others).reduce(strictest)
        }
        Asked::Every => about_any(action, rules).reduce(strictest),
    }
}

/// Returns the rules about an action from the last one on, up to the rule about all of its resources. Omits those that
/// a later rule with the same pattern overrules.
fn about_any<'r>(
    action: &str,
    rules: &'r [PermissionRule],
) -> impl Iterator<Item = &'r PermissionRule> {
    let mut later = HashSet::new();
    let mut is_over = false;
    // The name of a tool allows no more than the rules about its action.
    let counts = |rule: &&PermissionRule| {
        let restricts = rule.effect != PermissionEffect::Allow;
        matches(&rule.action, action) || restricts && rule.names_tool_of(action)
    };
    let mut rules = rules.iter().rev().filter(counts);
    let until_all = iter::from_fn(move || {
        let rule = rules.next().filter(|_| !is_over)?;
        is_over = rule.is_about_all_of(action);
        Some(rule)
    });
    until_all.filter(move |rule| later.insert(rule.resource.as_str()))
}

/// Returns those rules about other names of the resource that only these names match.
fn of_other_names<'r>(
    action: &str,
    resource: NamedResource<'_>,
    rules: &'r [PermissionRule],
) -> impl Iterator<Item = &'r PermissionRule> {
    let last = move |name: &String| last_match(action, name, rules);
    let last = resource.others.iter().filter_map(last);
    last.filter(move |rule| !matches(&rule.resource, resource.name))
}

/// Returns the last rule about an action and a resource. A rule that allows the action by the name of a tool overrules
/// only rules about all actions: the author wrote the others about this one.
fn last_match<'r>(
    action: &str,
    resource: &str,
    rules: &'r [PermissionRule],
) -> Option<&'r PermissionRule> {
    let is_by_tool = |rule: &PermissionRule| {
        rule.effect == PermissionEffect::Allow && !matches(&rule.action, action)
    };
    let is_about =
        |rule: &&PermissionRule| matches(&rule.resource, resource) && rule.is_about(action);
    let mut rules = rules.iter().rev().filter(is_about);
    let last = rules.next()?;
    if !is_by_tool(last) {
        return Some(last);
    }
    let before = rules.find(|rule| !is_by_tool(rule));
    let restricts = |rule: &&PermissionRule| {
        rule.effect != PermissionEffect::Allow && !rule.action.contains('*')
    };
    before.filter(restricts).or(Some(last))
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

    /// True if this rule begins a limit.
    #[must_use]
    pub fn is_limit(&self) -> bool {
        *self == Self::LIMIT
    }

    /// True if the rule names one action that has paths as resources, or a tool with such an action.
    fn names_paths(&self) -> bool {
        let action = self.action.to_ascii_lowercase();
        PATH_ACTIONS.contains(&action_of_tool(&action))
    }

    fn is_about_all_of(&self, action: &str) -> bool {
        self.resource == "*" && matches(&self.action, action)
    }

    /// True if the resource of the rule can be a pattern of paths.
    #[must_use]
    pub fn is_about_paths(&self) -> bool {
        PATH_ACTIONS.iter().any(|action| self.is_about(action))
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
mod no_resource;
#[cfg(test)]
mod tests;
