//! Tests of contributions: their lifetime and their order.

use opencode_context::{RegisterError, Registry, SystemContext};

use crate::support::{Fixed, context};

fn keys(context: &SystemContext) -> Vec<&str> {
    context.keys().collect()
}

fn source(key: &str) -> SystemContext {
    context([Fixed::present(key, 1)])
}

#[test]
fn contributions_are_ordered_by_their_keys() {
    let registry = Registry::default();
    let both = context([Fixed::absent("x/2"), Fixed::absent("x/1")]);
    let _late = registry
        .register("zoo/late", source("a/first-of-all"))
        .unwrap();
    let _early = registry.register("acme/early", both).unwrap();
    let own = ["core/date", "core/builtins"].map(|key| (key.to_owned(), source(key)));
    let composed = registry.compose(own).unwrap();
    assert_eq!(
        keys(&composed),
        ["x/2", "x/1", "core/builtins", "core/date", "a/first-of-all"]
    );
}

#[test]
fn a_contribution_lasts_as_long_as_its_registration() {
    let registry = Registry::default();
    let one = registry.register("acme/one", source("acme/one")).unwrap();
    let two = registry.register("acme/two", source("acme/two")).unwrap();
    drop(one);
    assert_eq!(keys(&registry.compose([]).unwrap()), ["acme/two"]);
    let one = registry.register("acme/one", source("acme/one")).unwrap();
    drop(two);
    assert_eq!(keys(&registry.compose([]).unwrap()), ["acme/one"]);
    drop(one);
    assert_eq!(keys(&registry.compose([]).unwrap()), [""; 0]);
}

#[test]
fn existing_and_reserved_keys_are_refused_without_a_change() {
    let registry = Registry::default();
    let _one = registry.register("acme/one", source("acme/rules")).unwrap();
    for (key, contribution, refusal) in [
        (
            "acme/one",
            source("acme/other"),
            RegisterError::Duplicate("acme/one".to_owned()),
        ),
        (
            "acme/two",
            source("acme/rules"),
            RegisterError::Source {
                source_key: "acme/rules".to_owned(),
                contribution: "acme/one".to_owned(),
            },
        ),
        (
            "acme",
            source("acme/other"),
            RegisterError::Key("acme".to_owned()),
        ),
        (
            "core/date",
            source("acme/other"),
            RegisterError::Key("core/date".to_owned()),
        ),
        (
            "acme/two",
            source("core/date"),
            RegisterError::Key("core/date".to_owned()),
        ),
    ] {
        let refused = registry.register(key, contribution);
        assert_eq!(refused.err(), Some(refusal));
        assert_eq!(keys(&registry.compose([]).unwrap()), ["acme/rules"]);
    }
}
