//! Input that is not JSON, that is cut, or that comes twice.

use opencode_llm::{CallProblem, LlmEvent};
use serde_json::json;

use super::wire::{answer, anthropic, bedrock, chat, program, responses, written};
use super::*;

const SOUND: &str = "{\"path\":\"b.txt\"}";

#[test]
fn unreadable_input_fails_its_call_alone() {
    let rows = [
        "{\"path\": \"a.txt\"",
        "{'path': 'a.txt'}",
        "{\"path\": \"src\\d.txt\"}",
        "{\"path\":\"a\"}{\"path\":\"b\"}",
        "I read it: {\"path\":\"a\"}",
        "{\"path\":\"a\"} as you wish",
        "```json\n{\"path\":\"a\"",
        "{\"path\":undefined}",
        "<path>a</path>",
        &format!("{}{}", "{\"a\":".repeat(120), "1}"),
        &format!("{}1{}", "{\"a\":".repeat(120), "}".repeat(120)),
    ];
    for wire in WITH_TEXT {
        for text in rows {
            for (at, first) in [(0, true), (1, false)] {
                let bad = written("bad", "read", &[&text[..5], &text[5..]]);
                let good = written("good", "bash", &[SOUND]);
                let order = if first { [bad, good] } else { [good, bad] };
                let mut made = calls(wire, &answer(wire, &order, false));
                let (id, name, problem) = made.remove(at);
                assert_eq!((&*id, &*name), ("bad", "read"), "{wire:?}");
                assert!(problem.is_err(), "{wire:?} {text}");
                let good = (
                    "good".to_owned(),
                    "bash".to_owned(),
                    Ok(json!({"path": "b.txt"})),
                );
                assert_eq!(made, [good], "{wire:?} {text}");
            }
        }
    }
}

#[test]
fn input_with_one_certain_meaning_runs() {
    let rows = [
        "{\"path\":\"b.txt\"}",
        "\u{feff}{\"path\":\"b.txt\"}",
        " \r\n{\"path\":\"b.txt\"}\n ",
        "```json\n{\"path\":\"b.txt\"}\n```",
        "{\"path\":\"b.txt\",}",
        "{\"path\":\"b.txt\"}{\"path\":\"b.txt\"}",
        "{\"path\":\"b.txt\"}\n{ \"path\": \"b.txt\" }",
    ];
    for wire in WITH_TEXT {
        for text in rows {
            let bytes = answer(wire, &[written("c", "read", &[text])], false);
            let expected = [read("c", json!({"path": "b.txt"}))];
            assert_eq!(calls(wire, &bytes), expected, "{wire:?} {text:?}");
        }
        let raw = "{\"content\":\"a\n\tb\r\n\"}";
        let bytes = answer(wire, &[written("c", "read", &[raw])], false);
        let expected = [read("c", json!({"content": "a\n\tb\r\n"}))];
        assert_eq!(calls(wire, &bytes), expected, "{wire:?}");
        // The last piece repeats the whole input.
        let bytes = answer(
            wire,
            &[written("c", "read", &["{\"path\":", "\"b.txt\"}", SOUND])],
            false,
        );
        let expected = [read("c", json!({"path": "b.txt"}))];
        assert_eq!(calls(wire, &bytes), expected, "{wire:?}");
    }
}

#[test]
fn values_that_are_no_objects_reach_the_tool_which_refuses_them() {
    for wire in WITH_TEXT {
        for (text, value) in [
            ("null", json!(null)),
            ("[]", json!([])),
            ("\"{\\\"path\\\":\\\"a\\\"}\"", json!("{\"path\":\"a\"}")),
            ("7", json!(7)),
        ] {
            let bytes = answer(wire, &[written("c", "read", &[text])], false);
            assert_eq!(calls(wire, &bytes), [read("c", value)], "{wire:?} {text}");
        }
    }
}

#[test]
fn the_failure_has_the_place_and_the_written_input() {
    let text = "{\"path\": \"a.txt\"";
    for wire in WITH_TEXT {
        let (events, end) = decode(wire, &answer(wire, &[written("c", "read", &[text])], false));
        assert_eq!(end, Ok(()));
        let problem = events.iter().find_map(|event| match event {
            LlmEvent::InvalidToolCall { problem, .. } => Some(problem.clone()),
            _ => None,
        });
        let expected = CallProblem::Input {
            reason: "EOF while parsing an object at line 1 column 16".to_owned(),
            written: text.to_owned(),
        };
        assert_eq!(problem, Some(expected), "{wire:?}");
    }
}

#[test]
fn the_output_limit_fails_the_call_that_it_cut() {
    let limit = "the answer reached its limit of output tokens";
    for wire in WITH_TEXT {
        let whole = written("a", "read", &[SOUND]);
        // Without any input, a call that is cut looks like a call without arguments.
        for (cut, before) in [("{\"path\":\"", "EOF while parsing a string"), ("", limit)] {
            let order = [whole.clone(), written("b", "read", &[cut])];
            let mut made = calls(wire, &answer(wire, &order, true));
            let (_, _, problem) = made.pop().unwrap();
            let problem = problem.unwrap_err();
            assert!(
                problem.starts_with(before) && problem.ends_with(limit),
                "{wire:?} {problem}"
            );
            assert_eq!(made, [read("a", json!({"path": "b.txt"}))], "{wire:?}");
        }
        let empty = [written("a", "read", &[""]), whole.clone()];
        let made = calls(wire, &answer(wire, &empty, true));
        assert!(
            made.iter().all(|(_, _, input)| input.is_ok()),
            "{wire:?} {made:?}"
        );
        let complete = [whole, written("b", "read", &[""])];
        let made = calls(wire, &answer(wire, &complete, false));
        assert_eq!(made[1], read("b", json!({})), "{wire:?}");
    }
}

#[test]
fn a_complete_input_takes_precedence_over_its_pieces() {
    let item = |arguments: Value| json!({"type": "function_call", "id": "f", "call_id": "c", "name": "read", "arguments": arguments});
    let added =
        json!({"type": "response.output_item.added", "output_index": 0, "item": item(json!(""))});
    let delta = |text: &str| json!({"type": "response.function_call_arguments.delta", "output_index": 0, "item_id": "f", "delta": text});
    let whole = |value: Value| json!({"type": "response.function_call_arguments.done", "output_index": 0, "item_id": "f", "arguments": value});
    let done = |arguments: Value| json!({"type": "response.output_item.done", "output_index": 0, "item": item(arguments)});
    let rows = [
        vec![added.clone(), delta("{\"path\":\"x\"}"), done(json!(SOUND))],
        vec![
            added.clone(),
            delta("{\"pa"),
            whole(json!(SOUND)),
            done(json!("")),
        ],
        vec![
            added.clone(),
            delta("{\"path\":\"x\"}"),
            whole(json!("{")),
            done(json!(SOUND)),
        ],
        vec![added.clone(), delta("{"), whole(json!(SOUND))],
        vec![added.clone(), whole(json!(SOUND)), done(json!(null))],
        vec![added.clone(), done(json!({"path": "b.txt"}))],
        vec![done(json!(SOUND))],
        vec![done(json!(SOUND)), done(json!(SOUND))],
        vec![whole(json!(SOUND)), done(json!(SOUND))],
        vec![delta(SOUND), done(json!(SOUND))],
        vec![added.clone(), delta(SOUND)],
        vec![added, done(json!(SOUND)), delta("{}")],
    ];
    for events in rows {
        let made = calls(Wire::Responses, &responses(&events, false));
        let inputs: Vec<_> = made
            .iter()
            .map(|(_, name, input)| (&**name, input.clone()))
            .collect();
        assert_eq!(
            inputs,
            [("read", Ok(json!({"path": "b.txt"})))],
            "{events:?}"
        );
    }
    let start = json!({"type": "tool-input-start", "id": "c", "name": "read"});
    let piece = json!({"type": "tool-input-delta", "id": "c", "text": "{\"path\":\"x\"}"});
    for whole in [
        json!({"inputText": SOUND}),
        json!({"input": {"path": "b.txt"}}),
    ] {
        let mut made = json!({"type": "tool-call", "id": "c"});
        made.as_object_mut()
            .unwrap()
            .extend(whole.as_object().unwrap().clone());
        let bytes = program(&[start.clone(), piece.clone(), made], "stop");
        let expected = [read("c", json!({"path": "b.txt"}))];
        assert_eq!(calls(Wire::Program, &bytes), expected);
    }
}

#[test]
fn a_call_that_never_ends_fails() {
    let start = json!({"type": "tool-input-start", "id": "c", "name": "read"});
    let piece = json!({"type": "tool-input-delta", "id": "c", "text": SOUND});
    let made = calls(Wire::Program, &program(&[start, piece], "stop"));
    assert_eq!(
        made[0].2,
        Err("the answer ended before the call".to_owned())
    );
}

#[test]
fn pieces_without_a_start_are_a_call_without_a_name() {
    let rows = [
        (
            Wire::Chat,
            chat(
                &[json!({"index": 0, "function": {"arguments": SOUND}})],
                "stop",
            ),
        ),
        (
            Wire::Responses,
            responses(
                &[
                    json!({"type": "response.function_call_arguments.delta", "item_id": "f", "delta": SOUND}),
                ],
                false,
            ),
        ),
        (
            Wire::Anthropic,
            anthropic(
                &[json!({"type": "content_block_delta", "index": 3,
                "delta": {"type": "input_json_delta", "partial_json": SOUND}})],
                "tool_use",
            ),
        ),
        (
            Wire::Bedrock,
            bedrock(
                &[(
                    "contentBlockDelta",
                    json!({"contentBlockIndex": 3, "delta": {"toolUse": {"input": SOUND}}}),
                )],
                "tool_use",
            ),
        ),
    ];
    for (wire, bytes) in rows {
        let made = calls(wire, &bytes);
        let [(id, name, problem)] = &made[..] else {
            panic!("{wire:?} {made:?}");
        };
        assert!(!id.is_empty(), "{wire:?}");
        assert_eq!(
            (&**name, problem),
            ("unnamed_tool", &Err("The call names no tool".to_owned()))
        );
    }
}

#[test]
fn a_call_that_the_provider_runs_keeps_unreadable_input() {
    let block = json!({"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}});
    let events = [
        json!({"type": "content_block_start", "index": 0, "content_block": block}),
        json!({"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": "{\"q"}}),
        json!({"type": "content_block_stop", "index": 0}),
        json!({"type": "content_block_start", "index": 1,
            "content_block": {"type": "web_search_tool_result", "tool_use_id": "s", "content": []}}),
    ];
    let made = calls(Wire::Anthropic, &anthropic(&events, "end_turn"));
    assert_eq!(
        made,
        [("s".to_owned(), "web_search".to_owned(), Ok(json!("{\"q")))]
    );
}
