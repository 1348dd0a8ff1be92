//! Every kind of part.

use super::*;

fn assistant_text(text: &str) -> Value {
    json!({"role": "assistant", "content": text})
}

/// Returns the items between two questions.
fn answer(options: Value, parts: Vec<Part>) -> Value {
    let messages = vec![
        Message::user([Part::text("q")]),
        Message::assistant(parts),
        Message::user([Part::text("r")]),
    ];
    let all = items(&request_with(options, messages));
    let all = all.as_array().unwrap();
    assert_eq!((&all[0], &all[all.len() - 1]), (&user("q"), &user("r")));
    all[1..all.len() - 1].to_vec().into()
}

#[test]
fn a_tool_turn_is_written_byte_for_byte() {
    let mut request = request(tool_turn());
    request.system = vec![
        SystemPart::new("Be brief."),
        SystemPart::new(""),
        SystemPart::new("ü"),
    ];
    let expected = [
        r#"{"model":"gpt","input":[{"role":"system","content":"Be brief.\nü"},"#,
        r#"{"role":"user","content":[{"type":"input_text","text":"read it"}]},"#,
        r#"{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"I should."}],"encrypted_content":"ENC"},"#,
        r#"{"role":"assistant","content":"Reading."},"#,
        r#"{"type":"function_call","call_id":"call_1","name":"read","arguments":"{\"path\":\"hello.txt\"}"},"#,
        r#"{"type":"function_call_output","call_id":"call_1","output":"{\"uri\":\"x\"}"}],"#,
        r#""store":false,"stream":true}"#,
    ];
    assert_eq!(text_of(&request), expected.concat());
}

#[test]
fn reasoning_is_repeated_completely_or_by_reference() {
    let parts = || {
        vec![
            thought("A.", "rs_1", None),
            thought("B.", "rs_1", Some("ENC")),
            thought("", "rs_2", Some("SEALED")),
            thought("lost", "rs_3", None),
            reasoning("foreign", Some(json!({"anthropic": {"signature": "s"}}))),
            reasoning("bare", None),
            Part::text(""),
            Part::text("So."),
            Part::text("Yes."),
        ]
    };
    let summary = |text: &str| json!({"type": "summary_text", "text": text});
    let texts = json!({"role": "assistant", "content": "So.\nYes."});
    assert_eq!(
        answer(json!({}), parts()),
        json!([
            {"type": "reasoning", "id": "rs_1", "summary": [summary("A."), summary("B.")], "encrypted_content": "ENC"},
            {"type": "reasoning", "id": "rs_2", "summary": [], "encrypted_content": "SEALED"},
            texts,
        ])
    );
    let named = |id: &str| json!({"type": "item_reference", "id": id});
    assert_eq!(
        answer(json!({"store": true}), parts()),
        json!([named("rs_1"), named("rs_2"), named("rs_3"), texts])
    );
}

#[test]
fn texts_keep_their_phase_and_stored_texts_their_item() {
    let of = |text: &str, members: Value| {
        Part::Text(TextPart {
            text: text.into(),
            provider_metadata: attached(members),
        })
    };
    let parts = || {
        vec![
            of("a", json!({"itemId": "ms_1", "phase": "commentary"})),
            of("b", json!({"itemId": "ms_2", "phase": "commentary"})),
            of("c", json!({"itemId": "ms_3", "phase": "final_answer"})),
        ]
    };
    let text = |text: &str| json!({"type": "output_text", "text": text, "annotations": []});
    let item = |id: &str, answer: &str, phase: &str| {
        json!({
            "type": "message", "id": id, "status": "completed", "role": "assistant",
            "content": [text(answer)], "phase": phase,
        })
    };
    assert_eq!(
        answer(json!({}), parts()),
        json!([
            {"role": "assistant", "content": "a\nb", "phase": "commentary"},
            {"role": "assistant", "content": "c", "phase": "final_answer"},
        ])
    );
    assert_eq!(
        answer(json!({"store": true}), parts()),
        json!([
            item("ms_1", "a", "commentary"),
            item("ms_2", "b", "commentary"),
            item("ms_3", "c", "final_answer"),
        ])
    );
}

#[test]
fn no_item_has_an_empty_identifier() {
    let empty = || json!({"openai": {"itemId": "", "reasoningEncryptedContent": "E"}});
    let text = Part::Text(TextPart {
        text: "a".into(),
        provider_metadata: Some(Box::new(map(empty()))),
    });
    let [mut call, mut ran] = hosted("x", json!({"type": "web_search_call", "id": ""}));
    if let (Part::ToolCall(call), Part::ToolResult(ran)) = (&mut call, &mut ran) {
        call.provider_metadata = Some(Box::new(map(empty())));
        ran.provider_metadata = Some(Box::new(map(empty())));
    }
    let parts = [reasoning("Hm.", Some(empty())), text, call, ran];
    let plain = json!([{"role": "assistant", "content": "a"}]);
    for options in [json!({}), json!({"store": true})] {
        assert_eq!(answer(options, parts.to_vec()), plain);
    }
}

#[test]
fn server_calls_are_repeated_unchanged() {
    let search = json!({"type": "web_search_call", "id": "ws_1", "status": "completed",
        "action": {"type": "search", "query": "x", "sources": [{"type": "url", "url": "https://a.test"}]}});
    let code = json!({"type": "code_interpreter_call", "id": "ci_1", "status": "completed", "code": "1", "container_id": "c",
        "outputs": null});
    let parts = || [hosted("ws_1", search.clone()), hosted("ci_1", code.clone())].concat();
    let named = |id: &str| json!({"type": "item_reference", "id": id});
    let rows = [
        (json!({}), json!([search])),
        (json!({"replayHosted": true}), json!([search, code])),
        (json!({"replayHosted": false}), json!([])),
        (
            json!({"store": true}),
            json!([named("ws_1"), named("ci_1")]),
        ),
    ];
    for (options, expected) in rows {
        assert_eq!(answer(options, parts()), expected);
    }
}

#[test]
fn server_calls_are_repeated_in_their_published_forms_only() {
    let search = |action: Value| json!({"type": "web_search_call", "id": "i", "status": "completed", "action": action});
    for item in [
        search(json!({"type": "search"})),
        search(json!({"type": "open_page", "url": null})),
        search(json!({"type": "find_in_page", "url": "https://a.test", "pattern": "p"})),
        json!({"type": "file_search_call", "id": "i", "status": "completed", "queries": ["q"], "results": [{"text": "t"}]}),
        json!({"type": "code_interpreter_call", "id": "i", "status": "completed", "code": null, "container_id": "c",
            "outputs": [{"type": "logs", "logs": "1"}]}),
        json!({"type": "mcp_call", "id": "i", "name": "n", "arguments": "{}", "server_label": "s", "output": "o"}),
        json!({"type": "image_generation_call", "id": "i", "status": "completed", "result": null}),
        json!({"type": "x_search_call", "id": "i"}),
    ] {
        let mut given = item.clone();
        if item["type"] != "x_search_call" {
            given["of_a_response"] = json!(1);
        }
        let parts = hosted("i", given).to_vec();
        assert_eq!(answer(json!({"replayHosted": true}), parts), json!([item]));
    }
    for item in [
        search(Value::Null),
        search(json!({"query": "x"})),
        search(json!({"type": "search", "queries": "x"})),
        search(json!({"type": "find_in_page", "url": "https://a.test"})),
        json!({"type": "web_search_call", "id": null, "status": "completed", "action": {"type": "search"}}),
        json!({"type": "web_search_call", "id": "i", "status": "done", "action": {"type": "search"}}),
        json!({"type": "code_interpreter_call", "id": "i"}),
        json!({"type": "x_search_call"}),
    ] {
        let parts = hosted("i", item.clone()).to_vec();
        assert_eq!(
            answer(json!({"replayHosted": true}), parts),
            json!([]),
            "{item}"
        );
    }
}

#[test]
fn results_and_files() {
    let file = |mime: &str| ToolContent::File {
        uri: format!("data:{mime};base64,{PNG}"),
        mime: mime.into(),
        name: Some("shot".into()),
    };
    let url = |mime: &str| format!("data:{mime};base64,{PNG}");
    let text = |text: &str| json!({"type": "input_text", "text": text});
    let image = json!({"type": "input_image", "image_url": url("image/png"), "detail": "auto"});
    let rows = [
        (ToolResultValue::Text("t".into()), json!("t")),
        (ToolResultValue::Json(json!({"a": 1})), json!("{\"a\":1}")),
        (ToolResultValue::Error(json!("no")), json!("no")),
        (
            ToolResultValue::Content(vec![
                ToolContent::Text { text: "a".into() },
                file("image/png"),
                file("x/y"),
            ]),
            json!([
                text("a"),
                image,
                text("[The attachment \"shot\" (x/y) cannot be read by this model.]")
            ]),
        ),
    ];
    for (value, output) in rows {
        let messages = vec![
            Message::assistant([call("i", json!({}))]),
            result("i", value),
        ];
        let expected = json!({"type": "function_call_output", "call_id": "i", "output": output});
        assert_eq!(items(&request(messages))[1], expected);
    }
    let files = [
        media("image/png", PNG, None),
        media("application/pdf", PDF, Some("a.pdf")),
    ];
    let model = model(|model| {
        model.capabilities = Capabilities {
            input: vec!["text".into(), "image".into(), "pdf".into()],
            ..Capabilities::default()
        };
    });
    let pdf = json!({"type": "input_file", "filename": "a.pdf", "file_data": format!("data:application/pdf;base64,{PDF}")});
    assert_eq!(
        items(&request_to(model, vec![Message::user(files)])),
        json!([{"role": "user", "content": [image, pdf]}])
    );
}

#[test]
fn system_messages_are_wrapped_or_unchanged() {
    let wrapped = json!({"type": "input_text", "text": "<system-update>\nnew &lt;facts&gt;\n</system-update>"});
    let question = || Message::user([Part::text("q")]);
    let update = || Message::system("new <facts>");
    let joined = json!({"role": "user", "content": [{"type": "input_text", "text": "q"}, wrapped]});
    assert_eq!(items(&request(vec![question(), update()])), json!([joined]));
    assert_eq!(
        items(&request(vec![
            question(),
            Message::assistant([Part::text("a")]),
            update()
        ])),
        json!([user("q"), assistant_text("a"), {"role": "user", "content": [wrapped]}])
    );
    type Change = fn(&mut ResolvedModel);
    let rows: [(Change, &str); 3] = [
        (
            |model| model.compatibility.mid_conversation_system = Some(true),
            "system",
        ),
        (
            |model| model.endpoint.base_url = "https://api.openai.com/v1".into(),
            "system",
        ),
        (
            |model| {
                model.endpoint.base_url = "https://api.openai.com/v1".into();
                model.capabilities.reasoning = true;
            },
            "developer",
        ),
    ];
    for (change, role) in rows {
        let mut request = request_to(model(change), vec![question(), update(), question()]);
        request.system = vec![SystemPart::new("s")];
        assert_eq!(
            items(&request),
            json!([{"role": role, "content": "s"}, user("q"), {"role": role, "content": "new <facts>"}, user("q")])
        );
    }
    let refused = vec![
        question(),
        Message::assistant([call("i", json!({}))]),
        update(),
        result("i", ToolResultValue::Text("t".into())),
    ];
    assert_eq!(
        refusal(&request(refused)),
        "a system message cannot stand between a tool call and its result"
    );
}

#[test]
fn the_closing_text_of_a_request_is_a_user_message() {
    let mut request = request(vec![Message::user([Part::text("q")])]);
    request.closing = Some(Message::assistant([Part::text("In short:")]));
    let told =
        json!({"type": "input_text", "text": "<system-update>\nIn short:\n</system-update>"});
    let question = json!({"type": "input_text", "text": "q"});
    assert_eq!(
        items(&request),
        json!([{"role": "user", "content": [question, told]}])
    );
}

#[test]
fn an_answer_never_ends_a_request_or_follows_another_answer() {
    let answer = |text: &str| Message::assistant([Part::text(text)]);
    let messages = vec![Message::user([Part::text("q")]), answer("a"), answer("b")];
    assert_eq!(
        items(&request(messages)),
        json!([
            user("q"),
            assistant_text("a"),
            user("Continue."),
            assistant_text("b"),
            user("Continue.")
        ])
    );
}

#[test]
fn a_thought_without_a_following_answer_is_not_sent() {
    for options in [json!({}), json!({"store": true})] {
        let alone = vec![thought("A.", "rs_1", Some("ENC"))];
        assert_eq!(answer(options.clone(), alone), json!([]));
        let behind = vec![Part::text("a"), thought("A.", "rs_1", Some("ENC"))];
        assert_eq!(answer(options, behind), json!([assistant_text("a")]));
    }
}

#[test]
fn foreign_identifiers_and_names_are_made_valid() {
    let long = "x".repeat(65);
    let mut named = call(&long, json!({}));
    if let Part::ToolCall(call) = &mut named {
        call.name = "functions.read".into();
    }
    let messages = vec![
        Message::assistant([named]),
        result(&long, ToolResultValue::Text("t".into())),
    ];
    let items = items(&request(messages));
    let id = items[0]["call_id"].as_str().unwrap();
    assert_eq!(id.len(), 64);
    assert_eq!(
        items,
        json!([
            {"type": "function_call", "call_id": id, "name": "functions_read_682443e5", "arguments": "{}"},
            {"type": "function_call_output", "call_id": id, "output": "t"},
        ])
    );
}
