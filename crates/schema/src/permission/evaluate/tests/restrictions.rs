//! Restrictions of a ruleset.

use proptest::prelude::*;

use super::{any_rule, names, rule};
use crate::permission::PermissionEffect::{Allow, Ask, Deny};
use crate::permission::{self, PermissionRule, Restriction, Ruleset, SavedPermission, matches};

pub(super) fn restriction(each_time: bool, rules: &[PermissionRule]) -> Restriction {
    let rules = rules.into();
    Restriction { rules, each_time }
}

#[test]
fn restrictions_only_make_effects_stricter() {
    let rules = [
        rule("*", "*", Allow),
        rule("edit", "*", Ask),
        rule("webfetch", "*", Deny),
    ];
    let restrictions = [
        restriction(
            false,
            &[rule("bash", "*", Deny), rule("bash", "git *", Allow)],
        ),
        restriction(true, &[rule("read", "*", Ask), rule("*", "x", Deny)]),
        restriction(
            false,
            &[rule("edit", "*", Allow), rule("webfetch", "*", Ask)],
        ),
    ];
    let ruleset = Ruleset {
        restrictions: &restrictions,
        ..Ruleset::of(&rules)
    };
    for (action, resource, expected) in [
        ("bash", "ls", Deny),
        ("bash", "git status", Allow),
        ("bash", "x", Deny),
        ("read", "a", Ask),
        ("read", "x", Deny),
        ("edit", "a", Ask),
        ("webfetch", "a", Deny),
        ("grep", "a", Allow),
    ] {
        let found = permission::evaluate(action, resource, &ruleset);
        assert_eq!(found, expected, "{action} {resource}");
    }
    let hidden = |action| permission::is_denied_everywhere(action, &ruleset);
    assert_eq!(
        ["bash", "webfetch", "read"].map(hidden),
        [false, true, false]
    );
}

#[test]
fn saved_permissions_do_not_answer_a_restriction_that_asks_each_time() {
    let saved = [SavedPermission {
        id: "psv_1".to_owned(),
        project_id: "p".to_owned(),
        action: "*".to_owned(),
        resource: "*".to_owned(),
    }];
    let rules = [rule("*", "*", Allow)];
    let asks = [rule("bash", "*", Ask)];
    let resources = ["ls".to_owned()];
    for (each_time, expected) in [(false, Allow), (true, Ask)] {
        let restrictions = [restriction(each_time, &asks)];
        let ruleset = Ruleset {
            restrictions: &restrictions,
            ..Ruleset::of(&rules)
        };
        let decided = permission::decide("bash", names(&resources), &ruleset, &saved);
        assert_eq!(decided, expected, "{each_time}");
    }
}

proptest! {
    #[test]
    fn no_rule_is_looser_than_a_restriction(
        rules in proptest::collection::vec(any_rule(), 0..6),
        restricted in proptest::collection::vec(any_rule(), 0..6),
        each_time: bool,
        action in "[ab]",
        resource in "[xy]",
    ) {
        let alone = Ruleset::of(&restricted);
        let restrictions = [restriction(each_time, &restricted)];
        let ruleset = Ruleset { restrictions: &restrictions, ..Ruleset::of(&rules) };
        let effect = permission::evaluate(&action, &resource, &ruleset);
        let own = permission::evaluate(&action, &resource, &Ruleset::of(&rules));
        prop_assert_eq!(effect.stricter(own), effect);
        let matched = restricted.iter().any(|it| {
            matches(&it.action, &action) && matches(&it.resource, &resource)
        });
        if matched {
            let limit = permission::evaluate(&action, &resource, &alone);
            prop_assert_eq!(effect.stricter(limit), effect);
        }
    }
}
