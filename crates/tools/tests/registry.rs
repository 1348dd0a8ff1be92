//! Tests for the advertised tools, their names and their order.

mod common;

use common::{Scripted, registry, tools};
use opencode_tools::{Contributions, RegistrationError, Registry};

/// Returns names and descriptions of all tools in the advertised order.
fn advertised(registry: &Registry) -> Vec<(String, String)> {
    let materialized = registry.materialize("/project", |_| true);
    let definitions = materialized.definitions();
    definitions
        .map(|definition| (definition.name.clone(), definition.description.clone()))
        .collect()
}

fn named<const N: usize>(pairs: [(&str, &str); N]) -> Vec<(String, String)> {
    let pairs = pairs.into_iter();
    pairs
        .map(|(name, text)| (name.to_owned(), text.to_owned()))
        .collect()
}

#[test]
fn names_are_valid_for_every_provider() {
    let longest = "a".repeat(64);
    let too_long = "a".repeat(65);
    for (name, accepted) in [
        ("read", true),
        ("A", true),
        ("a-b_C9", true),
        (longest.as_str(), true),
        (too_long.as_str(), false),
        ("", false),
        ("9a", false),
        ("_a", false),
        ("-a", false),
        ("a b", false),
        ("a.b", false),
        ("größe", false),
        ("a\n", false),
        ("a\0", false),
    ] {
        let refused = RegistrationError {
            name: name.to_owned(),
        };
        assert_eq!(refused.to_string(), format!("Invalid tool name: {name}"));
        let result = Contributions::default().register(tools(vec![(name, Scripted::named("x"))]));
        assert_eq!(result.err(), (!accepted).then_some(refused));
    }
}

#[test]
fn one_invalid_name_registers_nothing() {
    let temp = tempfile::tempdir().unwrap();
    let registry = registry(&Contributions::default(), temp.path());
    let result = registry.host().register(tools(vec![
        ("good", Scripted::named("x")),
        ("not good", Scripted::named("x")),
    ]));
    let name = "not good".to_owned();
    assert_eq!(result.err(), Some(RegistrationError { name }));
    assert_eq!(advertised(&registry), []);
    let empty = registry.host().register(vec![]).unwrap();
    assert_eq!(advertised(&registry), []);
    drop(empty);
}

#[test]
fn a_registration_lasts_until_it_is_dropped_and_restores_the_one_before() {
    let temp = tempfile::tempdir().unwrap();
    let registry = registry(&Contributions::default(), temp.path());
    let register = |pairs| registry.register_in("/project", tools(pairs)).unwrap();

    let first = register(vec![
        ("a", Scripted::named("a1")),
        ("b", Scripted::named("b1")),
    ]);
    let second = register(vec![
        ("a", Scripted::named("a2")),
        ("c", Scripted::named("c2")),
    ]);
    let third = register(vec![("a", Scripted::named("a3"))]);
    assert_eq!(
        advertised(&registry),
        named([("a", "a3"), ("b", "b1"), ("c", "c2")])
    );
    drop(second);
    assert_eq!(advertised(&registry), named([("a", "a3"), ("b", "b1")]));
    drop(third);
    assert_eq!(advertised(&registry), named([("a", "a1"), ("b", "b1")]));
    let fourth = register(vec![("a", Scripted::named("a4"))]);
    drop(first);
    assert_eq!(advertised(&registry), named([("a", "a4")]));
    drop(fourth);
    assert_eq!(advertised(&registry), []);
}

#[test]
fn tools_of_all_locations_are_first_and_tools_of_a_location_replace_them() {
    let temp = tempfile::tempdir().unwrap();
    let host = Contributions::default();
    let registry = registry(&host, temp.path());
    let pairs = vec![
        ("read", Scripted::named("location")),
        ("z", Scripted::named("location")),
    ];
    let location = registry.register_in("/project", tools(pairs)).unwrap();
    let pairs = vec![
        ("y", Scripted::named("everywhere")),
        ("read", Scripted::named("everywhere")),
        ("x", Scripted::named("everywhere")),
    ];
    let everywhere = host.register(tools(pairs)).unwrap();

    let both = [
        ("y", "everywhere"),
        ("read", "location"),
        ("x", "everywhere"),
        ("z", "location"),
    ];
    assert_eq!(advertised(&registry), named(both));
    drop(location);
    let alone = [
        ("y", "everywhere"),
        ("read", "everywhere"),
        ("x", "everywhere"),
    ];
    assert_eq!(advertised(&registry), named(alone));
    drop(everywhere);
    assert_eq!(advertised(&registry), []);
}

#[test]
fn a_registration_may_outlive_its_tools() {
    let contributions = Contributions::default();
    let registration = contributions.register(tools(vec![("a", Scripted::named("x"))]));
    drop(contributions);
    drop(registration.unwrap());
}

#[test]
fn the_filter_receives_the_permission_action() {
    let temp = tempfile::tempdir().unwrap();
    let registry = registry(&Contributions::default(), temp.path());
    let pairs = vec![
        ("write", Scripted::named("x").with_permission("edit")),
        ("edit", Scripted::named("x")),
        ("bash", Scripted::named("x")),
    ];
    let _registration = registry.host().register(tools(pairs)).unwrap();
    for (hidden, expected) in [
        ("edit", &["bash"][..]),
        ("write", &["write", "edit", "bash"]),
        ("bash", &["write", "edit"]),
    ] {
        let materialized = registry.materialize("/project", |action| action != hidden);
        let names: Vec<_> = materialized
            .definitions()
            .map(|one| one.name.as_str())
            .collect();
        assert_eq!(names, expected, "without {hidden}");
    }
}

#[test]
fn an_unchanged_tool_has_the_same_definition_in_every_turn() {
    let temp = tempfile::tempdir().unwrap();
    let registry = registry(&Contributions::default(), temp.path());
    let pairs = vec![("a", Scripted::named("x"))];
    let _registration = registry.host().register(tools(pairs)).unwrap();
    let [first, second] = [
        registry.materialize("/project", |_| true),
        registry.materialize("/project", |_| true),
    ];
    let mut pairs = first.definitions().zip(second.definitions());
    assert!(pairs.all(|(one, other)| std::sync::Arc::ptr_eq(one, other)));
}

#[test]
fn the_tools_of_a_location_are_not_advertised_in_others() {
    let temp = tempfile::tempdir().unwrap();
    let registry = registry(&Contributions::default(), temp.path());
    let one = tools(vec![("a", Scripted::named("other"))]);
    let other = registry.register_in("/other", one).unwrap();
    assert_eq!(advertised(&registry), []);
    drop(other);
    let one = tools(vec![("a", Scripted::named("here"))]);
    let _here = registry.register_in("/project", one).unwrap();
    assert_eq!(advertised(&registry), named([("a", "here")]));
}
