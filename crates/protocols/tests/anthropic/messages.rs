//! Every kind of part, and the message order that the server requires.

use super::*;

fn user(blocks: Value) -> Value {
    json!({"role": "user", "content": blocks})
}

fn assistant(blocks: Value) -> Value {
    json!({"role": "assistant", "content": blocks})
}

#[test]
fn a_tool_turn_is_written_byte_for_byte() {
    let mut request = request(tool_turn());
    request.system = vec![
        SystemPart::new("Be brief."),
        SystemPart::new(""),
        SystemPart::new("ü"),
    ];
    request.tools = Arc::new([tool("read"), tool("write")]);
    let schema = r#"{"type":"object","properties":{"a":{"anyOf":[{"type":"null"}]}}}"#;
    let expected = [
        r#"{"model":"claude","system":[{"type":"text","text":"Be brief."},"#,
        r#"{"type":"text","text":"ü","cache_control":{"type":"ephemeral"}}],"#,
        r#""messages":[{"role":"user","content":[{"type":"text","text":"read it","cache_control":{"type":"ephemeral"}}]},"#,
        r#"{"role":"assistant","content":[{"type":"thinking","thinking":"I should.","signature":"SIG"},"#,
        r#"{"type":"text","text":"Reading."},"#,
        r#"{"type":"tool_use","id":"toolu_1","name":"read","input":{"path":"hello.txt"}}]},"#,
        r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"{\"uri\":\"x\"}"}]}],"#,
        r#""tools":[{"name":"read","description":"d","input_schema":"#,
        schema,
        r#"},{"name":"write","description":"d","input_schema":"#,
        schema,
        r#","cache_control":{"type":"ephemeral"}}],"stream":true,"max_tokens":8000}"#,
    ];
    assert_eq!(text_of(&request), expected.concat());
}

#[test]
fn assistant_content() {
    let signed = json!({"anthropic": {"signature": "S"}});
    let [search, found] = hosted(
        "srv",
        Some(json!({"anthropic": {"blockType": "web_search_tool_result"}})),
    );
    let [lost, lost_result] = hosted("lost", None);
    let cited = Part::Text(TextPart {
        text: "Cited.".into(),
        provider_metadata: Some(Box::new(map(json!({"anthropic": {"citations": [
            {"type": "char_location", "cited_text": "c", "document_index": 0, "document_title": null,
                "start_char_index": 0, "end_char_index": 1, "file_id": null},
            {"type": "web_search_result_location", "cited_text": "c"},
            {"type": "other_location", "cited_text": "c"},
        ]}})))),
    });
    let rows: Vec<(&str, Vec<Part>, Value)> = vec![
        (
            "blank text is nothing",
            vec![Part::text(" \n"), Part::text("a")],
            json!([assistant_text("a")]),
        ),
        (
            "signed, redacted and unsigned thoughts",
            vec![
                reasoning("", Some(signed.clone())),
                reasoning("", Some(json!({"anthropic": {"redactedData": "R"}}))),
                reasoning("plain", None),
                reasoning("foreign", Some(json!({"openai": {"itemId": "rs"}}))),
                reasoning("", None),
            ],
            json!([
                {"type": "thinking", "thinking": "", "signature": "S"},
                {"type": "redacted_thinking", "data": "R"},
                assistant_text("plain"),
                assistant_text("foreign"),
            ]),
        ),
        (
            "calls come last",
            vec![
                call("a", json!({})),
                Part::text("b"),
                call("c", json!("raw")),
            ],
            json!([
                assistant_text("b"),
                {"type": "tool_use", "id": "a", "name": "read", "input": {}},
                {"type": "tool_use", "id": "c", "name": "read", "input": {"value": "raw"}},
            ]),
        ),
        (
            "identifiers of others",
            vec![call("functions.read:0", json!({})), call("", json!({}))],
            json!([
                {"type": "tool_use", "id": "functions_read_0", "name": "read", "input": {}},
                {"type": "tool_use", "id": "_", "name": "read", "input": {}},
            ]),
        ),
        (
            "what the provider ran",
            vec![lost, lost_result, search, found, cited],
            json!([
                {"type": "server_tool_use", "id": "srv", "name": "web_search", "input": {"query": "x"}},
                {"type": "web_search_tool_result", "tool_use_id": "srv", "content": [page()]},
                {"type": "text", "text": "Cited.", "citations": [
                    {"type": "char_location", "cited_text": "c", "document_index": 0, "document_title": null,
                        "start_char_index": 0, "end_char_index": 1},
                ]},
            ]),
        ),
    ];
    for (name, parts, expected) in rows {
        let messages = vec![
            Message::user([Part::text("q")]),
            Message::assistant(parts),
            Message::user([Part::text("r")]),
        ];
        assert_eq!(
            wire_messages(&request(messages)),
            json!([
                user(json!([assistant_text("q")])),
                assistant(expected),
                user(json!([assistant_text("r")]))
            ]),
            "{name}"
        );
    }
}

#[test]
fn results_of_every_kind() {
    let file = |mime: &str| ToolContent::File {
        uri: format!("data:{mime};base64,{PNG}"),
        mime: mime.into(),
        name: Some("shot".into()),
    };
    let image = json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}});
    let rows = [
        (ToolResultValue::Text("t".into()), json!("t"), false),
        (
            ToolResultValue::Json(json!({"a": 1})),
            json!("{\"a\":1}"),
            false,
        ),
        (ToolResultValue::Error(json!("no")), json!("no"), true),
        (
            ToolResultValue::Error(json!(" ")),
            json!("The tool failed and said nothing."),
            true,
        ),
        (
            ToolResultValue::Error(json!({"e": 1})),
            json!("{\"e\":1}"),
            true,
        ),
        (
            ToolResultValue::Content(vec![
                ToolContent::Text { text: "a".into() },
                ToolContent::Text { text: "".into() },
                file("image/png"),
                file("application/zip"),
            ]),
            json!([
                assistant_text("a"),
                image,
                assistant_text(
                    "[The attachment \"shot\" (application/zip) cannot be read by this model.]"
                )
            ]),
            false,
        ),
    ];
    for (value, content, is_error) in rows {
        let mut block = json!({"type": "tool_result", "tool_use_id": "i", "content": content});
        if is_error {
            block["is_error"] = json!(true);
        }
        let messages = vec![
            Message::user([Part::text("q")]),
            Message::assistant([call("i", json!({}))]),
            result("i", value),
        ];
        assert_eq!(wire_messages(&request(messages))[2], user(json!([block])));
    }
}

#[test]
fn files_follow_the_capabilities() {
    let files = || {
        Message::user([
            Part::text("look"),
            media("image/png", PNG, None),
            media("application/pdf", PDF, Some("a.pdf")),
        ])
    };
    let image = json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}});
    let pdf = json!({"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": PDF}, "title": "a.pdf"});
    let unread = |kind: &str, name: &str| {
        assistant_text(&format!("[{name}{kind}) cannot be read by this model.]"))
    };
    let no_pdf = unread("application/pdf", "The attachment \"a.pdf\" (");
    let rows = [
        (
            vec![],
            json!([assistant_text("look"), image.clone(), no_pdf.clone()]),
        ),
        (
            vec!["text", "image", "pdf"],
            json!([assistant_text("look"), image, pdf]),
        ),
        (
            vec!["text"],
            json!([
                assistant_text("look"),
                assistant_text("[An attachment of type image/png cannot be read by this model.]"),
                no_pdf
            ]),
        ),
    ];
    for (input, expected) in rows {
        let model = model(|model| {
            model.capabilities = Capabilities {
                input: input.iter().map(|kind| (*kind).to_owned()).collect(),
                ..Capabilities::default()
            };
        });
        let sent = wire_messages(&request_to(model, vec![files()]));
        assert_eq!(sent, json!([user(expected)]), "{input:?}");
    }
}

#[test]
fn roles_alternate_and_the_user_is_first() {
    let go_on = user(json!([assistant_text("Continue.")]));
    let rows: Vec<(Vec<Message>, Value)> = vec![
        (vec![], json!([go_on])),
        (vec![Message::user([Part::text(" ")])], json!([go_on])),
        (
            vec![
                Message::assistant([Part::text("a")]),
                Message::assistant([Part::text("b")]),
            ],
            json!([
                go_on,
                assistant(json!([assistant_text("a"), assistant_text("b")])),
                go_on
            ]),
        ),
        (
            vec![
                Message::user([Part::text("a")]),
                Message::assistant([]),
                Message::user([Part::text("b")]),
            ],
            json!([user(json!([assistant_text("a"), assistant_text("b")]))]),
        ),
        (
            vec![
                Message::user([Part::text("q")]),
                Message::assistant([call("a", json!({})), call("b", json!({}))]),
                result("a", ToolResultValue::Text("1".into())),
                result("b", ToolResultValue::Text("2".into())),
                Message::user([Part::text("steer")]),
                Message::system("new <facts>"),
            ],
            json!([
                user(json!([assistant_text("q")])),
                assistant(json!([
                    {"type": "tool_use", "id": "a", "name": "read", "input": {}},
                    {"type": "tool_use", "id": "b", "name": "read", "input": {}},
                ])),
                user(json!([
                    {"type": "tool_result", "tool_use_id": "a", "content": "1"},
                    {"type": "tool_result", "tool_use_id": "b", "content": "2"},
                    assistant_text("steer"),
                    assistant_text("<system-update>\nnew &lt;facts&gt;\n</system-update>"),
                ])),
            ]),
        ),
    ];
    for (messages, expected) in rows {
        assert_eq!(wire_messages(&request(messages)), expected);
    }
}

#[test]
fn the_closing_text_of_a_request_is_a_user_message() {
    let mut request = request(vec![Message::user([Part::text("q")])]);
    request.closing = Some(Message::assistant([Part::text("Sum <up>.")]));
    let wrapped = "<system-update>\nSum &lt;up&gt;.\n</system-update>";
    assert_eq!(
        wire_messages(&request),
        json!([user(json!([assistant_text("q"), assistant_text(wrapped)]))])
    );
}

#[test]
fn system_messages_keep_their_position_if_the_model_supports_them() {
    let system = json!({"role": "system", "content": [assistant_text("new <facts>")]});
    let update = || Message::system("new <facts>");
    let wrapped = assistant_text("<system-update>\nnew &lt;facts&gt;\n</system-update>");
    let noted = assistant(json!([assistant_text("Understood.")]));
    let question = || Message::user([Part::text("q")]);
    let q = || json!([assistant_text("q")]);
    let hosted = hosted(
        "s",
        Some(json!({"anthropic": {"blockType": "web_search_tool_result"}})),
    );
    let answer = || Message::assistant([Part::text("a")]);
    let a = || assistant(json!([assistant_text("a")]));
    let rows: Vec<(Vec<Message>, Value)> = vec![
        (vec![question(), update()], json!([user(q()), system])),
        (
            vec![question(), update(), answer(), question()],
            json!([user(q()), system, a(), user(q())]),
        ),
        (
            vec![question(), update(), question()],
            json!([user(q()), system, noted, user(q())]),
        ),
        (
            vec![question(), update(), update()],
            json!([user(q()), system, noted, user(json!([wrapped]))]),
        ),
        (
            vec![question(), answer(), update()],
            json!([user(q()), a(), user(json!([wrapped]))]),
        ),
    ];
    let native = [
        model(|model| model.id = "claude-opus-4-8".into()),
        model(|model| model.compatibility.mid_conversation_system = Some(true)),
    ];
    for (messages, expected) in rows {
        for model in &native {
            let request = request_to(Arc::clone(model), messages.clone());
            assert_eq!(wire_messages(&request), expected);
        }
    }
    let request = request_to(
        Arc::clone(&native[0]),
        vec![question(), Message::assistant(hosted), update()],
    );
    assert_eq!(wire_messages(&request)[2], system);

    let refused = vec![
        question(),
        Message::assistant([call("i", json!({}))]),
        update(),
        result("i", ToolResultValue::Text("t".into())),
    ];
    assert_eq!(
        refusal(&request_to(Arc::clone(&native[0]), refused)),
        "a system message cannot stand between a tool call and its result"
    );
    let off = model(|model| {
        model.id = "claude-opus-4-8".into();
        model.compatibility.mid_conversation_system = Some(false);
    });
    assert_eq!(
        wire_messages(&request_to(off, vec![question(), update()])),
        json!([user(json!([assistant_text("q"), wrapped]))])
    );
}

#[test]
fn blank_system_text_and_foreign_identifiers_are_not_sent() {
    let mut named = call("a", json!({}));
    if let Part::ToolCall(call) = &mut named {
        call.name = "functions.read".into();
    }
    let mut request = request(vec![
        Message::user([Part::text("x")]),
        Message::assistant([named]),
        result("a", ToolResultValue::Text("t".into())),
    ]);
    request.system = vec![SystemPart::new(" \n")];
    let body = body(&request);
    assert_eq!(body.get("system"), None);
    assert_eq!(
        body["messages"][1]["content"],
        json!([{"type": "tool_use", "id": "a", "name": "functions_read_682443e5", "input": {}}])
    );
}

#[test]
fn a_thought_without_a_following_answer_is_not_sent() {
    let thought = || reasoning("t", Some(json!({"anthropic": {"signature": "SIG"}})));
    let question = || Message::user([Part::text("q")]);
    let alone = vec![question(), Message::assistant([thought()]), question()];
    assert_eq!(
        wire_messages(&request(alone)),
        json!([user(json!([assistant_text("q"), assistant_text("q")]))])
    );
    let behind = vec![
        question(),
        Message::assistant([Part::text("a"), thought()]),
        question(),
    ];
    let wire = wire_messages(&request(behind));
    assert_eq!(
        wire[1],
        json!({"role": "assistant", "content": [assistant_text("a")]})
    );
}

#[test]
fn a_paused_answer_ends_only_its_own_request() {
    let question = || Message::user([Part::text("q")]);
    let attached = json!({"anthropic": {"blockType": "web_search_tool_result"}});
    let answered = hosted("s", Some(attached));
    let [unanswered, _] = hosted("t", None);
    let use_of = |id: &str| json!({"type": "server_tool_use", "id": id, "name": "web_search", "input": {"query": "x"}});
    let result = json!({"type": "web_search_tool_result", "tool_use_id": "s", "content": [page()]});
    let signed = Some(json!({"anthropic": {"signature": "S"}}));
    let thought = json!({"type": "thinking", "thinking": "", "signature": "S"});
    let go_on = || user(json!([assistant_text("Continue.")]));
    let whole = json!([use_of("s"), result]);
    let rows: Vec<(&str, Vec<Part>, Value, bool)> = vec![
        ("a result", answered.to_vec(), whole.clone(), true),
        (
            "a call without its result",
            [
                answered.to_vec(),
                vec![reasoning("", signed.clone()), unanswered.clone()],
            ]
            .concat(),
            json!([use_of("s"), result, thought, use_of("t")]),
            true,
        ),
        (
            "a call without its result, before words",
            vec![unanswered, Part::text("a")],
            json!([assistant_text("a")]),
            true,
        ),
        (
            "words",
            vec![Part::text("a")],
            json!([assistant_text("a")]),
            true,
        ),
        (
            "words that end in space",
            vec![Part::text("a ")],
            json!([assistant_text("a ")]),
            false,
        ),
        (
            "a thought",
            [answered.to_vec(), vec![reasoning("", signed.clone())]].concat(),
            whole.clone(),
            false,
        ),
    ];
    for (name, parts, expected, is_resumed) in rows {
        let paused = Message::paused(parts);
        let end = if is_resumed { vec![] } else { vec![go_on()] };
        let expected = [
            vec![user(json!([assistant_text("q")])), assistant(expected)],
            end,
        ]
        .concat();
        let request = request(vec![question(), paused]);
        assert_eq!(wire_messages(&request), json!(expected), "{name}");
    }
    // The result of the call arrives with the next answer or never. Later requests do not contain the call.
    let [unanswered, _] = hosted("t", None);
    let parts = [answered.to_vec(), vec![unanswered]].concat();
    let request = request(vec![
        question(),
        Message::paused(parts),
        Message::assistant([Part::text("b")]),
    ]);
    assert_eq!(
        wire_messages(&request),
        json!([
            user(json!([assistant_text("q")])),
            assistant(json!([use_of("s"), result, assistant_text("b")])),
            go_on()
        ])
    );
}
