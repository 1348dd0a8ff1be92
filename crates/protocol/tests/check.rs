//! The check of a value against a schema never panics, and a value that passes can be decoded.

use opencode_protocol::contract::compile;
use opencode_protocol::input::PromptPayload;
use opencode_protocol::operations::OPERATIONS;
use opencode_schema::check::{Nulls, check};
use opencode_schema::message::SessionMessage;
use proptest::prelude::*;
use schemars::schema_for;
use serde_json::{Map, Value, json};

/// Strings with a meaning for schemas, and others.
fn word() -> impl Strategy<Value = String> {
    let known = [
        "type",
        "properties",
        "required",
        "items",
        "enum",
        "const",
        "pattern",
        "minimum",
        "maximum",
        "exclusiveMinimum",
        "anyOf",
        "oneOf",
        "allOf",
        "additionalProperties",
        "$ref",
        "#",
        "#/anyOf/0",
        "string",
        "object",
        "array",
        "integer",
        "null",
        "^ses",
        "^(",
        "a",
        "b",
        "prompt",
        "text",
        "id",
        "delivery",
        "steer",
        "user",
        "assistant",
        "content",
        "time",
    ];
    prop_oneof![
        4 => proptest::sample::select(known.to_vec()).prop_map(str::to_owned),
        1 => ".{0,8}",
    ]
}

fn json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        word().prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 48, 6, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            proptest::collection::vec((word(), inner), 0..6)
                .prop_map(|members| Value::Object(Map::from_iter(members))),
        ]
    })
}

proptest! {
    #[test]
    fn no_schema_and_no_value_cause_a_panic(schema in json(), value in json()) {
        for nulls in [Nulls::Values, Nulls::Absent] {
            if let Err(issue) = check(&schema, &value, nulls) {
                prop_assert!(issue.to_string().chars().count() < 1100);
            }
        }
    }

    #[test]
    fn valid_values_can_be_read(value in json(), prompt in json()) {
        let schema = schema_for!(PromptPayload).to_value();
        let payload = json!({ "prompt": { "text": "", "files": prompt }, "delivery": value });
        for value in [value, prompt, payload] {
            // The reverse is not true: serde also reads an array as an object.
            let fits = check(&schema, &value, Nulls::Values).is_ok();
            prop_assert!(!fits || serde_json::from_value::<PromptPayload>(value).is_ok());
        }
    }
}

#[test]
fn messages_of_the_wire_format_fit_their_schema() {
    let schema = schema_for!(SessionMessage).to_value();
    for message in [
        json!({ "type": "user", "id": "msg_1", "time": { "created": 0 }, "text": "hi" }),
        json!({
            "type": "assistant", "id": "msg_2", "time": { "created": 0 }, "agent": "build",
            "model": { "id": "m", "providerID": "p" },
            "content": [{
                "type": "tool", "id": "call_1", "name": "read", "time": { "created": 0 },
                "state": { "status": "completed", "input": {}, "content": [], "structured": {}, "result": null },
            }],
        }),
    ] {
        assert_eq!(check(&schema, &message, Nulls::Values), Ok(()));
        assert!(serde_json::from_value::<SessionMessage>(message).is_ok());
    }
    let wrong = json!({
        "type": "assistant", "id": "msg_2", "time": { "created": 0 }, "agent": "build",
        "model": { "id": "m", "providerID": "p" },
        "content": [{ "type": "text", "id": "t", "text": 5 }],
    });
    assert_eq!(
        check(&schema, &wrong, Nulls::Values)
            .unwrap_err()
            .to_string(),
        "Expected string, got 5\n  at [\"content\"][0][\"text\"]"
    );
}

#[test]
fn every_operation_compiles() {
    assert!(compile(OPERATIONS).is_ok());
}
