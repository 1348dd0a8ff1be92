//! References.

use serde_json::{Value, json};

use super::{define, defined};
use crate::machine::Machine;

/// The public view of the references, without the root of the machine.
fn shown(machine: &Machine, definitions: &opencode_location::definitions::Definitions) -> Value {
    let text = json!(definitions.references.list()).to_string();
    serde_json::from_str(&text.replace(&machine.text(""), "~/")).unwrap()
}

#[test]
fn directories_are_relative_to_their_document() {
    let machine = Machine::new();
    for directory in ["docs", "config/near", "home/far", "project/sub"] {
        machine.directory(directory);
    }
    machine.write(
        "config/opencode.json",
        json!({"references": {"near": "./near", "far": "~/far"}}).to_string(),
    );
    machine.write(
        "project/.opencode/opencode.json",
        json!({"references": {"up": {"path": "../../docs/./", "hidden": true}}}).to_string(),
    );
    let docs = machine.text("docs");
    let definitions = defined(
        &machine,
        json!({"references": {
            "absolute": {"path": docs, "description": "All documents."},
            "sub": "./sub",
        }}),
    );
    assert_eq!(
        shown(&machine, &definitions),
        json!([
            {"name": "near", "path": "~/config/near", "source": {"type": "local", "path": "~/config/near"}},
            {"name": "far", "path": "~/home/far", "source": {"type": "local", "path": "~/home/far"}},
            {
                "name": "up", "path": "~/docs", "hidden": true,
                "source": {"type": "local", "path": "~/docs", "hidden": true},
            },
            {
                "name": "absolute", "path": "~/docs", "description": "All documents.",
                "source": {"type": "local", "path": "~/docs", "description": "All documents."},
            },
            {"name": "sub", "path": "~/project/sub", "source": {"type": "local", "path": "~/project/sub"}},
        ])
    );
}

#[test]
fn repositories_are_read_from_the_directories_of_their_clones() {
    let machine = Machine::new();
    machine.directory("data/repos/github.com/owner/there");
    let (definitions, said) = define(
        &machine,
        json!({"references": {
            "there": "owner/there",
            "other": {
                "repository": "https://u:sk-1@h.example/a/b.git", "branch": "next/1",
                "description": "d", "hidden": false,
            },
        }}),
    );
    assert_eq!(
        shown(&machine, &definitions),
        json!([
            {
                "name": "there", "path": "~/data/repos/github.com/owner/there",
                "source": {"type": "git", "repository": "owner/there"},
            },
            {
                "name": "other", "path": "~/data/repos/h.example/a/b@next%2F1",
                "description": "d", "hidden": false,
                "source": {
                    "type": "git", "repository": "https://h.example/a/b.git", "branch": "next/1",
                    "description": "d", "hidden": false,
                },
            },
        ])
    );
    assert_eq!(said, [""; 0]);
}

#[test]
fn the_last_declaration_of_a_name_keeps_the_position_of_the_first() {
    let machine = Machine::new();
    machine.directory("a");
    machine.directory("b");
    let a = machine.text("a");
    machine.write(
        "config/opencode.json",
        json!({
            "reference": {"x": {"path": a, "description": "older"}, "y": a},
            "references": {"z": a},
        })
        .to_string(),
    );
    let b = machine.text("b");
    let definitions = defined(&machine, json!({"references": {"x": b}}));
    let found = shown(&machine, &definitions);
    let found: Vec<_> = found.as_array().unwrap().iter().collect();
    let found = found
        .iter()
        .map(|it| format!("{} {}", it["name"], it["path"]));
    assert_eq!(
        Vec::from_iter(found),
        ["\"x\" \"~/b\"", "\"y\" \"~/a\"", "\"z\" \"~/a\""]
    );
}

#[test]
fn missing_targets_are_reported() {
    let machine = Machine::new();
    machine.write("file", "");
    machine.write(
        "config/opencode.json",
        "{\"references\": {\n  \"a/b\": \"~/x\",\n  \"two words\": \"~/x\",\n  \"\": \"~/x\",\n  \"r\": \"file:///x\",\n  \"e\": {\"path\": \"\"},\n  \"missing\": \"./missing\",\n  \"file\": \"../file\"\n}}",
    );
    let (definitions, said) = define(&machine, json!({}));
    let found = shown(&machine, &definitions);
    let names: Vec<_> = found
        .as_array()
        .unwrap()
        .iter()
        .map(|it| &it["name"])
        .collect();
    assert_eq!(names, ["missing", "file"]);
    let name = "its name must be something without slashes, commas, backticks, blanks and control characters";
    assert_eq!(
        said,
        [
            format!("config/opencode.json:2:10: The reference \"a/b\" has no effect: {name}"),
            format!("config/opencode.json:3:16: The reference \"two words\" has no effect: {name}"),
            format!("config/opencode.json:4:7: The reference \"\" has no effect: {name}"),
            "config/opencode.json:5:8: The reference \"r\" has no effect: its repository must be named as owner/name, host/path, user@host:path or by an address".to_owned(),
            "config/opencode.json:6:8: The reference \"e\" has no effect: its path is empty or has a control character".to_owned(),
            "config/opencode.json:7:14: The reference missing leads to config/missing, which is not a directory".to_owned(),
            "config/opencode.json:8:11: The reference file leads to file, which is not a directory".to_owned(),
        ]
    );
}

#[test]
fn a_wrong_reference_is_omitted() {
    for (value, expected) in [
        (json!([]), "references must be an object, found an array"),
        (
            json!({"a": 1}),
            "references.a must be a string or an object, found a number",
        ),
        (
            json!({"a": {}}),
            "references.a must have a path or a repository",
        ),
        (
            json!({"a": {"path": "x", "repository": "y"}}),
            "references.a has both a path and a repository; keep one",
        ),
    ] {
        let (definitions, said) = define(&Machine::new(), json!({ "references": value }));
        assert_eq!(definitions.references.list(), []);
        let expected = format!("the host's config option: {expected}; this value is left out");
        assert_eq!(said, [expected]);
    }
}
