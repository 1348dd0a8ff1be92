//! Rules that apply in a session.

use std::borrow::Cow;
use std::collections::HashSet;

use opencode_location::location::Location;
use opencode_schema::permission::{PermissionEffect, PermissionRule, Ruleset};

/// Returns the rules for an agent in a session: the rules of the agent, then those of the session. An agent that does
/// not exist may do nothing, even if the session allows it.
pub(crate) fn rules<'a>(
    location: &'a Location,
    agent: &str,
    session: &[PermissionRule],
) -> Ruleset<'a> {
    let own = location.agents.rules(agent);
    if session.is_empty() || location.agents.get(agent).is_none() {
        return own;
    }
    Ruleset {
        rules: Cow::Owned([&own.rules, session].concat()),
        ..own
    }
}

/// Returns the rules of a child session whose creator is subject to `rules`: limits that deny everything that is
/// denied to the creator. Empty if nothing is denied to the creator.
pub(crate) fn limits(rules: &Ruleset<'_>) -> Vec<PermissionRule> {
    let mut limits = Vec::new();
    let own = rules.rules.split(PermissionRule::begins_list);
    let restrictions = rules.restrictions.iter().map(|it| &*it.rules);
    for list in own.chain(restrictions) {
        let counting = counting(list).into_iter();
        // The rules before the first denial have no effect in a limit.
        let limit = counting.skip_while(|rule| rule.effect != PermissionEffect::Deny);
        let mut limit = limit.cloned().peekable();
        if limit.peek().is_some() {
            limits.push(PermissionRule::LIMIT);
            limits.extend(limit);
        }
    }
    limits
}

/// Returns those limits that the rules do not contain already.
pub(super) fn new_limits(
    limits: Vec<PermissionRule>,
    rules: &[PermissionRule],
) -> Vec<PermissionRule> {
    let (_, known) = PermissionRule::split_own(rules);
    let known: HashSet<_> = known.collect();
    let (_, limits) = PermissionRule::split_own(&limits);
    let new = limits.filter(|limit| !known.contains(limit));
    new.flatten().cloned().collect()
}

/// Returns the rules of a list without those that a later rule for the same or for everything overrules.
fn counting(list: &[PermissionRule]) -> Vec<&PermissionRule> {
    let mut later = HashSet::new();
    let mut counting = Vec::new();
    for rule in list.iter().rev() {
        let (action, resource) = (rule.action.as_str(), rule.resource.as_str());
        let overruling = [
            (action, resource),
            (action, "*"),
            ("*", resource),
            ("*", "*"),
        ];
        if !overruling.iter().any(|it| later.contains(it)) {
            later.insert((action, resource));
            counting.push(rule);
        }
    }
    counting.reverse();
    counting
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(text: &str) -> PermissionRule {
        let words: Vec<_> = text.split('|').collect();
        PermissionRule {
            action: words[0].to_owned(),
            resource: words[1].to_owned(),
            effect: match words[2] {
                "allow" => PermissionEffect::Allow,
                "ask" => PermissionEffect::Ask,
                _ => PermissionEffect::Deny,
            },
        }
    }

    #[test]
    fn only_unknown_limits_are_new() {
        let rules = |texts: &[&str]| texts.iter().map(|it| rule(it)).collect::<Vec<_>>();
        let session = rules(&["a|*|allow", "||deny", "b|*|deny", "||ask", "c|*|deny"]);
        let limits = rules(&["||deny", "b|*|deny", "||deny", "c|*|deny"]);
        let expected = rules(&["||deny", "c|*|deny"]);
        assert_eq!(new_limits(limits, &session), expected);
        assert_eq!(new_limits(Vec::new(), &session), []);
    }

    #[test]
    fn limits_consist_of_the_denying_rules() {
        for (rules, expected) in [
            (&["*|*|allow", "bash|*|ask"][..], &[][..]),
            (&["question|*|deny", "question|*|allow"], &[]),
            (&["question|*|deny", "*|*|ask"], &[]),
            (&["edit|docs/*|deny", "edit|*|allow"], &[]),
            (
                &["a|*|allow", "edit|*|deny", "edit|docs/*|allow"],
                &["||deny", "edit|*|deny", "edit|docs/*|allow"],
            ),
            (
                &["a|*|deny", "a|*|allow", "a|x|deny", "b|*|deny", "a|x|deny"],
                &["||deny", "b|*|deny", "a|x|deny"],
            ),
            // The limits of the session that gives the task stay separate limits.
            (
                &[
                    "a|*|deny",
                    "||deny",
                    "b|*|deny",
                    "b|x|ask",
                    "||deny",
                    "c|*|allow",
                ],
                &["||deny", "a|*|deny", "||deny", "b|*|deny", "b|x|ask"],
            ),
        ] {
            let rules: Vec<_> = rules.iter().map(|it| rule(it)).collect();
            let expected: Vec<_> = expected.iter().map(|it| rule(it)).collect();
            assert_eq!(limits(&Ruleset::of(&rules)), expected, "{rules:?}");
        }
    }
}
