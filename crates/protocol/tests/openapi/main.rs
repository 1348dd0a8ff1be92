//! The OpenAPI document of this project equals that of the implemented contract, except for the listed
//! differences.

mod bus;
mod comparison;
mod differences;
mod life;
mod mcp;
mod prompts;

use std::collections::BTreeSet;

use opencode_protocol::openapi;
use serde_json::Value;

use comparison::Comparison;
use differences::{matches, patterns};

fn documents() -> (Value, Value) {
    let theirs = serde_json::from_str(include_str!("../data/openapi.json"));
    let ours = serde_json::from_str(openapi::document());
    (theirs.expect("it is JSON"), ours.expect("it is JSON"))
}

#[test]
fn the_differences_are_exactly_the_intended_ones() {
    let (theirs, ours) = documents();
    let mut met = BTreeSet::new();
    let mut unexpected = Vec::new();
    let found = Comparison::of(&theirs, &ours).into_iter();
    for difference in found.filter(|it| !is_declared(it)) {
        let intended: Vec<_> = patterns()
            .map(|(pattern, _)| pattern)
            .filter(|pattern| matches(pattern, &difference))
            .collect();
        if intended.is_empty() {
            unexpected.push(difference);
        }
        met.extend(intended);
    }
    let gone: Vec<_> = patterns()
        .filter(|(pattern, _)| !met.contains(pattern))
        .map(|(pattern, why)| format!("{pattern} ({why})"))
        .collect();
    assert!(
        unexpected.is_empty() && gone.is_empty(),
        "unintended differences:\n{}\nintended differences that do not exist:\n{}",
        unexpected.join("\n"),
        gone.join("\n"),
    );
}

/// True for what the declarations mark as an extension, and for types that OpenCode does not have: what has them is marked
/// or listed.
fn is_declared(difference: &str) -> bool {
    let is_type = |name: &str| name.chars().all(char::is_alphanumeric);
    difference.ends_with(": an extension")
        || difference.strip_suffix(": is added").is_some_and(is_type)
}

#[test]
fn every_reference_has_a_component_and_every_component_a_reference() {
    let (_, ours) = documents();
    let mut met = BTreeSet::new();
    references(&ours, &mut met);
    let components = ours["components"]["schemas"]
        .as_object()
        .expect("there are some");
    let defined: BTreeSet<&str> = components.keys().map(String::as_str).collect();
    assert_eq!(met, defined);
}

/// The components that are referred to anywhere in a document.
fn references<'a>(value: &'a Value, met: &mut BTreeSet<&'a str>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| references(item, met)),
        Value::Object(members) => {
            let target = members.get("$ref").and_then(Value::as_str);
            met.extend(target.map(|target| target.trim_start_matches("#/components/schemas/")));
            members.values().for_each(|member| references(member, met));
        }
        _ => {}
    }
}

/// The comparison finds a change anywhere in our document.
#[test]
fn the_comparison_finds_every_change() {
    let (theirs, ours) = documents();
    let known = Comparison::of(&theirs, &ours);
    for (pointer, value) in CHANGES {
        let mut changed = ours.clone();
        let place = changed.pointer_mut(pointer);
        let place = place.unwrap_or_else(|| panic!("{pointer} is nowhere"));
        let value = serde_json::from_str(value).expect("it is JSON");
        assert_ne!(*place, value, "{pointer} is this already");
        *place = value;
        assert_ne!(Comparison::of(&theirs, &changed), known, "{pointer}");
    }
}

/// Places in our document and their replacements.
const CHANGES: &[(&str, &str)] = &[
    ("/openapi", r#""3.0.0""#),
    ("/paths/~1api~1agent", r#"{}"#),
    ("/paths/~1api~1agent/get/operationId", r#""v2.agents.list""#),
    ("/paths/~1api~1agent/get/parameters", r#"[]"#),
    ("/paths/~1api~1agent/get/parameters/0/style", r#""form""#),
    ("/paths/~1api~1pty/post/requestBody/required", r#"false"#),
    ("/paths/~1api~1pty/post/requestBody/content", r#"{}"#),
    (
        "/paths/~1api~1pty/post/requestBody/content/application~1json/schema/properties/args/items/type",
        r#""number""#,
    ),
    ("/paths/~1api~1pty~1{ptyID}/get/responses/404", r#"{}"#),
    (
        "/paths/~1api~1provider~1{providerID}/get/responses/404/content/application~1json/schema/$ref",
        r##""#/components/schemas/PtyNotFoundError""##,
    ),
    ("/components/schemas/AgentV2Info/required", r#"[]"#),
    (
        "/components/schemas/AgentV2Info/properties/steps/exclusiveMinimum",
        r#"1"#,
    ),
    (
        "/components/schemas/AgentColor/anyOf/0/pattern",
        r#""^#.*$""#,
    ),
    (
        "/components/schemas/PermissionV2Effect/enum",
        r#"["allow","deny"]"#,
    ),
    (
        "/components/schemas/ProviderRequest/properties/headers/additionalProperties",
        r#"{"type":"number"}"#,
    ),
    ("/components/schemas/ReferenceSource/anyOf", r#"[]"#),
    (
        "/components/schemas/ModelV2Info/properties/variants/items",
        r#"{}"#,
    ),
    (
        "/components/schemas/V2Event/anyOf/0/$ref",
        r##""#/components/schemas/Pty""##,
    ),
];
