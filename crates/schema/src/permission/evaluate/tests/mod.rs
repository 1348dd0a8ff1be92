mod restrictions;

use proptest::prelude::*;

use self::restrictions::restriction;
use super::{NamedResource, PermissionRule, Ruleset, SavedPermission, matches};
use crate::permission::PermissionEffect::{self, Allow, Ask, Deny};

/// Wrappers of the functions, without restrictions.
fn evaluate(action: &str, resource: &str, rules: &[PermissionRule]) -> PermissionEffect {
    super::evaluate(action, resource, &Ruleset::of(rules))
}

fn decide(
    action: &str,
    resources: &[String],
    rules: &[PermissionRule],
    saved: &[SavedPermission],
) -> PermissionEffect {
    super::decide(action, names(resources), &Ruleset::of(rules), saved)
}

fn names(resources: &[String]) -> impl Iterator<Item = NamedResource<'_>> {
    resources.iter().map(|name| name.as_str().into())
}

fn is_denied_everywhere(action: &str, rules: &[PermissionRule]) -> bool {
    super::is_denied_everywhere(action, &Ruleset::of(rules))
}

fn rule(action: &str, resource: &str, effect: PermissionEffect) -> PermissionRule {
    PermissionRule {
        action: action.to_owned(),
        resource: resource.to_owned(),
        effect,
    }
}

#[test]
fn patterns_match_like_wildcards() {
    for (pattern, text, expected) in [
        ("", "", true),
        ("", "a", false),
        ("a", "a", true),
        ("a", "A", false),
        ("a", "ab", false),
        ("b", "ab", false),
        ("*", "", true),
        ("*", "a/b\nc", true),
        ("**", "a", true),
        ("a*", "a", true),
        ("a*", "ba", false),
        ("*a", "ba", true),
        ("*a", "ab", false),
        ("a*a", "a", false),
        ("a*a", "aa", true),
        ("*a*", "bab", true),
        ("a*b*c", "aXbYbZc", true),
        ("a*b*c", "acb", false),
        ("*.env", ".env", true),
        ("*.env.*", "a/.env.local", true),
        ("*.env.*", ".env", false),
        ("?", "ä", true),
        ("?", "", false),
        ("?", "ab", false),
        ("a?c", "a/c", true),
        ("a?c", "a\nc", true),
        ("*?b*", "ab", true),
        ("*?b*", "b", false),
        ("*??", "a", false),
        ("a.c", "abc", false),
        ("[a]", "a", false),
        ("(a|b)", "(a|b)", true),
        ("$^", "$^", true),
        // A space and a star at the end of the pattern.
        ("git *", "git", true),
        ("git *", "git ", true),
        ("git *", "git push", true),
        ("git *", "gitx", false),
        ("git *", "git\tpush", false),
        ("npm run*", "npm runner", true),
        ("git * *", "git push", true),
        ("git * *", "git", false),
        ("* *", "anything", true),
        (" *", "", true),
        ("g?t *", "got", true),
        ("git *x", "git", false),
        ("git *\n", "git", false),
        // A backslash equals a slash.
        (r"a\b", "a/b", true),
        ("a/b", r"a\b", true),
        (r"C:\*", "C:/x", true),
        (r"a\*", "a*", false),
        (r"git\ *", "git/", true),
    ] {
        assert_eq!(matches(pattern, text), expected, "{pattern:?} on {text:?}");
    }
}

/// Implements the definition directly, character by character.
fn matches_by_definition(pattern: &[char], text: &[char]) -> bool {
    match pattern {
        [] => text.is_empty(),
        ['*', rest @ ..] => {
            matches_by_definition(rest, text)
                || (!text.is_empty() && matches_by_definition(pattern, &text[1..]))
        }
        [expected, rest @ ..] => {
            let found = text.first();
            found.is_some_and(|found| *expected == '?' || expected == found)
                && matches_by_definition(rest, &text[1..])
        }
    }
}

fn oracle(pattern: &str, text: &str) -> bool {
    let characters = |text: &str| -> Vec<char> { text.replace('\\', "/").chars().collect() };
    let (pattern, text) = (characters(pattern), characters(text));
    let bare = pattern.strip_suffix(&[' ', '*']);
    matches_by_definition(&pattern, &text)
        || bare.is_some_and(|bare| matches_by_definition(bare, &text))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4000, ..ProptestConfig::default() })]

    #[test]
    fn a_pattern_follows_its_definition(
        pattern in "[abä/\\\\ *?\n]{0,8}",
        text in "[abä/\\\\ *?\n]{0,10}",
    ) {
        prop_assert_eq!(matches(&pattern, &text), oracle(&pattern, &text));
    }

    #[test]
    fn every_pattern_without_stars_matches_itself(text in ".{0,40}") {
        prop_assert!(matches(&text, &text));
    }

    #[test]
    fn a_decision_is_made_in_two_steps(
        configured in prop::collection::vec(("[ab*]", "[xy*]", 0..3_usize), 0..6),
        approved in prop::collection::vec(("[ab*]", "[xy*]"), 0..4),
        resources in prop::collection::vec("[xyz]", 1..4),
    ) {
        let configured: Vec<_> = configured
            .iter()
            .map(|(action, resource, effect)| rule(action, resource, [Allow, Deny, Ask][*effect]))
            .collect();
        let mut all = configured.clone();
        all.extend(approved.iter().map(|(action, resource)| rule(action, resource, Allow)));
        let effects = |rules: &[PermissionRule]| -> Vec<_> {
            resources.iter().map(|it| evaluate("a", it, rules)).collect()
        };
        let (first, second) = (effects(&configured), effects(&all));
        let expected = if first.contains(&Deny) {
            Deny
        } else if second.contains(&Ask) {
            Ask
        } else {
            Allow
        };
        let saved: Vec<_> = approved.iter().map(|(action, resource)| saved(action, resource)).collect();
        prop_assert_eq!(decide("a", &resources, &configured, &saved), expected);
    }

    #[test]
    fn hostile_texts_take_linear_time(pattern in any::<String>(), text in any::<String>()) {
        matches(&pattern, &text);
    }

    #[test]
    fn only_the_last_matching_rule_counts(
        rules in prop::collection::vec(("[ab*]", "[xy*]", 0..3_usize), 0..8),
        action in "[ab]",
        resource in "[xy]",
    ) {
        let rules: Vec<_> = rules
            .iter()
            .map(|(action, resource, effect)| rule(action, resource, [Allow, Deny, Ask][*effect]))
            .collect();
        let mut expected = Ask;
        for rule in &rules {
            if oracle(&rule.action, &action) && oracle(&rule.resource, &resource) {
                expected = rule.effect;
            }
        }
        prop_assert_eq!(evaluate(&action, &resource, &rules), expected);
    }
}

#[test]
fn long_texts_and_patterns_are_matched_quickly() {
    let text = "a".repeat(100_000);
    let began = std::time::Instant::now();
    assert!(!matches(&format!("{}b", "a*".repeat(1_000)), &text));
    assert!(!matches(&"*aaaaaaaab".repeat(1_000), &text));
    assert!(!matches(&format!("*{}b*", "?".repeat(100)), &text));
    // Backtracking at every star would take years.
    assert!(began.elapsed().as_secs() < 10);
}

#[test]
fn the_last_rule_decides_over_more_specific_rules() {
    let rules = [
        rule("*", "*", Allow),
        rule("bash", "git push origin main", Allow),
        rule("bash", "git *", Deny),
        rule("read", "*.env", Ask),
        rule("read", "*", Allow),
        rule("web*", "*", Deny),
    ];
    for (action, resource, expected) in [
        ("bash", "git push origin main", Deny),
        ("bash", "git", Deny),
        ("bash", "ls", Allow),
        ("read", ".env", Allow),
        ("webfetch", "https://x", Deny),
        ("other", "", Allow),
    ] {
        let effect = evaluate(action, resource, &rules);
        assert_eq!(effect, expected, "{action} {resource}");
    }
    assert_eq!(evaluate("bash", "ls", &[]), Ask);
    assert_eq!(evaluate("edit", "x", &rules[1..3]), Ask);
}

fn saved(action: &str, resource: &str) -> SavedPermission {
    SavedPermission {
        id: "psv_1".to_owned(),
        project_id: "p".to_owned(),
        action: action.to_owned(),
        resource: resource.to_owned(),
    }
}

#[test]
fn a_decision_covers_all_resources() {
    let configured = [
        rule("edit", "*", Ask),
        rule("edit", "docs/*", Allow),
        rule("edit", "docs/secret", Deny),
    ];
    let everything = [saved("*", "*")];
    let sources = [saved("edit", "src/*"), saved("read", "*")];
    let none: &[SavedPermission] = &[];
    for (resources, saved, expected) in [
        (&["docs/a"][..], none, Allow),
        (&["a"], none, Ask),
        (&["docs/a", "a"], none, Ask),
        (&["a", "docs/secret"], none, Deny),
        (&["docs/secret"], &everything, Deny),
        (&["a", "docs/secret"], &everything, Deny),
        (&["a", "docs/a"], &everything, Allow),
        (&["src/a", "src/b"], &sources, Allow),
        (&["src/a", "b"], &sources, Ask),
        (&["docs/a"], &sources, Allow),
    ] {
        let owned: Vec<String> = resources.iter().map(|it| (*it).to_owned()).collect();
        let decision = decide("edit", &owned, &configured, saved);
        assert_eq!(decision, expected, "{resources:?} with {saved:?}");
    }
}

#[test]
fn an_action_is_denied_everywhere_by_its_last_rule_alone() {
    let docs = [rule("edit", "*", Deny), rule("edit", "docs/**", Allow)];
    for (rules, expected) in [
        (&[][..], false),
        (&[rule("edit", "*", Deny)], true),
        (&[rule("*", "*", Deny)], true),
        (&[rule("ed*", "*", Deny)], true),
        (&[rule("read", "*", Deny)], false),
        (&[rule("edit", "**", Deny)], false),
        (&docs, false),
        (&[docs[1].clone(), docs[0].clone()], true),
        (&[rule("*", "*", Deny), rule("edit", "*", Ask)], false),
        (&[rule("edit", "*", Deny), rule("read", "*", Allow)], true),
        (&[rule("edit", "*", Deny), rule("*", "*", Allow)], false),
    ] {
        assert_eq!(is_denied_everywhere("edit", rules), expected, "{rules:?}");
    }
}

#[test]
fn restrictions_in_a_list_only_make_effects_stricter() {
    let effects = [Allow, Ask, Deny];
    for (own, restricting) in effects.iter().flat_map(|own| effects.map(|it| (*own, it))) {
        let rules = [
            rule("bash", "*", own),
            PermissionRule::RESTRICTION,
            rule("bash", "*", restricting),
        ];
        let expected = own.stricter(restricting);
        assert_eq!(evaluate("bash", "ls", &rules), expected, "{rules:?}");
        // A restriction about another action has no effect, and neither have rules that the list before it has.
        assert_eq!(evaluate("bash", "ls", &rules[..1]), own);
        let other = [
            rule("bash", "*", own),
            PermissionRule::RESTRICTION,
            rule("edit", "*", restricting),
        ];
        assert_eq!(evaluate("bash", "ls", &other), own);
        assert_eq!(evaluate("edit", "a", &other), Ask.stricter(restricting));
        // A limit after a restriction still only denies.
        let limited = [&rules[..], &[PermissionRule::LIMIT, rule("bash", "*", Ask)]].concat();
        assert_eq!(evaluate("bash", "ls", &limited), expected);
    }
    // The marker itself matches nothing.
    assert_eq!(
        evaluate(
            "",
            "",
            &[rule("*", "*", Allow), PermissionRule::RESTRICTION]
        ),
        Allow
    );
}

#[test]
fn limits_only_deny() {
    let rules = [
        rule("read", "*", Allow),
        rule("read", "x*", Ask),
        rule("edit", "*", Deny),
        PermissionRule::LIMIT,
        rule("*", "*", Deny),
        rule("read", "*a*", Allow),
        rule("edit", "*", Allow),
        PermissionRule::LIMIT,
        rule("read", "*b*", Deny),
        rule("read", "*bb*", Ask),
        PermissionRule::LIMIT,
    ];
    for (action, resource, expected) in [
        ("read", "a", Allow),
        ("read", "xa", Ask),
        ("read", "c", Deny),
        ("read", "ab", Deny),
        ("read", "abb", Allow),
        ("edit", "a", Deny),
        ("bash", "a", Deny),
    ] {
        assert_eq!(
            evaluate(action, resource, &rules),
            expected,
            "{action} {resource}"
        );
    }
    let hidden = ["read", "edit", "bash"].map(|action| is_denied_everywhere(action, &rules));
    assert_eq!(hidden, [false, true, true]);
    let limited = [PermissionRule::LIMIT, rule("read", "*", Allow)];
    assert_eq!(evaluate("read", "a", &limited), Ask);
    // The limit marker itself matches nothing.
    assert_eq!(evaluate("", "", &[PermissionRule::LIMIT]), Ask);
}

#[test]
fn a_rule_about_another_name_restricts() {
    for (rules, real, named) in [
        // By the link, by the real path.
        (&[("/link/*", Deny)][..], Ask, Deny),
        (&[("*", Allow), ("/link/*", Deny)], Allow, Deny),
        (&[("*", Allow), ("/link/*", Ask)], Allow, Ask),
        (&[("*", Deny), ("/real/*", Allow)], Allow, Allow),
        (&[("/link/*", Deny), ("*", Allow)], Allow, Allow),
        (&[("/link/*", Deny), ("/real/*", Allow)], Allow, Deny),
        (&[("/real/*", Deny), ("/link/*", Allow)], Deny, Deny),
        (&[("*", Deny), ("/link/*", Allow)], Deny, Deny),
        (
            &[("*", Deny), ("/link/*", Allow), ("/real/*", Allow)],
            Allow,
            Allow,
        ),
        (
            &[
                ("*", Ask),
                ("/link/*", Deny),
                ("/link/a", Allow),
                ("/real/a", Allow),
            ],
            Allow,
            Allow,
        ),
    ] {
        let rules: Vec<_> = rules
            .iter()
            .map(|(resource, effect)| rule("read", resource, *effect))
            .collect();
        let others = ["/link/a".to_owned()];
        let resource = NamedResource {
            name: "/real/a",
            others: &others,
        };
        let lists = [&rules[..], &[PermissionRule::LIMIT], &rules].concat();
        for all in [&rules[..], &lists] {
            assert_eq!(evaluate("read", "/real/a", all), real, "{rules:?}");
            let found = super::evaluate_names("read", resource, &Ruleset::of(all));
            assert_eq!(found, named, "{rules:?}");
        }
        let allowed = [rule("*", "*", Allow)];
        let restrictions = [restriction(false, &rules)];
        let restricted = Ruleset {
            restrictions: &restrictions,
            ..Ruleset::of(&allowed)
        };
        let found = super::evaluate_names("read", resource, &restricted);
        assert_eq!(found, named, "{rules:?}");
    }
}

#[test]
fn the_home_directory_replaces_its_names() {
    for (action, resource, expected) in [
        ("read", "~", "/h/u"),
        ("read", "~/a", "/h/u/a"),
        ("edit", "$HOME", "/h/u"),
        ("edit", "$HOME/*", "/h/u/*"),
        ("external_directory", "~/x/*", "/h/u/x/*"),
        ("read", r"~\a", r"/h/u\a"),
        ("read", "~other/a", "~other/a"),
        ("read", "$HOMER/a", "$HOMER/a"),
        ("read", "/x/~", "/x/~"),
        ("read", "a/$HOME", "a/$HOME"),
        ("bash", "~/a", "~/a"),
        ("*", "~/a", "~/a"),
        ("read*", "~/a", "~/a"),
    ] {
        for home in ["/h/u", "/h/u/"] {
            let expanded = rule(action, resource, Ask).with_home(home);
            assert_eq!(expanded, rule(action, expected, Ask));
        }
        let rule = rule(action, resource, Ask);
        assert_eq!(rule.clone().with_home(""), rule);
    }
}

fn any_rule() -> impl Strategy<Value = PermissionRule> {
    let effect = prop_oneof![Just(Allow), Just(Ask), Just(Deny)];
    ("[ab*]", "[xy*]", effect)
        .prop_map(|(action, resource, effect)| rule(&action, &resource, effect))
}
