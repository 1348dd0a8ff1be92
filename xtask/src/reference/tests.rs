use opencode_protocol::contract::{Contract, Type, compile};
use opencode_protocol::operations::OPERATIONS;
use serde_json::{Value, json};

use super::*;

fn reference(name: &str) -> Value {
    json!({ "kind": "ref", "name": name })
}

fn object(fields: &[Value]) -> Value {
    json!({ "kind": "object", "fields": fields })
}

fn field(name: &str, r#type: &Value, required: bool) -> Value {
    json!({ "name": name, "required": required, "doc": format!("The {name}."), "type": r#type })
}

fn operation(name: &str, more: &Value) -> Value {
    let mut operation = json!({
        "id": format!("v2.thing.{name}"),
        "group": { "wire": "thing", "public": "things" },
        "name": name,
        "doc": "Does it.\n\nOnce.",
        "method": "GET",
        "path": [{ "literal": "/api/thing" }],
        "input": { "mode": "none", "fields": [], "payload": "none" },
        "success": { "kind": "void", "status": 204 },
        "errors": [{ "status": 401, "tag": "UnauthorizedError" }],
        "middleware": [],
    });
    for (key, value) in more.as_object().unwrap() {
        operation[key] = value.clone();
    }
    operation
}

/// One operation of each form, and one type of each form.
fn contract() -> Contract {
    let input = |name: &str, channel: &str, required: bool, r#type: Value| {
        json!({
            "name": name, "channel": channel, "encoding": "text", "required": required,
            "doc": format!("The\n{name} | it."), "type": r#type,
        })
    };
    let limit = json!({ "kind": "number", "integer": true, "minimum": 1, "maximum": 200 });
    let id = json!({ "kind": "string", "brand": "ThingID", "prefix": "thg" });
    let operations = [
        operation(
            "list",
            &json!({
                "input": { "mode": "optional", "payload": "none", "fields": [
                    input("limit", "Query", false, limit),
                    input("order", "Query", false, reference("Order")),
                    input("cursor", "Query", false, reference("Cursor")),
                ] },
                "success": {
                    "kind": "page", "status": 200, "type": reference("Thing"), "items": "data",
                    "item": reference("Thing"), "cursors": "cursor", "cursor": reference("Cursor"),
                    "initial": ["limit", "order"], "continuation": ["cursor"],
                },
            }),
        ),
        operation(
            "part.put",
            &json!({
                "method": "PUT",
                "extension": true,
                "path": [{ "literal": "/api/thing/" }, { "parameter": "id" }, { "literal": "/" }, { "rest": "path" }],
                "headers": { "x-a": "1" },
                "input": { "mode": "required", "payload": "json", "fields": [
                    input("id", "Params", true, id),
                    input("path", "Params", true, json!({ "kind": "string" })),
                    input("parts", "Payload", true, json!({ "kind": "array", "items": reference("Part") })),
                ] },
                "success": { "kind": "value", "status": 200, "unwrap": true, "type": reference("Thing") },
                "errors": [
                    { "status": 401, "tag": "UnauthorizedError" },
                    { "status": 404, "tag": "ThingNotFoundError" },
                ],
            }),
        ),
        operation(
            "watch",
            &json!({ "success": {
                "kind": "stream", "status": 200, "framing": "sse", "element": reference("Part"),
                "failureEvent": "failure", "ends": false,
            } }),
        ),
        operation(
            "copy",
            &json!({
                "input": { "mode": "required", "fields": [], "payload": "lines" },
                "success": { "kind": "lines", "status": 200 },
            }),
        ),
        operation(
            "read",
            &json!({ "success": { "kind": "bytes", "status": 200 } }),
        ),
        operation(
            "count",
            &json!({ "success": {
                "kind": "value", "status": 200, "unwrap": false,
                "type": object(&[
                    field("count", &json!({ "kind": "number", "integer": false }), true),
                    field("more", &json!({ "kind": "boolean" }), false),
                ]),
            } }),
        ),
        operation("connect", &json!({ "omitted": true })),
    ];
    let literal = |value: &str| json!({ "type": { "kind": "literal", "value": value } });
    let inner = object(&[field(
        "by",
        &json!({ "kind": "record", "keys": { "kind": "string" }, "values": { "kind": "unknown" } }),
        false,
    )]);
    let part = |kind: &str| {
        object(&[field(
            "type",
            &json!({ "kind": "literal", "value": kind }),
            true,
        )])
    };
    let types = json!({
        "Cursor": { "doc": "Where a page ends.", "type": { "kind": "string" } },
        "Empty": { "doc": "", "type": object(&[]) },
        "Order": { "doc": "An order.", "type": { "kind": "union", "variants": [literal("asc"), literal("desc")] } },
        "Part": { "doc": "A part.", "extension": true, "type": {
            "kind": "union", "discriminator": "type",
            "variants": [{ "type": reference("PartA") }, { "doc": "The second.", "type": reference("PartB") }],
        } },
        "PartA": { "doc": "The first.", "type": part("a") },
        "PartB": { "doc": "Not said.", "type": part("b") },
        "Thing": { "doc": "A thing.", "type": object(&[
            field("inner", &inner, true),
            field("none", &json!({ "kind": "union", "variants": [{ "type": { "kind": "null" } }, { "type": { "kind": "boolean" } }] }), false),
        ]) },
        "ThingNotFoundError": { "doc": "There is none.", "type": object(&[field("message", &json!({ "kind": "string" }), true)]) },
        "UnauthorizedError": { "doc": "Who are you?", "type": object(&[]) },
        "ThingInUseError": { "doc": "Another client has it.", "type": object(&[]) },
    });
    serde_json::from_value(json!({
        "format": 3,
        "operations": operations,
        "failures": {
            "ThingInUseError": { "key": "_tag", "status": null },
            "ThingNotFoundError": { "key": "_tag", "status": 404 },
            "UnauthorizedError": { "key": "_tag", "status": 401 },
        },
        "types": types,
    }))
    .expect("the contract is well-formed")
}

/// The expected page for the contract above, without the introduction.
const PAGE: &str = include_str!("expected.md");

#[test]
fn the_page_contains_everything_of_the_contract() {
    let page = emit(&contract()).unwrap();
    assert_eq!(page.strip_prefix(INTRODUCTION), Some(PAGE));
}

#[test]
fn every_link_has_a_heading() {
    let page = emit(&contract()).unwrap();
    let headings = page.lines().filter(|line| line.starts_with('#'));
    let headings: BTreeSet<String> = headings
        .map(|line| anchor(line.trim_start_matches('#').trim()))
        .collect();
    let mut rest = page.as_str();
    let mut links = 0;
    while let Some((_, tail)) = rest.split_once("](#") {
        let (target, tail) = tail.split_once(')').unwrap();
        assert!(headings.contains(target), "nothing is called {target}");
        links += 1;
        rest = tail;
    }
    assert_eq!(links, 21, "links in all");
}

#[test]
fn two_sections_with_the_same_name_are_refused() {
    let mut contract = contract();
    let twice = contract.operations[0].clone();
    contract.operations.push(twice);
    assert_eq!(
        emit(&contract),
        Err("docs/api.md would have things.list twice".to_owned())
    );
}

/// Collects the fields of a type without a description. Literals and objects with members need none.
fn undescribed(at: &str, r#type: &Type, found: &mut Vec<String>) {
    let Type::Object { fields } = r#type else {
        return;
    };
    for field in fields {
        let at = format!("{at}.{}", field.name);
        match field.r#type {
            Type::Literal { .. } => {}
            Type::Object { .. } => undescribed(&at, &field.r#type, found),
            _ if field.doc.is_empty() => found.push(at),
            _ => {}
        }
    }
}

#[test]
fn everything_in_the_contract_has_a_description() {
    let contract = compile(OPERATIONS).unwrap();
    let mut found = Vec::new();
    for (name, definition) in &contract.types {
        if definition.doc.is_empty() {
            found.push(name.clone());
        }
        undescribed(name, &definition.r#type, &mut found);
    }
    for operation in &contract.operations {
        let fields = operation.input.fields.iter();
        let fields = fields.filter(|field| field.doc.is_empty());
        found.extend(fields.map(|field| format!("{} {}", operation.id, field.name)));
        if operation.doc.is_empty() {
            found.push(operation.id.clone());
        }
    }
    assert_eq!(found, Vec::<String>::new());
}
