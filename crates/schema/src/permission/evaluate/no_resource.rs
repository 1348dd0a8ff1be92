//! Actions on no resource: they may use every resource.

use proptest::prelude::*;

use super::{NamedResource, PermissionRule, Restriction, Ruleset, SavedPermission, decide};
use crate::permission::PermissionEffect::{self, Allow, Ask, Deny};

fn rules(texts: &[&str]) -> Vec<PermissionRule> {
    let rule = |text: &&str| {
        let words: Vec<_> = text.split(' ').collect();
        PermissionRule {
            action: words[0].to_owned(),
            resource: words[1].to_owned(),
            effect: match words[2] {
                "allow" => Allow,
                "ask" => Ask,
                _ => Deny,
            },
        }
    };
    texts.iter().map(rule).collect()
}

fn saved(resource: &str) -> SavedPermission {
    SavedPermission {
        id: "psv_1".to_owned(),
        project_id: "p".to_owned(),
        action: "*".to_owned(),
        resource: resource.to_owned(),
    }
}

fn restriction(rules: &[PermissionRule], each_time: bool) -> [Restriction; 1] {
    [Restriction {
        rules: rules.into(),
        each_time,
    }]
}

#[test]
fn no_resource_is_every_resource() {
    let nothing = &[][..];
    for (configured, restricted, expected) in [
        (&["a * allow"][..], nothing, Allow),
        (&["a * ask"], nothing, Ask),
        (&["a * deny"], nothing, Deny),
        (&["* * allow", "a x deny"], nothing, Deny),
        (&["* * allow", "a x ask", "a y deny"], nothing, Deny),
        (&["a x deny", "a * allow"], nothing, Allow),
        (&["a x deny", "a x allow", "a y ask"], nothing, Ask),
        (&["* * allow", "a x deny", "a x allow"], nothing, Allow),
        (&["* * allow", "b x deny"], nothing, Allow),
        // The rules do not decide about other resources.
        (&["a x allow"], nothing, Ask),
        (&[], nothing, Ask),
        (&["a * allow"], &["a * ask"], Ask),
        (&["a * allow"], &["a x deny"], Deny),
        (&["a * ask"], &["a * allow"], Ask),
    ] {
        let (configured, restricted) = (rules(configured), rules(restricted));
        let restrictions = restriction(&restricted, false);
        let ruleset = Ruleset {
            restrictions: &restrictions,
            ..Ruleset::of(&configured)
        };
        for none in [&[][..], &[NamedResource::from("")]] {
            let decided = decide("a", none.iter().copied(), &ruleset, &[]);
            assert_eq!(decided, expected, "{configured:?} {restricted:?}");
        }
    }
}

#[test]
fn only_an_approval_of_every_resource_answers_for_no_resource() {
    let configured = rules(&["a * ask"]);
    for (approved, each_time, expected) in [
        ("x", false, Ask),
        ("?", false, Ask),
        ("*", false, Allow),
        ("*", true, Ask),
    ] {
        let restrictions = restriction(&rules(&["a * ask"]), each_time);
        let ruleset = Ruleset {
            restrictions: &restrictions,
            ..Ruleset::of(&configured)
        };
        let decided = decide("a", [], &ruleset, &[saved(approved)]);
        assert_eq!(decided, expected, "{approved} {each_time}");
    }
}

fn any_rule() -> impl Strategy<Value = PermissionRule> {
    let effect = prop_oneof![Just(Allow), Just(Ask), Just(Deny)];
    ("[ab*]", "[xy*]", effect).prop_map(|(action, resource, effect)| PermissionRule {
        action,
        resource,
        effect,
    })
}

proptest! {
    #[test]
    fn no_resource_is_as_strict_as_any_resource(
        configured in prop::collection::vec(any_rule(), 0..6),
        restricted in prop::collection::vec(any_rule(), 0..4),
        approved in prop::option::of("[xy*]"),
        each_time: bool,
        resource in "[xyz]",
    ) {
        let restrictions = restriction(&restricted, each_time);
        let ruleset = Ruleset { restrictions: &restrictions, ..Ruleset::of(&configured) };
        let approved: Vec<_> = approved.iter().map(|it| saved(it)).collect();
        let decided = |resources: &[NamedResource<'_>]| -> PermissionEffect {
            decide("a", resources.iter().copied(), &ruleset, &approved)
        };
        let every = decided(&[]);
        prop_assert_eq!(every.stricter(decided(&[resource.as_str().into()])), every);
    }
}
