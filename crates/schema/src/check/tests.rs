use serde_json::{Value, json};

use super::{Issue, Nulls, check};

/// Returns a schema with every supported keyword.
fn schema() -> Value {
    json!({
        "$ref": "#/$defs/Payload",
        "$defs": {
            "Payload": {
                "type": "object",
                "required": ["prompt"],
                "properties": {
                    "id": { "type": ["string", "null"], "pattern": "^msg_" },
                    "prompt": { "$ref": "#/$defs/Prompt" },
                    "delivery": { "anyOf": [{ "$ref": "#/$defs/Delivery" }, { "type": "null" }] },
                    "limit": { "type": "integer", "allOf": [{ "minimum": 1 }, { "maximum": 200 }] },
                    "after": { "type": "number", "exclusiveMinimum": 0 },
                    "location": { "anyOf": [{ "$ref": "#/$defs/LocationRef" }, { "type": "null" }] },
                    "tags": { "type": "array", "items": { "enum": ["a", 1] } },
                    "env": { "type": "object", "additionalProperties": { "type": "string" } },
                    "message": { "$ref": "#/$defs/Message" },
                    "either": { "anyOf": [
                        { "type": "object", "required": ["x"] },
                        { "type": "object", "required": ["y"] },
                        { "type": "boolean" },
                    ] },
                    "twins": { "oneOf": [
                        { "type": "object", "properties": { "k": { "const": 1 } }, "required": ["k", "x"] },
                        { "type": "object", "properties": { "k": { "const": 1 } }, "required": ["k", "y"] },
                    ] },
                    "never": false,
                    "resume": { "type": "boolean" },
                    "pattern": { "type": "string", "pattern": "^[a-z]+$" },
                },
            },
            "Prompt": {
                "type": "object",
                "properties": { "text": { "type": "string" } },
                "required": ["text"],
            },
            "Delivery": { "oneOf": [
                { "type": "string", "const": "steer" },
                { "type": "string", "const": "queue" },
            ] },
            "LocationRef": {
                "type": "object",
                "properties": { "directory": { "type": "string" } },
                "required": ["directory"],
            },
            "Message": { "oneOf": [
                {
                    "type": "object",
                    "properties": { "type": { "const": "user" }, "text": { "type": "string" } },
                    "required": ["type", "text"],
                },
                {
                    "$ref": "#/$defs/Assistant",
                    "type": "object",
                    "properties": { "type": { "const": "assistant" } },
                    "required": ["type"],
                },
            ] },
            "Assistant": {
                "type": "object",
                "properties": { "content": { "type": "array", "items": { "$ref": "#/$defs/Message" } } },
                "required": ["content"],
            },
        },
    })
}

/// Returns the problem of a payload with these members and a valid prompt.
fn problem(members: Value) -> Option<String> {
    let mut payload = json!({ "prompt": { "text": "hi" } });
    let object = payload.as_object_mut().unwrap();
    object.extend(members.as_object().unwrap().clone());
    check(&schema(), &payload, Nulls::Absent)
        .err()
        .map(|issue| issue.to_string())
}

#[test]
fn valid_values_are_accepted() {
    for members in [
        json!({}),
        json!({ "unknown": { "deep": [1] } }),
        json!({ "id": "msg_", "delivery": "queue", "limit": 200, "after": 0.5 }),
        json!({ "id": null, "delivery": null, "location": null }),
        json!({ "location": { "directory": "/w", "more": 1 }, "tags": ["a", 1], "env": { "A": "b" } }),
        json!({ "limit": 3.0, "resume": false, "pattern": "no regular expressions here: 5" }),
        json!({ "either": { "y": 1 } }),
        json!({ "either": true }),
        json!({ "twins": { "k": 1, "y": 0 } }),
        json!({ "message": { "type": "user", "text": "hi" } }),
        json!({ "message": { "type": "assistant", "content": [{ "type": "assistant", "content": [] }] } }),
    ] {
        assert_eq!(problem(members.clone()), None, "{members}");
        let mut payload = members;
        payload["prompt"] = json!({ "text": "hi" });
        assert_eq!(check(&schema(), &payload, Nulls::Values), Ok(()));
    }
}

#[test]
fn the_first_problem_is_reported_as_text() {
    for (members, text) in [
        (
            json!({ "prompt": null }),
            "Expected Prompt, got null\n  at [\"prompt\"]",
        ),
        (
            json!({ "prompt": {} }),
            "Missing key\n  at [\"prompt\"][\"text\"]",
        ),
        (
            json!({ "prompt": { "text": 5 } }),
            "Expected string, got 5\n  at [\"prompt\"][\"text\"]",
        ),
        (
            json!({ "id": 5 }),
            "Expected string | null, got 5\n  at [\"id\"]",
        ),
        (
            json!({ "id": "foo" }),
            "Expected a string starting with \"msg_\", got \"foo\"\n  at [\"id\"]",
        ),
        (
            json!({ "delivery": "later" }),
            "Expected \"steer\" | \"queue\", got \"later\"\n  at [\"delivery\"]",
        ),
        (
            json!({ "delivery": 1 }),
            "Expected \"steer\" | \"queue\" | null, got 1\n  at [\"delivery\"]",
        ),
        (
            json!({ "limit": "x" }),
            "Expected number, got \"x\"\n  at [\"limit\"]",
        ),
        (
            json!({ "limit": 0.5 }),
            "Expected an integer, got 0.5\n  at [\"limit\"]",
        ),
        (
            json!({ "limit": u64::MAX }),
            "Expected an integer, got 18446744073709551615\n  at [\"limit\"]",
        ),
        (
            json!({ "limit": 1e300 }),
            "Expected an integer, got 1e+300\n  at [\"limit\"]",
        ),
        (
            json!({ "limit": 0 }),
            "Expected a value greater than or equal to 1, got 0\n  at [\"limit\"]",
        ),
        (
            json!({ "limit": 201 }),
            "Expected a value less than or equal to 200, got 201\n  at [\"limit\"]",
        ),
        (
            json!({ "after": 0 }),
            "Expected a value greater than 0, got 0\n  at [\"after\"]",
        ),
        (
            json!({ "location": "/w" }),
            "Expected LocationRef | null, got \"/w\"\n  at [\"location\"]",
        ),
        (
            json!({ "tags": "A" }),
            "Expected array, got \"A\"\n  at [\"tags\"]",
        ),
        (
            json!({ "tags": ["a", 2] }),
            "Expected \"a\" | 1, got 2\n  at [\"tags\"][1]",
        ),
        (
            json!({ "env": { "A b": 1 } }),
            "Expected string, got 1\n  at [\"env\"][\"A b\"]",
        ),
        (
            json!({ "either": {} }),
            "Expected object | object | boolean, got {}\n  at [\"either\"]",
        ),
        (
            json!({ "never": [{ "a": 1, "b": [] }] }),
            "Expected nothing, got [{\"a\":1,\"b\":[]}]\n  at [\"never\"]",
        ),
        (
            json!({ "message": {} }),
            "Missing key\n  at [\"message\"][\"type\"]",
        ),
        (
            json!({ "message": { "type": 1 } }),
            "Expected \"user\" | \"assistant\", got 1\n  at [\"message\"][\"type\"]",
        ),
        (
            json!({ "message": { "type": "assistant", "content": [{ "type": "user" }] } }),
            "Missing key\n  at [\"message\"][\"content\"][0][\"text\"]",
        ),
    ] {
        assert_eq!(problem(members.clone()).as_deref(), Some(text), "{members}");
    }
}

#[test]
fn a_problem_of_the_whole_value_has_no_path() {
    for (value, text) in [
        (json!(null), "Expected Payload, got null"),
        (json!("a\"b"), "Expected Payload, got \"a\\\"b\""),
        (json!([1, 2]), "Expected Payload, got [1,2]"),
    ] {
        let issue = check(&schema(), &value, Nulls::Values).unwrap_err();
        assert_eq!(issue.to_string(), text);
    }
    let anonymous = json!({ "type": "object" });
    let issue = check(&anonymous, &json!(5), Nulls::Values).unwrap_err();
    assert_eq!(issue.to_string(), "Expected object, got 5");
}

#[test]
fn a_null_means_absent_only_for_members_of_the_top_object() {
    let schema = json!({
        "properties": {
            "a": { "type": ["string", "null"], "enum": ["x"] },
            "b": { "type": ["string", "null"], "enum": [""] },
            "c": { "properties": { "d": { "type": "string" } } },
            "bound": { "type": "integer" },
        },
        "required": ["b"],
    });
    let fits = |value: &Value, nulls| check(&schema, value, nulls).is_ok();
    let optional = json!({ "a": null, "b": "" });
    assert!(fits(&optional, Nulls::Absent));
    assert!(!fits(&optional, Nulls::Values));
    assert!(!fits(&json!({ "b": null }), Nulls::Absent));
    assert!(!fits(&json!({ "b": "", "bound": null }), Nulls::Absent));
    assert!(!fits(
        &json!({ "b": "", "c": { "d": null } }),
        Nulls::Absent
    ));
}

#[test]
fn problems_of_optional_members_mention_undefined() {
    let schema = json!({
        "$defs": { "Object": { "type": "object" } },
        "properties": {
            "required": { "type": "string" },
            "plain": { "type": "boolean" },
            "bound": { "type": "integer", "minimum": 1 },
            "object": { "$ref": "#/$defs/Object" },
            "enum": { "enum": ["a", 1] },
            "union": { "anyOf": [{ "const": 1 }, { "const": 2 }] },
            "tried": { "anyOf": [
                { "properties": { "a": { "type": "string" } } },
                { "properties": { "a": { "type": "boolean" } } },
            ] },
            "items": { "type": "array", "items": { "type": "string" } },
            "deep": { "properties": {
                "plain": { "type": ["boolean", "null"] },
                "required": { "type": "string" },
            }, "required": ["required"] },
        },
        "required": ["required"],
    });
    for (name, member, text) in [
        (
            "required",
            json!(1),
            "Expected string, got 1\n  at [\"required\"]",
        ),
        (
            "plain",
            json!("yes"),
            "Expected boolean | undefined, got \"yes\"\n  at [\"plain\"]",
        ),
        (
            "plain",
            json!(null),
            "Expected boolean | undefined, got null\n  at [\"plain\"]",
        ),
        (
            "bound",
            json!("1"),
            "Expected number | undefined, got \"1\"\n  at [\"bound\"]",
        ),
        (
            "bound",
            json!(0),
            "Expected a value greater than or equal to 1, got 0\n  at [\"bound\"]",
        ),
        (
            "object",
            json!([]),
            "Expected Object | undefined, got []\n  at [\"object\"]",
        ),
        (
            "enum",
            json!(2),
            "Expected \"a\" | 1 | undefined, got 2\n  at [\"enum\"]",
        ),
        (
            "union",
            json!(3),
            "Expected 1 | 2 | undefined, got 3\n  at [\"union\"]",
        ),
        (
            "tried",
            json!({ "a": 1 }),
            "Expected a value | a value | undefined, got {\"a\":1}\n  at [\"tried\"]",
        ),
        (
            "items",
            json!([1]),
            "Expected string, got 1\n  at [\"items\"][0]",
        ),
        (
            "deep",
            json!({ "plain": 1 }),
            "Expected boolean | null | undefined, got 1\n  at [\"deep\"][\"plain\"]",
        ),
        (
            "deep",
            json!({ "plain": true, "required": 1 }),
            "Expected string, got 1\n  at [\"deep\"][\"required\"]",
        ),
    ] {
        let mut value = json!({ "required": "" });
        value[name] = member;
        let issue = check(&schema, &value, Nulls::Values).unwrap_err();
        assert_eq!(issue.to_string(), text);
    }
}

#[test]
fn long_descriptions_are_cut_and_count_the_rest() {
    let issue = Issue::expected("nothing", &Value::from("é".repeat(5000))).at_key("place");
    let full = format!(
        "Expected nothing, got \"{}\"\n  at [\"place\"]",
        "é".repeat(5000)
    );
    let cut: String = full.chars().take(1024).collect();
    let more = full.chars().count() - 1024;
    assert_eq!(issue.to_string(), format!("{cut}... ({more} more chars)"));
}

#[test]
fn depth_is_bounded() {
    let mut value = json!(1);
    for _ in 0..10_000 {
        value = Value::Array(vec![value]);
    }
    let nested = json!({ "type": "array", "items": { "$ref": "#" } });
    let issue = check(&nested, &value, Nulls::Values).unwrap_err();
    assert_eq!(issue.message, "Nested too deeply");
    assert!(check(&json!({ "type": "array" }), &value, Nulls::Values).is_ok());
    assert!(check(&json!({ "type": "string" }), &value, Nulls::Values).is_err());
    for loops in [
        json!({ "$ref": "#" }),
        json!({ "anyOf": [{ "$ref": "#" }] }),
    ] {
        assert!(check(&loops, &json!(1), Nulls::Values).is_err());
    }
}

#[test]
fn the_number_of_tried_alternatives_is_bounded() {
    let alternative = |key: &str| json!({ "type": "object", "properties": { "x": { "$ref": "#" } }, "required": [key] });
    let schema = json!({ "anyOf": [alternative("x"), alternative("y"), { "const": 1 }] });
    let mut value = json!(2);
    for _ in 0..100 {
        value = json!({ "x": value, "y": 0 });
    }
    let issue = check(&schema, &value, Nulls::Values).unwrap_err();
    assert!(
        issue
            .message
            .starts_with("Expected object | object | 1, got {")
    );
}

/// Schemas whose check takes exponential time without a bound.
fn exponential() -> Vec<Value> {
    let twice = |keyword: &str| {
        let again = json!({"$ref": "#/$defs/a"});
        json!({
            "$ref": "#/$defs/a",
            "$defs": {"a": {keyword: [again, again]}},
        })
    };
    let deep = |keyword: &str| {
        let child = json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/a"}}, "required": ["b"]});
        json!({"$ref": "#/$defs/a", "$defs": {"a": {keyword: [child, child, {"required": ["a"], "properties": {"a": {"$ref": "#/$defs/a"}}}]}}})
    };
    let wide = {
        let mut definitions = serde_json::Map::new();
        for level in 0..6 {
            let next = json!({"$ref": format!("#/$defs/l{}", level + 1)});
            definitions.insert(format!("l{level}"), json!({"anyOf": vec![next; 60]}));
        }
        definitions.insert("l6".to_owned(), json!({"type": "string"}));
        json!({"$ref": "#/$defs/l0", "$defs": definitions})
    };
    let keywords = ["allOf", "anyOf", "oneOf"];
    let all = keywords.iter().flat_map(|it| [twice(it), deep(it)]);
    all.chain([wide]).collect()
}

#[test]
fn no_schema_makes_a_check_endless() {
    let value = (0..60).fold(json!({}), |inner, _| json!({"a": inner, "x": "1"}));
    for schema in exponential() {
        let started = std::time::Instant::now();
        // Only the end of both matters.
        let checked = check(&schema, &value, Nulls::Values);
        let mut converted = value.clone();
        super::convert_meant(&schema, &mut converted);
        let took = started.elapsed();
        assert!(took.as_secs() < 60, "{schema}: {checked:?} after {took:?}");
    }
}

#[test]
fn a_check_that_needs_too_many_steps_is_refused() {
    let again = json!({"$ref": "#/$defs/a"});
    let endless = json!({"$ref": "#/$defs/a", "$defs": {"a": {"allOf": [again, again]}}});
    let problem = check(&endless, &json!({}), Nulls::Values).unwrap_err();
    let shown = problem.to_string();
    assert!(
        shown.contains("Nested too deeply") || shown.contains("steps"),
        "{shown}"
    );
    // Each level doubles the work, and no level fails.
    let child = json!({"properties": {"a": {"$ref": "#/$defs/a"}}});
    let doubling = json!({"$ref": "#/$defs/a", "$defs": {"a": {"allOf": [child, child]}}});
    let value = (0..60).fold(json!({}), |inner, _| json!({"a": inner}));
    let problem = check(&doubling, &value, Nulls::Values).unwrap_err();
    assert!(
        problem.to_string().contains("steps to check this value"),
        "{problem}"
    );
    let shallow = (0..8).fold(json!({}), |inner, _| json!({"a": inner}));
    assert_eq!(check(&doubling, &shallow, Nulls::Values), Ok(()));
}
