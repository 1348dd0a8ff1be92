//! The normal form, and changes of arguments, by examples. `tests/wild/schemas` has those of real servers.

use serde_json::{Value, json};

use super::super::names::Names;
use super::super::{NormalSchema, for_gemini, for_openai, restore};
use crate::canonical::model::ToolSchema;

fn normal(schema: &Value) -> Value {
    NormalSchema::of(schema).schema
}

#[test]
fn a_schema_gets_its_normal_form() {
    for (given, expected) in [
        (json!(true), json!({"type": "object"})),
        (json!(null), json!({"type": "object"})),
        (
            json!({"type": ["object", "null"]}),
            json!({"type": "object"}),
        ),
        (
            json!({"$schema": "x", "$id": "y", "x-mark": 1, "properties": {"a": true, "b": false}}),
            json!({"properties": {"a": {}, "b": {"not": {}}}, "type": "object"}),
        ),
        (
            json!({"type": "object", "properties": {"a": {"type": "STRING", "required": true}, "b": {"required": false}},
                "required": ["b", "b"]}),
            json!({"type": "object", "properties": {"a": {"type": "string"}, "b": {}}, "required": ["b", "a"]}),
        ),
        (
            json!({"type": "object", "required": null, "properties": {
                "a": {"minimum": 1, "exclusiveMinimum": true, "maximum": 5, "exclusiveMaximum": false},
                "b": {"type": "array", "items": [{"type": "string"}], "additionalItems": false},
                "c": {"type": "string", "nullable": true},
                "d": {"$ref": "#/definitions/D", "description": "d"},
                "e": {"dependencies": {"x": ["y"], "z": {"required": ["w"]}}},
                "f": {"minLength": 2.0, "maxLength": -1},
            }, "definitions": {"D": {"id": "D", "type": "integer"}, "unused": {}}}),
            json!({"type": "object", "properties": {
                "a": {"exclusiveMinimum": 1, "maximum": 5},
                "b": {"type": "array", "prefixItems": [{"type": "string"}], "items": {"not": {}}},
                "c": {"type": ["string", "null"]},
                "d": {"$ref": "#/$defs/D", "description": "d"},
                "e": {"dependentRequired": {"x": ["y"]}, "dependentSchemas": {"z": {"required": ["w"]}}},
                "f": {"minLength": 2},
            }, "$defs": {"D": {"type": "integer"}}}),
        ),
        (
            json!({"type": "object", "properties": {"next": {"$ref": "#"}, "again": {"$ref": "#/properties/next"}}}),
            json!({"type": "object", "properties": {"next": {"$ref": "#/$defs/root"}, "again": {"$ref": "#/$defs/next"}},
            "$defs": {
                "root": {"type": "object", "properties": {
                    "next": {"$ref": "#/$defs/root"}, "again": {"$ref": "#/$defs/next"}}},
                "next": {"$ref": "#/$defs/root"},
            }}),
        ),
    ] {
        assert_eq!(normal(&given), expected);
        assert_eq!(normal(&expected), expected);
    }
}

#[test]
fn what_is_dropped_is_named() {
    let schema = json!({"type": "object", "properties": {
        "a": {"type": "any", "maximum": "2024-01-01"},
        "b": {"$ref": "https://example.com/b.json"},
        "type": "object",
    }, "anyOf": [{"required": ["a"]}]});
    assert_eq!(
        NormalSchema::of(&schema).simplified,
        [
            "`type`: \"any\" in `a` is dropped",
            "`maximum`: \"2024-01-01\" in `a` is dropped",
            "the reference \"https://example.com/b.json\" in `b` is dropped",
            "\"object\" instead of a schema in `type` is dropped",
            "`anyOf` at its root is told in words",
        ]
    );
    let plain =
        json!({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]});
    assert_eq!(NormalSchema::of(&plain).simplified, [""; 0]);
}

#[test]
fn hostile_schemas_have_bounded_forms() {
    let deep = (0..500).fold(
        json!({"type": "string"}),
        |inner, _| json!({"type": "object", "properties": {"a": inner}}),
    );
    let level = |number: u32| {
        let next = json!({"$ref": format!("#/$defs/d{}", number + 1)});
        (
            format!("d{number}"),
            json!({"type": "object", "properties": {"a": next, "b": next}}),
        )
    };
    let definitions: Value = (0..40).map(level).collect();
    let wide = json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/d0"}}, "$defs": definitions});
    let circular = json!({"$ref": "#/$defs/a", "$defs": {"a": {"anyOf": [{"$ref": "#/$defs/a"}, {"$ref": "#"}]}}});
    for schema in [deep, wide, circular] {
        for family in &super::FAMILIES {
            let form = (family.form)(&schema);
            (family.check)(&form);
            assert!(form.to_string().len() < 2_000_000, "{}", family.name);
        }
    }
}

#[test]
fn arguments_are_changed_back() {
    let schema = json!({"type": "object", "properties": {
        "level": {"const": 1},
        "sure": {"type": "boolean", "enum": [true]},
        "none": {"const": null},
        "size": {"enum": [1, 2.5, "big"]},
        "both": {"enum": ["1", 1]},
        "count": {"anyOf": [{"enum": [1, 2]}, {"type": "string", "pattern": "^[a-z]*$"}]},
        "any": {},
        "text": {"type": "string"},
        "list": {"type": "array", "items": {"enum": [1, 2]}},
        "choice": {"anyOf": [{"type": "object", "properties": {"kind": {"const": 1}, "v": {"const": 5}}, "required": ["kind"]},
            {"type": "object", "properties": {"kind": {"const": 2}, "v": {"type": "string"}}, "required": ["kind"]}]},
        "deep": {"type": "object", "additionalProperties": {"$ref": "#/$defs/level"}},
        "filter[id]": {"type": "object", "properties": {"$top": {"type": "integer"}}},
    }, "$defs": {"level": {"type": ["integer", "null"], "enum": [7, null]}}});
    for (given, expected) in [
        (json!({"level": "1"}), json!({"level": 1})),
        (json!({"level": 1}), json!({"level": 1})),
        (json!({"level": "1.0"}), json!({"level": 1})),
        (json!({"level": "2"}), json!({"level": "2"})),
        (
            json!({"sure": "true", "none": "null"}),
            json!({"sure": true, "none": null}),
        ),
        (json!({"size": "2.5"}), json!({"size": 2.5})),
        (json!({"size": "big"}), json!({"size": "big"})),
        (
            json!({"both": "1", "any": "1", "text": "1"}),
            json!({"both": "1", "any": "1", "text": "1"}),
        ),
        (json!({"count": "2"}), json!({"count": 2})),
        (json!({"count": "all"}), json!({"count": "all"})),
        (json!({"count": "3"}), json!({"count": "3"})),
        (json!({"list": ["1", 2, "3"]}), json!({"list": [1, 2, "3"]})),
        (
            json!({"choice": {"kind": "1", "v": "5"}}),
            json!({"choice": {"kind": 1, "v": 5}}),
        ),
        (
            json!({"choice": {"kind": "2", "v": "5"}}),
            json!({"choice": {"kind": 2, "v": "5"}}),
        ),
        (
            json!({"deep": {"a": "7", "b": "null"}}),
            json!({"deep": {"a": 7, "b": null}}),
        ),
        (
            json!({"filter_id_": {"_top": 3}, "other": "1"}),
            json!({"filter[id]": {"$top": 3}, "other": "1"}),
        ),
        (
            json!({"filter[id]": 1, "filter_id_": 2}),
            json!({"filter[id]": 1, "filter_id_": 2}),
        ),
        (json!("no object"), json!("no object")),
    ] {
        let mut restored = given.clone();
        restore::restore(&normal(&schema), Names::Gemini, &mut restored);
        assert_eq!(restored, expected, "{given}");
    }
}

#[test]
fn arguments_are_changed_back_for_the_alternative_that_they_fit() {
    let schema = json!({"type": "object", "properties": {"kind": {"type": "string"}}, "anyOf": [
        {"properties": {"$at": {"type": "string"}, "text": {"const": true}}, "required": ["text"], "additionalProperties": false},
        {"properties": {"$at": {"enum": [1, 1.5]}, "list": {"const": true}}, "required": ["list"], "additionalProperties": false},
    ]});
    for (given, expected) in [
        (
            json!({"_at": "1.5", "list": true}),
            json!({"$at": 1.5, "list": true}),
        ),
        (
            json!({"_at": "1.5", "text": "true"}),
            json!({"$at": "1.5", "text": true}),
        ),
        // No alternative admits both, and each admits neither.
        (json!({"_at": "1.5"}), json!({"$at": "1.5"})),
    ] {
        let mut restored = given.clone();
        restore::restore(&normal(&schema), Names::Gemini, &mut restored);
        assert_eq!(restored, expected, "{given}");
    }
}

#[test]
fn a_tool_without_parameters_stays_one() {
    for schema in [
        json!({"type": "object"}),
        json!({"type": "object", "properties": {}, "additionalProperties": false}),
        json!({"anyOf": [{"type": "string"}]}),
    ] {
        assert_eq!(for_gemini(&schema), None, "{schema}");
    }
    let open = json!({"type": "object", "additionalProperties": true});
    assert_eq!(for_gemini(&open).unwrap()["type"], "object");
    assert_eq!(
        for_openai(&open, ToolSchema::Standard),
        json!({"type": "object", "additionalProperties": true, "properties": {}})
    );
}
