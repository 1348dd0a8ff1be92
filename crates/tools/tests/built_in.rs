//! Tests for the advertised definitions of the built-in tools.

mod common;

use common::{call, context, failed, registry};
use opencode_schema::clock::SystemClock;
use opencode_tools::{Contributions, Materialized, Registration, built_in_tools};
use serde_json::{Value, json};
use tempfile::TempDir;

const NAMES: [&str; 13] = [
    "apply_patch",
    "bash",
    "edit",
    "glob",
    "grep",
    "question",
    "read",
    "skill",
    "task",
    "todowrite",
    "webfetch",
    "websearch",
    "write",
];

fn turn(visible: impl Fn(&str) -> bool) -> (TempDir, Registration, Materialized) {
    let temp = tempfile::tempdir().expect("a temporary directory");
    let registry = registry(&Contributions::default(), temp.path());
    let registration = registry.host().register(built_in_tools(&SystemClock));
    let registration = registration.expect("all names are good");
    let turn = registry.materialize("/project", visible);
    (temp, registration, turn)
}

fn names(turn: &Materialized) -> Vec<&str> {
    turn.definitions()
        .map(|definition| definition.name.as_str())
        .collect()
}

#[test]
fn all_tools_are_advertised_in_order() {
    let (_temp, _registration, turn) = turn(|_| true);
    assert_eq!(names(&turn), NAMES);
}

#[test]
fn writing_tools_are_hidden_together() {
    let (_temp, _registration, turn) = turn(|action| action != "edit");
    let expected: Vec<_> = NAMES
        .into_iter()
        .filter(|name| !["apply_patch", "edit", "write"].contains(name))
        .collect();
    assert_eq!(names(&turn), expected);
}

/// Removes the descriptions. They belong to this product; everything else is the contract.
fn without_descriptions(value: &mut Value) {
    match value {
        Value::Object(map) => {
            if map.get("description").is_some_and(Value::is_string) {
                map.remove("description");
            }
            map.values_mut().for_each(without_descriptions);
        }
        Value::Array(values) => values.iter_mut().for_each(without_descriptions),
        _ => {}
    }
}

#[test]
fn their_parameters_match_the_contract() {
    let string = || json!({"type": "string"});
    let boolean = || json!({"type": "boolean"});
    let one_of = |texts: Value| json!({"type": "string", "enum": texts});
    let count = || json!({"type": "integer", "allOf": [{"exclusiveMinimum": 0}]});
    let up_to = |kind: &str, maximum: u32| json!({"type": kind, "allOf": [{"exclusiveMinimum": 0}, {"maximum": maximum}]});
    let list = |name: &str| json!({"type": "array", "items": {"$ref": format!("#/$defs/{name}")}});
    let object = |properties: Value, required: Value| {
        json!({
            "type": "object",
            "properties": properties,
            "required": required,
            "additionalProperties": false,
        })
    };
    let mut question = object(
        json!({"questions": list("QuestionV2.Prompt")}),
        json!(["questions"]),
    );
    question["$defs"] = json!({
        "QuestionV2.Option": object(
            json!({"label": string(), "description": string()}),
            json!(["label", "description"]),
        ),
        "QuestionV2.Prompt": object(
            json!({
                "question": string(),
                "header": string(),
                "options": list("QuestionV2.Option"),
                "multiple": boolean(),
            }),
            json!(["question", "header", "options"]),
        ),
    });
    let mut todowrite = object(json!({"todos": list("Todo")}), json!(["todos"]));
    todowrite["$defs"] = json!({
        "Todo": object(
            json!({"content": string(), "status": string(), "priority": string()}),
            json!(["content", "status", "priority"]),
        ),
    });
    let expected = json!({
        "apply_patch": object(json!({"patchText": string()}), json!(["patchText"])),
        "bash": object(
            json!({
                "command": string(),
                "workdir": string(),
                "timeout": up_to("integer", 600_000),
            }),
            json!(["command"]),
        ),
        "edit": object(
            json!({
                "path": string(),
                "oldString": string(),
                "newString": string(),
                "replaceAll": boolean(),
            }),
            json!(["path", "oldString", "newString"]),
        ),
        "glob": object(
            json!({"pattern": string(), "path": string(), "limit": count()}),
            json!(["pattern"]),
        ),
        "grep": object(
            json!({
                "pattern": string(),
                "path": string(),
                "include": string(),
                "limit": count(),
            }),
            json!(["pattern"]),
        ),
        "question": question,
        "read": object(
            json!({"path": string(), "offset": count(), "limit": up_to("integer", 2000)}),
            json!(["path"]),
        ),
        "skill": object(json!({"name": string()}), json!(["name"])),
        "task": object(
            json!({
                "description": string(),
                "prompt": string(),
                "agent": string(),
                "sessionID": string(),
            }),
            json!(["description", "prompt", "agent"]),
        ),
        "todowrite": todowrite,
        "webfetch": object(
            json!({
                "url": string(),
                "format": one_of(json!(["text", "markdown", "html"])),
                "timeout": up_to("number", 120),
            }),
            json!(["url"]),
        ),
        "websearch": object(
            json!({
                "query": string(),
                "numResults": up_to("integer", 20),
                "livecrawl": one_of(json!(["fallback", "preferred"])),
                "type": one_of(json!(["auto", "fast", "deep"])),
                "contextMaxCharacters": up_to("integer", 50_000),
            }),
            json!(["query"]),
        ),
        "write": object(
            json!({"path": string(), "content": string()}),
            json!(["path", "content"]),
        ),
    });
    let (_temp, _registration, turn) = turn(|_| true);
    for definition in turn.definitions() {
        let mut schema = definition.input_schema.clone();
        without_descriptions(&mut schema);
        // Compared as text, because providers cache by the order of the keys too.
        let expected = expected[&definition.name].to_string();
        assert_eq!(schema.to_string(), expected, "{}", definition.name);
    }
}

#[tokio::test]
async fn read_checks_its_input() {
    let (temp, _registration, turn) = turn(|_| true);
    for (input, issue) in [
        (json!({}), "Missing key\n  at [\"path\"]"),
        (
            json!({"path": 5}),
            "Expected string, got 5\n  at [\"path\"]",
        ),
        (
            json!({"path": "a", "offset": 0}),
            "Expected a value greater than 0, got 0\n  at [\"offset\"]",
        ),
        (
            json!({"path": "a", "limit": 2001}),
            "Expected a value less than or equal to 2000, got 2001\n  at [\"limit\"]",
        ),
        (json!([1]), "Expected object, got [1]"),
    ] {
        let settled = turn.settle(call("read", input), context(temp.path())).await;
        assert_eq!(settled, failed(format!("Invalid tool input: {issue}")));
    }
}
