//! Rules that the host adds because it guesses what a rule means. They restrict and never loosen.

use super::{PermissionEffect, PermissionRule, matches};

/// Returns a guessed rule that denies or asks, with the denials of the rules before it that it must not loosen. They are
/// repeated for its resource if they cover it, else as they are.
pub fn restricting<'r>(
    before: impl DoubleEndedIterator<Item = &'r PermissionRule> + Clone,
    guess: PermissionRule,
) -> Vec<PermissionRule> {
    let mut denials = Vec::new();
    if guess.effect != PermissionEffect::Deny {
        for (at, denial) in before.clone().enumerate() {
            let action = match () {
                () if matches(&guess.action, &denial.action) => &denial.action,
                () if matches(&denial.action, &guess.action) => &guess.action,
                () => continue,
            };
            let covers = |rule: &PermissionRule| {
                matches(&rule.action, action) && matches(&rule.resource, &guess.resource)
            };
            let is_overruled = || {
                let mut later = before.clone().skip(at + 1);
                later.any(|rule| rule.effect != PermissionEffect::Deny && covers(rule))
            };
            if denial.effect == PermissionEffect::Deny && !is_overruled() {
                let resource = match covers(denial) {
                    true => &guess.resource,
                    false => &denial.resource,
                };
                let denial = PermissionRule {
                    action: action.clone(),
                    resource: resource.clone(),
                    effect: PermissionEffect::Deny,
                };
                if !denials.contains(&denial) {
                    denials.push(denial);
                }
            }
        }
    }
    let mut rules = vec![guess];
    rules.extend(denials);
    rules
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(text: &str) -> PermissionRule {
        let [action, resource, effect] = text.split('|').collect::<Vec<_>>()[..] else {
            panic!("{text}")
        };
        PermissionRule {
            action: action.to_owned(),
            resource: resource.to_owned(),
            effect: match effect {
                "allow" => PermissionEffect::Allow,
                "ask" => PermissionEffect::Ask,
                _ => PermissionEffect::Deny,
            },
        }
    }

    #[test]
    fn a_guess_loosens_no_denial() {
        for (before, guess, expected) in [
            (&[][..], "bash|*|ask", &["bash|*|ask"][..]),
            (&["bash|*|deny"], "bash|a|deny", &["bash|a|deny"]),
            (
                &["bash|*|deny", "bash|git *|allow"],
                "bash|a|ask",
                &["bash|a|ask", "bash|a|deny"],
            ),
            (
                &["bash|*|deny", "read|*|deny"],
                "*|/h/x|ask",
                &["*|/h/x|ask", "bash|/h/x|deny", "read|/h/x|deny"],
            ),
            // A later rule has overruled it.
            (
                &["read|*|deny", "read|/h/*|allow"],
                "*|/h/x|ask",
                &["*|/h/x|ask"],
            ),
            (
                &["*|*.env|deny"],
                "read|/h/*|ask",
                &["read|/h/*|ask", "read|*.env|deny"],
            ),
        ] {
            let before: Vec<_> = before.iter().map(|it| rule(it)).collect();
            let expected: Vec<_> = expected.iter().map(|it| rule(it)).collect();
            assert_eq!(restricting(before.iter(), rule(guess)), expected, "{guess}");
        }
    }
}
