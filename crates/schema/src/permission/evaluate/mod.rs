//! Evaluates permission rules for an action. Pure functions, used both to decide and to list the
//! actions that are possible.

mod pattern;
mod restricting;
mod rule;
mod spelling;

use std::borrow::Cow;
use std::collections::HashSet;
use std::iter;
use std::sync::Arc;

pub use pattern::matches;
pub use restricting::restricting;
pub use spelling::folded;

use super::{PermissionEffect, PermissionRule, SavedPermission};
use rule::PATH_ACTIONS;

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
        let named = |list: &List<'_>| {
            let rule = decisive(tool, asked, list.rules).filter(|rule| rule.action != "*");
            list.kind.of(rule.map(|rule| rule.effect))
        };
        let denies = |list: List<'_>| named(&list) == Some(PermissionEffect::Deny);
        if rules.lists().any(denies) {
            return PermissionEffect::Deny;
        }
        let is_saved = asked.is_saved(action, saved);
        let asks = |list: List<'_>| {
            named(&list) == Some(PermissionEffect::Ask) && !(is_saved && list.kind.can_be_saved())
        };
        if rules.lists().any(asks) {
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
        let mut decisive = rules
            .lists()
            .filter_map(|it| decisive(action, asked, it.rules));
        decisive.find(|rule| rule.effect == PermissionEffect::Deny)
    };
    all_asked(resources).find_map(denying)
}

/// True if no rule can allow the action on any resource: the last rule for the action denies it
/// everywhere, or the last rule of a limit or a restriction does. The host does not offer such an
/// action. [`evaluate`] still decides about each use.
pub fn is_denied_everywhere(action: &str, rules: &Ruleset<'_>) -> bool {
    rules.lists().any(|list| {
        let mut rules = list.rules.iter().rev();
        let last = rules.find(|rule| rule.is_about(action));
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

    /// All rules, whether they decide or only restrict.
    pub fn all(&self) -> impl Iterator<Item = &PermissionRule> {
        let restrictions = self.restrictions.iter().flat_map(|it| it.rules.iter());
        self.rules.iter().chain(restrictions)
    }

    /// The rules of the agent and the session, then each limit and each restriction.
    fn lists(&self) -> impl Iterator<Item = List<'_>> {
        let (own, others) = PermissionRule::split_own(&self.rules);
        let own = List {
            rules: own,
            kind: Kind::Own,
        };
        let others = others.filter_map(|list| {
            let (begin, rules) = list.split_first()?;
            let kind = if begin.is_limit() {
                Kind::Limit
            } else {
                Kind::Restriction { each_time: false }
            };
            Some(List { rules, kind })
        });
        let restrictions = self.restrictions.iter().map(|it| List {
            rules: &it.rules,
            kind: Kind::Restriction {
                each_time: it.each_time,
            },
        });
        iter::once(own).chain(others).chain(restrictions)
    }

    fn effect(&self, action: &str, asked: Asked<'_>) -> PermissionEffect {
        let effects = self.lists().filter_map(|list| match list.kind {
            Kind::Own => Some(own_effect(action, asked, list.rules)),
            kind => kind.of(effect_of(action, asked, list.rules)),
        });
        effects.fold(PermissionEffect::Allow, PermissionEffect::stricter)
    }

    fn asks_each_time(&self, action: &str, asked: Asked<'_>) -> bool {
        let mut restrictions = self.restrictions.iter().filter(|it| it.each_time);
        restrictions.any(|it| effect_of(action, asked, &it.rules) == Some(PermissionEffect::Ask))
    }
}

/// One of the lists of a ruleset.
#[derive(Debug, Clone, Copy)]
struct List<'r> {
    rules: &'r [PermissionRule],
    kind: Kind,
}

#[derive(Debug, Clone, Copy)]
enum Kind {
    /// The rules of the agent and the session. Only these allow.
    Own,
    /// A limit of a task. It only denies.
    Limit,
    /// Rules that can only make an effect stricter.
    Restriction { each_time: bool },
}

impl Kind {
    /// Returns the effect that a list of this kind has, if its rules have this one.
    fn of(self, effect: Option<PermissionEffect>) -> Option<PermissionEffect> {
        effect.filter(|effect| match self {
            Self::Limit => *effect == PermissionEffect::Deny,
            Self::Own | Self::Restriction { .. } => true,
        })
    }

    /// True if a saved permission of the project answers what the rules of this list ask.
    fn can_be_saved(self) -> bool {
        !matches!(self, Self::Restriction { each_time: true })
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
    let last = last.chain(matches_of_spellings(action, resource, rules));
    last.filter(move |rule| !matches(&rule.resource, resource.name))
}

/// Returns the last rule that matches each name of a path, if case and Unicode form are disregarded. Some file systems
/// disregard them, too, so a file can be reached by a name that no rule spells.
fn matches_of_spellings<'r>(
    action: &str,
    resource: NamedResource<'_>,
    rules: &'r [PermissionRule],
) -> Vec<&'r PermissionRule> {
    if !PATH_ACTIONS.contains(&action) {
        return Vec::new();
    }
    let is_plain = |text: &str| matches!(folded(text), Cow::Borrowed(_));
    let names = || iter::once(resource.name).chain(resource.others.iter().map(String::as_str));
    // Without another spelling, the exact matches decide.
    if names().all(is_plain) && rules.iter().all(|rule| is_plain(&rule.resource)) {
        return Vec::new();
    }
    let last = names().filter_map(|name| {
        let name = folded(name);
        last_match_by(action, rules, |rule| {
            matches(&folded(&rule.resource), &name)
        })
    });
    last.collect()
}

/// Returns the last rule about an action and a resource.
fn last_match<'r>(
    action: &str,
    resource: &str,
    rules: &'r [PermissionRule],
) -> Option<&'r PermissionRule> {
    last_match_by(action, rules, |rule| matches(&rule.resource, resource))
}

/// Returns the last rule about an action whose resource matches. A rule that allows the action by the name of a tool
/// overrules only rules about all actions: the author wrote the others about this one.
fn last_match_by<'r>(
    action: &str,
    rules: &'r [PermissionRule],
    is_of_resource: impl Fn(&PermissionRule) -> bool,
) -> Option<&'r PermissionRule> {
    let is_by_tool = |rule: &PermissionRule| {
        rule.effect == PermissionEffect::Allow && !matches(&rule.action, action)
    };
    let counts = |rule: &&PermissionRule| rule.is_about(action) && is_of_resource(rule);
    let mut rules = rules.iter().rev().filter(counts);
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

#[cfg(test)]
mod no_resource;
#[cfg(test)]
mod tests;
