//! Which rules count in a session.

use std::borrow::Cow;

use opencode_location::location::Location;
use opencode_schema::permission::{PermissionEffect, PermissionRule, matches};

/// The rules by which an agent is judged in a session: its own, then those of the session. An agent
/// that nobody describes may do nothing, whatever the session says.
pub(crate) fn rules<'a>(
    location: &'a Location,
    agent: &str,
    session: &[PermissionRule],
) -> Cow<'a, [PermissionRule]> {
    let own = location.agents.rules(agent);
    if session.is_empty() || location.agents.get(agent).is_none() {
        return Cow::Borrowed(own);
    }
    Cow::Owned([own, session].concat())
}

/// What these rules deny, each once: the rules of a session that somebody makes who is judged by
/// them. A denial that a later rule takes back as a whole is none. Of one that is taken back in part
/// the whole counts: the exceptions were made for the other agent.
pub(crate) fn denials(rules: &[PermissionRule]) -> Vec<PermissionRule> {
    let mut denials: Vec<PermissionRule> = Vec::new();
    for (place, rule) in rules.iter().enumerate() {
        let later = &rules[place + 1..];
        let denies = rule.effect == PermissionEffect::Deny;
        if denies && !later.iter().any(|it| takes_back(it, rule)) && !denials.contains(rule) {
            denials.push(rule.clone());
        }
    }
    denials
}

/// Whether a later rule says something else about everything that the denial is about.
fn takes_back(later: &PermissionRule, denial: &PermissionRule) -> bool {
    later.effect != PermissionEffect::Deny
        && covers(&later.action, &denial.action)
        && covers(&later.resource, &denial.resource)
}

/// Whether one pattern surely matches whatever the other one does. `*` in the other is text that only
/// a `*` can stand for.
fn covers(pattern: &str, other: &str) -> bool {
    pattern == other || !pattern.contains('?') && matches(pattern, other)
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
    fn denials_are_those_that_nothing_takes_back() {
        for (rules, expected) in [
            (&["*|*|allow", "bash|*|ask"][..], &[][..]),
            (&["question|*|deny", "question|*|allow"], &[]),
            (&["question|*|deny", "*|*|ask"], &[]),
            (&["edit|*|deny", "edit|docs/*|allow"], &["edit|*|deny"]),
            (&["edit|docs/*|deny", "edit|*|allow"], &[]),
            (
                &["bash|git *|deny", "bash|git ?|allow"],
                &["bash|git *|deny"],
            ),
            (&["bash|*|deny", "bash|?|allow"], &["bash|*|deny"]),
            (
                &["a|*|deny", "a|*|allow", "a|x|deny", "b|*|deny", "a|x|deny"],
                &["a|x|deny", "b|*|deny"],
            ),
        ] {
            let rules: Vec<_> = rules.iter().map(|it| rule(it)).collect();
            let expected: Vec<_> = expected.iter().map(|it| rule(it)).collect();
            assert_eq!(denials(&rules), expected, "{rules:?}");
        }
    }
}
