//! Each kind of part in each role.

use super::*;

/// Returns a call with the signature of Gemini.
fn signed(id: &str, signature: &str) -> Part {
    let Part::ToolCall(mut call) = call(id, json!({})) else {
        unreachable!()
    };
    let metadata = json!({"openai": {"thoughtSignature": signature}});
    call.provider_metadata = Some(Box::new(map(metadata)));
    Part::ToolCall(call)
}

#[test]
fn user_content() {
    let pdf = format!("data:application/pdf;base64,{PDF}");
    let rows = [
        (vec![Part::text("a"), Part::text("b")], json!("ab")),
        (
            vec![Part::text("see"), media("image/png", PNG, None)],
            json!([{"type": "text", "text": "see"}, image_part()]),
        ),
        (
            vec![media(
                "image/png",
                &format!("data:image/png;base64,{PNG}"),
                None,
            )],
            json!([image_part()]),
        ),
        (
            vec![
                Part::text("see"),
                media("application/pdf", &pdf, Some("a.pdf")),
                Part::text("ok"),
            ],
            json!(
                "see\n[The attachment \"a.pdf\" (application/pdf) cannot be read by this model.]\nok"
            ),
        ),
        (
            vec![
                media("image/png", "file:///a.png", None),
                media("image/png", PNG, None),
            ],
            json!([
                {"type": "text", "text": "[An attachment of type image/png cannot be read by this model.]"},
                image_part()
            ]),
        ),
        (
            vec![media("text/plain", "data:text/plain;base64,AAAA", None)],
            json!("[An attachment of type text/plain cannot be read by this model.]"),
        ),
    ];
    for (parts, expected) in rows {
        assert_eq!(
            wire_messages(vec![Message::user(parts)]),
            json!([{"role": "user", "content": expected}])
        );
    }
    assert_eq!(wire_messages(vec![Message::user([])]), json!([]));
}

#[test]
fn files_follow_the_capabilities() {
    let able = |input: &[&str]| {
        let input = input.iter().map(|kind| (*kind).to_owned()).collect();
        model(|model| {
            model.capabilities = Capabilities {
                input,
                ..Capabilities::default()
            };
        })
    };
    let parts = [
        media("application/pdf", PDF, Some("a.pdf")),
        media("image/png", PNG, None),
    ];
    let content = |model| {
        body(&request_to(model, vec![Message::user(parts.clone())]))["messages"][0]["content"]
            .clone()
    };
    assert_eq!(
        content(able(&["text", "image", "pdf"])),
        json!([
            {"type": "file", "file": {"filename": "a.pdf", "file_data": format!("data:application/pdf;base64,{PDF}")}},
            image_part()
        ])
    );
    assert_eq!(
        content(able(&["text"])),
        json!(
            "[The attachment \"a.pdf\" (application/pdf) cannot be read by this model.]\n\
               [An attachment of type image/png cannot be read by this model.]"
        )
    );
}

const WAV: &str = "UklGRiQAAABXQVZFZm10IA==";
const MP3: &str = "SUQzBAAA";
const FLAC: &str = "ZkxhQw==";

#[test]
fn sounds_follow_the_capabilities() {
    let content = |kinds: &[&str]| {
        let input = kinds.iter().map(|kind| (*kind).to_owned()).collect();
        let model = model(|model| {
            model.capabilities = Capabilities {
                input,
                ..Capabilities::default()
            };
        });
        // The second has a wrong type.
        let sounds = [
            ("audio/wav", WAV),
            ("audio/x-mp3", MP3),
            ("audio/flac", FLAC),
        ];
        let parts = sounds.map(|(kind, data)| media(kind, data, Some("a")));
        body(&request_to(model, vec![Message::user(parts)]))["messages"][0]["content"].clone()
    };
    let note =
        |kind: &str| format!("[The attachment \"a\" ({kind}) cannot be read by this model.]");
    let sound = |format: &str, data: &str| json!({"type": "input_audio", "input_audio": {"data": data, "format": format}});
    assert_eq!(
        content(&["text", "audio"]),
        json!([sound("wav", WAV), sound("mp3", MP3), {"type": "text", "text": note("audio/flac")}])
    );
    let notes = ["audio/wav", "audio/x-mp3", "audio/flac"].map(note);
    assert_eq!(content(&["text"]), json!(notes.join("\n")));
}

#[test]
fn assistant_content() {
    let hosted = Part::ToolCall(ToolCallPart {
        id: "ws_1".into(),
        name: "web_search".into(),
        input: json!({}),
        provider_executed: true,
        provider_metadata: None,
    });
    let rows = [
        (
            vec![Part::text("Deep."), Part::text(""), Part::text("R.")],
            json!([{"role": "assistant", "content": "Deep.\nR."}]),
        ),
        (vec![reasoning("a", None), reasoning("b", None)], json!([])),
        (
            vec![
                reasoning("a", None),
                reasoning("b", None),
                call("a", json!({})),
            ],
            json!([{"role": "assistant", "content": null, "tool_calls": [
                {"id": "a", "type": "function", "function": {"name": "read", "arguments": "{}"}}
            ], "reasoning_content": "ab"}]),
        ),
        (
            vec![signed("a", "S"), call("b", json!({}))],
            json!([{"role": "assistant", "content": null, "tool_calls": [
                {"id": "a", "type": "function", "function": {"name": "read", "arguments": "{}"},
                    "extra_content": {"google": {"thought_signature": "S"}}},
                {"id": "b", "type": "function", "function": {"name": "read", "arguments": "{}"}}
            ]}]),
        ),
        (
            vec![call("a", json!({})), call("b", json!("raw"))],
            json!([{"role": "assistant", "content": null, "tool_calls": [
                {"id": "a", "type": "function", "function": {"name": "read", "arguments": "{}"}},
                {"id": "b", "type": "function", "function": {"name": "read", "arguments": "\"raw\""}}
            ]}]),
        ),
        (
            vec![
                reasoning("thought", Some(json!({"anthropic": {"signature": "s"}}))),
                Part::text("R."),
            ],
            json!([{"role": "assistant", "content": "thought\nR."}]),
        ),
        (
            vec![
                reasoning("thought", Some(json!({"openai": {}, "anthropic": {}}))),
                Part::text("R."),
            ],
            json!([{"role": "assistant", "content": "R.", "reasoning_content": "thought"}]),
        ),
        (
            vec![reasoning(
                "",
                Some(json!({"anthropic": {"redactedData": "x"}})),
            )],
            json!([]),
        ),
        (
            vec![hosted.clone(), Part::text("R.")],
            json!([{"role": "assistant", "content": "R."}]),
        ),
        (vec![hosted], json!([])),
        (vec![], json!([])),
    ];
    for (parts, expected) in rows {
        let mut wire = wire_messages(vec![
            Message::assistant(parts),
            Message::user([Part::text("next")]),
        ]);
        let next = wire.as_array_mut().unwrap().pop();
        assert_eq!(next, Some(json!({"role": "user", "content": "next"})));
        assert_eq!(wire, expected);
    }
}

#[test]
fn tool_results() {
    let rows = [
        (ToolResultValue::Text("plain".into()), "plain"),
        (
            ToolResultValue::Json(json!({"b": 1, "a": [true]})),
            r#"{"b":1,"a":[true]}"#,
        ),
        (ToolResultValue::Json(json!("text")), r#""text""#),
        (ToolResultValue::Error(json!("no")), "no"),
        (
            ToolResultValue::Error(
                json!({"error": {"type": "unknown", "message": "no"}, "content": [], "structured": {}}),
            ),
            r#"{"error":{"type":"unknown","message":"no"},"content":[],"structured":{}}"#,
        ),
        (ToolResultValue::Content(vec![text("a"), text("b")]), "a\nb"),
        (ToolResultValue::Content(vec![]), ""),
        (
            ToolResultValue::Content(vec![text("a"), file("video/mp4")]),
            "a\n[The attachment \"shot\" (video/mp4) cannot be read by this model.]",
        ),
    ];
    for (value, expected) in rows {
        assert_eq!(
            wire_messages(vec![Message::tool([result("c", value)])]),
            json!([{"role": "tool", "tool_call_id": "c", "content": expected}])
        );
    }
}

#[test]
fn images_of_results_follow_all_results() {
    let run = || {
        vec![
            Message::assistant([call("a", json!({})), call("b", json!({}))]),
            Message::tool([result(
                "a",
                ToolResultValue::Content(vec![text("one"), file("image/png")]),
            )]),
            Message::tool([result(
                "b",
                ToolResultValue::Content(vec![file("image/png")]),
            )]),
        ]
    };
    let tools = [
        json!({"role": "tool", "tool_call_id": "a", "content": "one"}),
        json!({"role": "tool", "tool_call_id": "b", "content": ""}),
    ];
    let images = json!({"role": "user", "content": [image_part(), image_part()]});
    let rows = [
        (vec![], vec![images.clone()]),
        (
            vec![Message::user([Part::text("next")])],
            vec![images.clone(), json!({"role": "user", "content": "next"})],
        ),
        (
            vec![Message::assistant([Part::text("seen")])],
            vec![
                images.clone(),
                json!({"role": "assistant", "content": "seen"}),
                json!({"role": "user", "content": "Continue."}),
            ],
        ),
        (
            vec![Message::system("now")],
            vec![
                json!({"role": "user", "content": [image_part(), image_part(),
                {"type": "text", "text": "<system-update>\nnow\n</system-update>"}]}),
            ],
        ),
    ];
    for (more, expected) in rows {
        let wire = wire_messages([run(), more].concat());
        assert_eq!(wire.as_array().unwrap()[1..3], tools);
        assert_eq!(wire.as_array().unwrap()[3..], expected);
    }
}

#[test]
fn system_updates_join_the_preceding_user_message() {
    let update = "<system-update>\na &lt;b&gt;\n</system-update>";
    let user = |content: Value| json!({"role": "user", "content": content});
    let rows = [
        (
            vec![
                Message::user([Part::text("hi")]),
                Message::system("a <b>"),
                Message::system("a <b>"),
            ],
            json!([user(json!(format!("hi\n{update}\n{update}")))]),
        ),
        (
            vec![
                Message::user([media("image/png", PNG, None)]),
                Message::system("a <b>"),
            ],
            json!([user(
                json!([image_part(), {"type": "text", "text": update}])
            )]),
        ),
        (
            vec![Message::system("a <b>"), Message::user([Part::text("hi")])],
            json!([user(json!(update)), user(json!("hi"))]),
        ),
        (
            vec![
                Message::user([Part::text("hi")]),
                Message::assistant([]),
                Message::system("a <b>"),
            ],
            json!([user(json!("hi")), user(json!(update))]),
        ),
        (
            vec![
                Message::tool([result("c", ToolResultValue::Text("r".into()))]),
                Message::system("a <b>"),
            ],
            json!([{"role": "tool", "tool_call_id": "c", "content": "r"}, user(json!(update))]),
        ),
        (
            vec![Message::new(
                Role::System,
                [Part::text("a"), Part::text("b")],
            )],
            json!([user(json!("<system-update>\na\nb\n</system-update>"))]),
        ),
    ];
    for (messages, expected) in rows {
        assert_eq!(wire_messages(messages), expected);
    }
}

#[test]
fn an_answer_never_ends_a_request_or_follows_another_answer() {
    let question = || Message::user([Part::text("hi")]);
    let answer = |text: &str| Message::assistant([Part::text(text)]);
    let user = |text: &str| json!({"role": "user", "content": text});
    let said = |text: &str| json!({"role": "assistant", "content": text});
    let rows = [
        (
            vec![question(), answer("a")],
            json!([user("hi"), said("a"), user("Continue.")]),
        ),
        (
            vec![question(), answer("a"), answer("b"), answer("c")],
            json!([
                user("hi"),
                said("a"),
                user("Continue."),
                said("b"),
                user("Continue."),
                said("c"),
                user("Continue."),
            ]),
        ),
        (
            vec![
                question(),
                answer("a"),
                Message::system("new"),
                answer("b"),
                question(),
            ],
            json!([
                user("hi"),
                said("a"),
                user("<system-update>\nnew\n</system-update>"),
                said("b"),
                user("hi"),
            ]),
        ),
        // Reasoning alone is not an answer.
        (
            vec![
                question(),
                answer("a"),
                Message::assistant([reasoning("t", None)]),
                answer("b"),
                question(),
            ],
            json!([
                user("hi"),
                said("a"),
                user("Continue."),
                said("b"),
                user("hi")
            ]),
        ),
    ];
    for (messages, expected) in rows {
        assert_eq!(wire_messages(messages), expected);
    }
}

#[test]
fn the_last_instruction_of_a_step_without_tools_is_a_user_message() {
    let mut request = request(tool_turn());
    request.closing = Some(Message::assistant([Part::text("Sum up.")]));
    let wire = body(&request)["messages"].take();
    let told = json!({"role": "user", "content": "<system-update>\nSum up.\n</system-update>"});
    assert_eq!(wire.as_array().unwrap().last(), Some(&told));
}

#[test]
fn names_of_calls_are_valid_for_servers() {
    let mut named = call("a", json!({}));
    if let Part::ToolCall(call) = &mut named {
        call.name = "functions.bash\u{7}".into();
    }
    let wire = wire_messages(vec![
        Message::user([Part::text("x")]),
        Message::assistant([named]),
        Message::tool([result("a", ToolResultValue::Text("t".into()))]),
    ]);
    let name = wire[1]["tool_calls"][0]["function"]["name"]
        .as_str()
        .unwrap();
    assert!(name.starts_with("functions_bash__"), "{name}");
}

#[test]
fn impossible_requests_are_refused() {
    let rows = [
        (
            vec![Message::user([call("c", json!({}))])],
            "user messages cannot contain tool-call parts",
        ),
        (
            vec![
                Message::assistant([call("c", json!({}))]),
                Message::system("now"),
                Message::tool([result("c", ToolResultValue::Text("r".into()))]),
            ],
            "a system message cannot stand between a tool call and its result",
        ),
    ];
    for (messages, expected) in rows {
        let error = refusal(&request(messages));
        assert_eq!(
            (error.to_string().as_str(), error.status()),
            (expected, None)
        );
    }
    let overlaid = request_to(
        model(|model| model.body = map(json!({"messages": [], "x": 1}))),
        vec![],
    );
    assert_eq!(
        refusal(&overlaid).to_string(),
        "http.body cannot overlay protocol-owned field(s): messages"
    );
}
