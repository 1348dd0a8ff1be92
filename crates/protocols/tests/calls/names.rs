//! Names that are missing, come late or come in pieces.

use serde_json::json;

use super::wire::{answer, chat, responses, written};
use super::*;

fn piece(name: Option<&str>, arguments: Option<&str>) -> Value {
    json!({"index": 0, "function": {"name": name, "arguments": arguments}})
}

#[test]
fn a_name_in_pieces_is_joined_and_a_repeated_one_is_recognised() {
    let input = "{\"path\":\"a.txt\"}";
    let (head, tail) = input.split_at(6);
    let rows = [
        (
            "pieces",
            vec![piece(Some("re"), Some("")), piece(Some("ad"), Some(input))],
            "read",
        ),
        (
            "letters",
            vec![
                piece(Some("r"), None),
                piece(Some("e"), None),
                piece(Some("a"), None),
                piece(Some("d"), Some(input)),
            ],
            "read",
        ),
        (
            "pieces with input",
            vec![piece(Some("re"), Some(head)), piece(Some("ad"), Some(tail))],
            "read",
        ),
        (
            "late",
            vec![
                piece(None, Some(head)),
                piece(None, Some(tail)),
                piece(Some("read"), None),
            ],
            "read",
        ),
        (
            "pieces after input",
            vec![
                piece(None, Some(input)),
                piece(Some("re"), None),
                piece(Some("ad"), None),
            ],
            "read",
        ),
        (
            "repeated",
            vec![
                piece(Some("bash"), Some("")),
                piece(Some("bash"), Some(head)),
                piece(Some("bash"), Some(tail)),
            ],
            "bash",
        ),
        (
            "repeated, and part of another",
            vec![
                piece(Some("read"), Some("")),
                piece(Some("read"), Some(head)),
                piece(Some("read"), Some(tail)),
            ],
            "read",
        ),
        (
            "cumulative",
            vec![
                piece(Some("r"), None),
                piece(Some("rea"), None),
                piece(Some("read"), Some(input)),
            ],
            "read",
        ),
        (
            "a tool that repeats a syllable",
            vec![
                piece(Some("re"), None),
                piece(Some("read"), None),
                piece(None, Some(input)),
            ],
            "reread",
        ),
        (
            "the shorter of two",
            vec![piece(Some("read"), None), piece(None, Some(input))],
            "read",
        ),
        (
            "the longer of two",
            vec![
                piece(Some("read"), None),
                piece(Some("_all"), None),
                piece(None, Some(input)),
            ],
            "read_all",
        ),
        (
            "no tool",
            vec![piece(Some("wea"), None), piece(Some("ther"), Some(input))],
            "weather",
        ),
        (
            "no tool, repeated",
            vec![
                piece(Some("weather"), Some(head)),
                piece(Some("weather"), Some(tail)),
            ],
            "weather",
        ),
        (
            "empty afterwards",
            vec![piece(Some("read"), Some(head)), piece(Some(""), Some(tail))],
            "read",
        ),
        (
            "blanks around",
            vec![piece(Some(" bash\n"), Some(input))],
            "bash",
        ),
    ];
    for (label, mut deltas, name) in rows {
        deltas[0]["id"] = "c".into();
        let made = calls(Wire::Chat, &chat(&deltas, "tool_calls"));
        let expected = (
            "c".to_owned(),
            name.to_owned(),
            Ok(json!({"path": "a.txt"})),
        );
        assert_eq!(made, [expected], "{label}");
    }
}

#[test]
fn a_name_that_changes_after_the_input_began_fails_the_call() {
    let deltas = [
        json!({"index": 0, "id": "c", "function": {"name": "bash", "arguments": "{"}}),
        piece(Some("glob"), Some("}")),
    ];
    let made = calls(Wire::Chat, &chat(&deltas, "tool_calls"));
    let problem = "The name of the tool changed from \"bash\" to \"glob\" within the call";
    assert_eq!(
        made,
        [("c".to_owned(), "bash".to_owned(), Err(problem.to_owned()))]
    );
}

#[test]
fn a_call_without_a_usable_name_fails_alone() {
    let long = "x".repeat(2000);
    for wire in ALL {
        for name in [None, Some(""), Some("  "), Some(&*long)] {
            let mut nameless = written("a", "", &["{}"]);
            nameless.name = name.map(str::to_owned);
            let order = [nameless, written("b", "read", &["{\"path\":\"a\"}"])];
            let made = calls(wire, &answer(wire, &order, false));
            let (id, stored, problem) = &made[0];
            assert_eq!(
                (&**id, &**stored),
                ("a", "unnamed_tool"),
                "{wire:?} {name:?}"
            );
            assert!(problem.is_err(), "{wire:?} {name:?}");
            assert_eq!(
                made[1..],
                [read("b", json!({"path": "a"}))],
                "{wire:?} {name:?}"
            );
        }
    }
}

#[test]
fn an_empty_delta_is_no_call() {
    let deltas = [
        json!({}),
        json!({"index": 0}),
        json!({"index": 0, "id": "", "function": {"name": "", "arguments": ""}}),
    ];
    assert_eq!(calls(Wire::Chat, &chat(&deltas, "stop")), []);
}

#[test]
fn a_name_may_come_with_the_end_of_its_item() {
    let item = |name: &str, arguments: &str| json!({"type": "function_call", "id": "f", "call_id": "c", "name": name, "arguments": arguments});
    let events = [
        json!({"type": "response.output_item.added", "item": item("", "")}),
        json!({"type": "response.function_call_arguments.delta", "item_id": "f", "delta": "{}"}),
        json!({"type": "response.output_item.done", "item": item("read", "{}")}),
    ];
    let made = calls(Wire::Responses, &responses(&events, false));
    assert_eq!(made, [read("c", json!({}))]);
}
