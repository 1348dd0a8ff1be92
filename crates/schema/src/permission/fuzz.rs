//! Properties of permission rules, for the fuzzer.

use super::{PermissionEffect, PermissionRule, Ruleset, evaluate, is_denied_everywhere, matches};

/// Longer patterns and texts are matched, but not compared with the slow matcher.
const MAX_COMPARED: usize = 300;

/// Reads alternating lines: a pattern, and a text to match. The lines are also the rules of one
/// action.
pub(crate) fn check(input: &[u8]) {
    let input = String::from_utf8_lossy(input);
    let lines: Vec<&str> = input.split('\n').collect();
    let mut rules = Vec::new();
    for (number, pair) in lines.chunks(2).enumerate() {
        let (pattern, text) = (pair[0], pair.get(1).copied().unwrap_or_default());
        let is_match = matches(pattern, text);
        if pattern.len() < MAX_COMPARED && text.len() < MAX_COMPARED {
            assert_eq!(
                is_match,
                matches_slowly(pattern, text),
                "{pattern:?} {text:?}"
            );
        }
        rules.push(PermissionRule {
            action: "read".to_owned(),
            resource: pattern.to_owned(),
            effect: match number % 3 {
                0 => PermissionEffect::Allow,
                1 => PermissionEffect::Deny,
                _ => PermissionEffect::Ask,
            },
        });
    }
    let ruleset = Ruleset::of(&rules);
    let everywhere = is_denied_everywhere("read", &ruleset);
    for text in lines {
        let effect = evaluate("read", text, &ruleset);
        assert!(!everywhere || effect == PermissionEffect::Deny);
        let last = rules
            .iter()
            .rev()
            .find(|rule| matches(&rule.resource, text));
        let expected = last.map_or(PermissionEffect::Ask, |rule| rule.effect);
        assert_eq!(effect, expected, "{text:?}");
    }
}

fn matches_slowly(pattern: &str, text: &str) -> bool {
    let slashes = |text: &str| -> Vec<char> { text.replace('\\', "/").chars().collect() };
    let (pattern, text) = (slashes(pattern), slashes(text));
    covers_slowly(&pattern, &text)
        || pattern
            .strip_suffix(&[' ', '*'])
            .is_some_and(|bare| covers_slowly(bare, &text))
}

/// True if the pattern covers the text. Computes it for each prefix of both.
fn covers_slowly(pattern: &[char], text: &[char]) -> bool {
    let mut covered = vec![false; text.len() + 1];
    covered[0] = true;
    for part in pattern {
        let before = covered.clone();
        for end in 0..covered.len() {
            covered[end] = match part {
                '*' => before[end] || end > 0 && covered[end - 1],
                '?' => end > 0 && before[end - 1],
                _ => end > 0 && before[end - 1] && text[end - 1] == *part,
            };
        }
    }
    covered[text.len()]
}

#[cfg(test)]
mod tests {
    use super::check;
    use crate::replay::replay;

    #[test]
    fn stored_fuzz_inputs_satisfy_the_properties_of_rules() {
        replay("rules", check);
    }
}
