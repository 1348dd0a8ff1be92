//! Tests for the advertised definitions of the built-in tools.

mod common;

use common::{built_in_tools_at, call, context, failed, registry};
use opencode_schema::clock::{Clock, Millis};
use opencode_schema::permission::{TOOL_ACTIONS, action_of_tool};
use opencode_tools::{Contributions, Materialized, Registration};
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

/// A clock in the year 2026, which the description of `websearch` contains.
struct In2026;

impl Clock for In2026 {
    fn now(&self) -> Millis {
        1_780_000_000_000
    }
}

fn turn(visible: impl Fn(&str) -> bool) -> (TempDir, Registration, Materialized) {
    let temp = tempfile::tempdir().expect("a temporary directory");
    let registry = registry(&Contributions::default(), temp.path());
    let registration = registry.host().register(built_in_tools_at(&In2026));
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

/// The action of each tool is the one of the table, which the documentation shows.
#[test]
fn the_documented_table_has_the_action_of_each_tool() {
    let documented = include_str!("../../../docs/permissions.md");
    for (name, tool) in built_in_tools_at(&In2026) {
        let action = tool.permission().unwrap_or(&name);
        let known = TOOL_ACTIONS.iter().find(|it| it.tool == name);
        assert_eq!(known.map(|it| it.action), Some(action), "{name}");
        assert_eq!(action_of_tool(&name), action);
    }
    let rows =
        TOOL_ACTIONS.map(|it| format!("| `{}` | `{}` | {} |", it.tool, it.action, it.resources));
    assert!(documented.contains(&rows.join("\n")), "{rows:#?}");
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

/// Every request begins with the definitions, and providers cache by their bytes. So a changed word or
/// order of keys must be intended.
#[test]
fn their_definitions_are_the_stored_ones() {
    let (_temp, _registration, turn) = turn(|_| true);
    let definitions = turn.definitions().map(|definition| {
        json!({
            "name": definition.name,
            "description": definition.description,
            "input_schema": definition.input_schema,
        })
    });
    let current: Value = definitions.collect();
    let stored: Value =
        serde_json::from_str(include_str!("built_in.json")).expect("the file is JSON");
    // As text, because values are equal in any order of their keys.
    let (current_text, stored_text) = (current.to_string(), stored.to_string());
    if current_text != stored_text {
        let path = concat!(env!("CARGO_TARGET_TMPDIR"), "/built_in.json");
        std::fs::write(path, format!("{current:#}\n")).expect("the directory exists");
        panic!("the definitions differ from tests/built_in.json; {path} has the current ones");
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
            json!({"path": "a", "limit": "two"}),
            "Expected number | undefined, got \"two\"\n  at [\"limit\"]",
        ),
        (json!([1]), "Expected object, got [1]"),
    ] {
        let settled = turn
            .settle(call("read", input), &context(temp.path()))
            .await;
        assert_eq!(settled, failed(format!("Invalid tool input: {issue}")));
    }
}
