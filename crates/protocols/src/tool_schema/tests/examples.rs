//! The normal form, and changes of arguments, by examples. `tests/wild/schemas` has those of real servers.

use opencode_llm::canonical::model::ToolSchema;
use opencode_llm::canonical::request::InputSchema;
use serde_json::{Value, json};

use super::super::names::Names;
use super::super::{NormalSchema, for_gemini, for_openai, restore};

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
    let many = |count: usize, of: &dyn Fn(usize) -> Value| -> Value {
        let named = (0..count).map(|at| (format!("p{at}"), of(at)));
        Value::Object(named.collect())
    };
    let to = |name: &str| json!({"$ref": format!("#/$defs/{name}")});
    let texts = many(1_500, &|_| json!({"type": "string"}));
    let multiplied = json!({"type": "object", "properties": many(1_000, &|_| to("B")), "$defs": {
        "A": {"type": "object", "properties": texts},
        "B": {"type": "object", "allOf": vec![to("A"); 1_000]},
    }});
    let values: Vec<usize> = (0..10_000).collect();
    let listed = json!({"type": "object", "properties": many(3_000, &|_| to("A")),
        "$defs": {"A": {"enum": values}}});
    let required: Vec<Value> = (0..3_000)
        .map(|at| json!({"required": [format!("p{}", at % 1_500)]}))
        .collect();
    let alternatives = json!({"type": "object", "properties": texts, "anyOf": required});
    for schema in [deep, wide, circular, multiplied, listed, alternatives] {
        for family in &super::FAMILIES {
            let form = (family.form)(&schema);
            (family.check)(&form);
            assert!(form.to_string().len() < 2_000_000, "{}", family.name);
        }
        let mut arguments = json!({"p0": {"p1": "1"}, "p2": "1"});
        restore::restore(&normal(&schema), Names::Gemini, &mut arguments);
    }
}

#[test]
fn many_refused_names_take_no_quadratic_time() {
    let name = |at: u32| -> String {
        let letters = [at / 120, at % 120].map(|it| char::from_u32(0x4e00 + it));
        letters.into_iter().flatten().collect()
    };
    let named = (0..14_000).map(|at| (name(at), json!({"type": "string"})));
    let schema = json!({"type": "object", "properties": Value::Object(named.collect())});
    for family in &super::FAMILIES {
        let form = (family.form)(&schema);
        (family.check)(&form);
        let mut input = json!({"__": "a", "___2": "b"});
        restore::restore(&normal(&schema), family.names, &mut input);
        let is_renamed = matches!(family.names, Names::Anthropic | Names::Gemini);
        assert_eq!(input.get(name(0)).is_some(), is_renamed, "{}", family.name);
        assert_eq!(input.get(name(1)).is_some(), is_renamed, "{}", family.name);
    }
    let named = (0..9_000).map(|at| {
        (
            name(at),
            json!({"$ref": format!("#/definitions/{}", name(at))}),
        )
    });
    let defined = (0..9_000).map(|at| (name(at), json!({"type": "string"})));
    let schema = json!({"properties": Value::Object(named.collect()), "definitions": Value::Object(defined.collect())});
    assert_eq!(normal(&schema)["$defs"].as_object().unwrap().len(), 9_000);
}

#[test]
fn alternatives_below_the_root_require_the_names_that_the_form_has() {
    let text = json!({"type": "string"});
    let schema = json!({"type": "object", "properties": {"o": {"type": "object",
        "properties": {"$a": text, "$b": text}, "anyOf": [{"required": ["$a"]}, {"required": ["$b"]}]}}});
    for family in &super::FAMILIES {
        let form = (family.form)(&schema);
        (family.check)(&form);
        let compiled = jsonschema::draft202012::new(&form).unwrap();
        let is_renamed = matches!(family.names, Names::Anthropic | Names::Gemini);
        let name = if is_renamed { "_a" } else { "$a" };
        assert!(
            compiled.is_valid(&json!({"o": {name: "x"}})),
            "{}: {form}",
            family.name
        );
    }
}

#[test]
fn large_whole_numbers_are_compared_exactly() {
    let schema = json!({"properties": {"id": {"enum": [9_007_199_254_740_993_u64, 9_007_199_254_740_992_u64]}}});
    let mut input = json!({"id": "9007199254740993"});
    restore::restore(&normal(&schema), Names::Gemini, &mut input);
    assert_eq!(input, json!({"id": 9_007_199_254_740_993_u64}));
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
fn a_pattern_alone_does_not_keep_the_texts_of_a_list() {
    let listed = json!({"type": "array", "items": [{"const": 1}, {"type": "string"}], "additionalItems": false});
    let texts = json!({"type": "array", "items": {"type": "string", "pattern": "^[a-z]*$"}});
    let schema = json!({"type": "object", "properties": {"v": {"anyOf": [listed, texts]}}});
    for (given, expected) in [
        (json!({"v": ["1", ""]}), json!({"v": [1, ""]})),
        (json!({"v": ["a", "b"]}), json!({"v": ["a", "b"]})),
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
        assert_eq!(for_gemini(&schema.clone().into()), None, "{schema}");
    }
    let open = InputSchema::from(json!({"type": "object", "additionalProperties": true}));
    assert_eq!(for_gemini(&open).unwrap()["type"], "object");
    assert_eq!(
        *for_openai(&open, ToolSchema::Standard),
        json!({"type": "object", "additionalProperties": true, "properties": {}})
    );
}
