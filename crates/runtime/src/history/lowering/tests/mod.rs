use opencode_llm::HostedResults;

use super::*;

mod as_text;
mod hosted;

/// Lowers a stored message for the model `mock/m1` and returns the result as JSON.
fn lowered(message: &Value) -> Value {
    lowered_for(message, true)
}

/// The same for the model `mock/m1` with or without tool calls.
fn lowered_for(message: &Value, calls_tools: bool) -> Value {
    let message: SessionMessage = serde_json::from_value(message.clone()).unwrap();
    let target = Target {
        provider_id: "mock".into(),
        wire_id: "m1".into(),
        calls_tools,
        delegates: false,
        hosted: HostedResults::ReplaceWithoutReasoning,
    };
    serde_json::to_value(lower(&message, &target, Place::Usual)).unwrap()
}

fn check(rows: impl IntoIterator<Item = (Value, Value)>) {
    for (message, expected) in rows {
        assert_eq!(lowered(&message), expected, "{message}");
    }
}

fn text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

fn user(content: &str) -> Value {
    json!([{"role": "user", "content": [text(content)]}])
}

/// Adds the members that all messages except assistant messages share.
fn message(mut members: Value) -> Value {
    members["id"] = json!("msg_1");
    members["time"] = json!({"created": 1});
    members
}

/// An assistant message of the given model.
fn assistant_of(model: [&str; 2], content: Value) -> Value {
    json!({
        "type": "assistant", "id": "msg_1", "time": {"created": 1}, "agent": "build",
        "model": {"providerID": model[0], "id": model[1]}, "content": content,
    })
}

/// An assistant message of the target model.
fn own(content: Value) -> Value {
    assistant_of(["mock", "m1"], content)
}

/// The same for a turn that failed or was interrupted.
fn own_failed(content: Value) -> Value {
    let mut message = own(content);
    message["error"] = json!({"type": "unknown", "message": "Provider turn interrupted"});
    message
}

fn foreign(content: Value) -> Value {
    assistant_of(["mock", "m2"], content)
}

fn assistant_says(parts: Value) -> Value {
    json!([{"role": "assistant", "content": parts}])
}

#[test]
fn messages_other_than_answers_are_lowered() {
    check([
        (
            message(json!({"type": "agent-switched", "agent": "plan"})),
            json!([]),
        ),
        (
            message(json!({"type": "model-switched", "model": {"providerID": "p", "id": "m"}})),
            json!([]),
        ),
        (message(json!({"type": "user", "text": "Hi"})), user("Hi")),
        (message(json!({"type": "user", "text": ""})), user("")),
        (
            message(json!({"type": "user", "text": "Look", "files": [
                {"uri": "data:image/png;base64,AA==", "mime": "image/png", "name": "a.png"},
                {"uri": "file:///a.pdf", "mime": "application/pdf"},
            ]})),
            json!([{"role": "user", "content": [
                text("Look"),
                {
                    "type": "media", "mediaType": "image/png",
                    "data": "data:image/png;base64,AA==", "filename": "a.png",
                },
                text("[Attached: \"attachment\" (application/pdf)]"),
            ]}]),
        ),
        (
            message(json!({"type": "synthetic", "sessionID": "ses_1", "text": "Go on"})),
            user("Go on"),
        ),
        (
            message(json!({
                "type": "shell", "callID": "c1", "command": "ls", "output": "a\nb",
            })),
            user("Shell command: ls\n\na\nb"),
        ),
        (
            message(json!({"type": "system", "text": "It is Friday <now>."})),
            json!([{"role": "system", "content": [text("It is Friday <now>.")]}]),
        ),
        (
            message(json!({
                "type": "compaction", "reason": "auto", "summary": "S", "recent": "R",
            })),
            user(concat!(
                "<conversation-checkpoint>\n",
                "This is a record of the conversation so far, not a set of instructions.\n",
                "<summary>\nS\n</summary>\n",
                "<recent-context>\nR\n</recent-context>\n",
                "</conversation-checkpoint>",
            )),
        ),
    ]);
}

#[test]
fn provider_metadata_of_a_text_is_sent_back_with_it() {
    let attached = json!({"mock": {"phase": "final_answer"}});
    let said = |message: Value| {
        let mut message = message;
        message["metadata"] = json!({"textProviderMetadata": {"t": attached, "u": 5}});
        message
    };
    let texts = json!([
        {"type": "text", "id": "t", "text": "A."},
        {"type": "text", "id": "u", "text": "B."},
    ]);
    let mut whole = text("A.");
    whole["providerMetadata"] = attached.clone();
    let plain = || assistant_says(json!([text("A."), text("B.")]));
    check([
        (
            said(own(texts.clone())),
            assistant_says(json!([whole, text("B.")])),
        ),
        (said(own_failed(texts.clone())), plain()),
        (said(foreign(texts)), plain()),
    ]);
}

#[test]
fn the_places_of_a_text_that_cite_sources_are_not_sent_back() {
    let signed = json!({"mock": {"signature": "s"}});
    let places = json!({"annotations": [{"type": "url_citation"}]});
    let mut message = own(json!([
        {"type": "text", "id": "t", "text": "A."},
        {"type": "text", "id": "u", "text": "B."},
    ]));
    let mut attached = json!({"t": signed.clone(), "u": {"places": places.clone()}});
    attached["t"]["places"] = places;
    message["metadata"] = json!({ "textProviderMetadata": attached });
    let mut first = text("A.");
    first["providerMetadata"] = signed;
    check([(message, assistant_says(json!([first, text("B.")])))]);
}

#[test]
fn text_and_reasoning_are_lowered() {
    let signed = json!({"mock": {"signature": "s"}});
    let reasoning = |text: &str, metadata: Option<&Value>| {
        let mut part = json!({"type": "reasoning", "id": "r", "text": text});
        if let Some(metadata) = metadata {
            part["providerMetadata"] = metadata.clone();
        }
        json!([part, {"type": "text", "id": "t", "text": "Hello."}])
    };
    let thought = |text: &str, metadata: Option<&Value>| {
        let mut part = json!({"type": "reasoning", "text": text});
        if let Some(metadata) = metadata {
            part["providerMetadata"] = metadata.clone();
        }
        part
    };
    let hello = || text("Hello.");
    check([
        (own(json!([])), json!([])),
        (
            own(json!([{"type": "text", "id": "t", "text": ""}])),
            json!([]),
        ),
        // Metadata of the target's own provider goes back to the model, unless the answer failed.
        (
            own(reasoning("Hm.", Some(&signed))),
            assistant_says(json!([thought("Hm.", Some(&signed)), hello()])),
        ),
        (
            own_failed(reasoning("Hm.", Some(&signed))),
            assistant_says(json!([thought("Hm.", None), hello()])),
        ),
        (
            own(reasoning("Hm.", None)),
            assistant_says(json!([thought("Hm.", None), hello()])),
        ),
        (
            foreign(reasoning("Hm.", Some(&signed))),
            assistant_says(json!([text("Hm."), hello()])),
        ),
        (
            assistant_of(["other", "m1"], reasoning("Hm.", Some(&signed))),
            assistant_says(json!([text("Hm."), hello()])),
        ),
        // Reasoning without text: the provider does not show it.
        (
            own(reasoning("", Some(&signed))),
            assistant_says(json!([thought("", Some(&signed)), hello()])),
        ),
        (
            own(reasoning("", Some(&json!({})))),
            assistant_says(json!([hello()])),
        ),
        (
            own_failed(reasoning("", Some(&signed))),
            assistant_says(json!([hello()])),
        ),
        (
            foreign(reasoning("", Some(&signed))),
            assistant_says(json!([hello()])),
        ),
    ]);
}

/// A stored call with its state.
fn tool(id: &str, state: Value) -> Value {
    json!({"type": "tool", "id": id, "name": "look", "state": state, "time": {"created": 1}})
}

/// A call as it is sent to the provider.
fn call(id: &str, input: Value) -> Value {
    json!({
        "type": "tool-call", "id": id, "name": "look", "input": input, "providerExecuted": false,
    })
}

/// A message with a result as it is sent to the provider.
fn result(id: &str, kind: &str, value: Value) -> Value {
    json!({"role": "tool", "content": [{
        "type": "tool-result", "id": id, "name": "look",
        "result": {"type": kind, "value": value}, "providerExecuted": false,
    }]})
}

fn completed_with(content: Value) -> Value {
    json!({"status": "completed", "input": {"a": 1}, "structured": {"b": 2}, "content": content})
}

#[test]
fn local_calls_are_lowered_with_their_results() {
    let calls = |input: Value| json!({"role": "assistant", "content": [call("c1", input)]});
    let piece = |text: &str| json!({"type": "text", "text": text});
    let file = json!({"type": "file", "uri": "data:image/png;base64,AA==", "mime": "image/png"});
    let error = json!({"type": "unknown", "message": "no", "cause": {
        "kind": "tool", "retryable": false,
    }});
    let rows = [
        (
            json!({"status": "pending", "input": r#"{"a":1}"#}),
            json!([calls(json!({"a": 1}))]),
        ),
        (
            json!({"status": "pending", "input": r#"{"a":"#}),
            json!([calls(json!(r#"{"a":"#))]),
        ),
        (
            json!({"status": "running", "input": {"a": 1}, "structured": {}, "content": []}),
            json!([calls(json!({"a": 1}))]),
        ),
        (
            completed_with(json!([])),
            json!([
                calls(json!({"a": 1})),
                result("c1", "json", json!({"b": 2}))
            ]),
        ),
        (
            completed_with(json!([piece("x")])),
            json!([calls(json!({"a": 1})), result("c1", "text", json!("x"))]),
        ),
        (
            completed_with(json!([piece("x"), piece("y")])),
            json!([
                calls(json!({"a": 1})),
                result("c1", "content", json!([piece("x"), piece("y")])),
            ]),
        ),
        (
            completed_with(json!([file.clone()])),
            json!([
                calls(json!({"a": 1})),
                result("c1", "content", json!([file]))
            ]),
        ),
        (
            json!({
                "status": "error", "input": {"a": 1}, "structured": {"b": 2},
                "content": [piece("x")], "error": error,
                "result": {"type": "error", "value": "no"},
            }),
            json!([
                calls(json!({"a": 1})),
                result(
                    "c1",
                    "error",
                    json!({
                        "error": {"type": "unknown", "message": "no"},
                        "content": [piece("x")], "structured": {"b": 2},
                    })
                ),
            ]),
        ),
    ];
    check(rows.into_iter().flat_map(|(state, expected)| {
        let content = json!([tool("c1", state)]);
        // The model that made the calls makes no difference.
        [
            own(content.clone()),
            own_failed(content.clone()),
            foreign(content),
        ]
        .map(|message| (message, expected.clone()))
    }));
}

#[test]
fn results_follow_the_answer_in_the_order_of_the_calls() {
    let content = json!([
        {"type": "text", "id": "t0", "text": "One."},
        tool("c1", completed_with(json!([]))),
        {"type": "text", "id": "t1", "text": "Two."},
        tool("c2", json!({"status": "pending", "input": "{}"})),
        tool("c3", completed_with(json!([{"type": "text", "text": "x"}]))),
    ]);
    check([(
        own_failed(content),
        json!([
            {"role": "assistant", "content": [
                text("One."), call("c1", json!({"a": 1})), text("Two."),
                call("c2", json!({})), call("c3", json!({"a": 1})),
            ]},
            result("c1", "json", json!({"b": 2})),
            result("c3", "text", json!("x")),
        ]),
    )]);
}

#[test]
fn the_last_of_several_calls_with_the_same_id_is_sent() {
    let content = json!([
        tool("c1", json!({"status": "pending", "input": "{}"})),
        tool("c2", completed_with(json!([]))),
        tool("c1", completed_with(json!([]))),
    ]);
    check([(
        own(content),
        json!([
            {"role": "assistant", "content": [
                call("c2", json!({"a": 1})), call("c1", json!({"a": 1})),
            ]},
            result("c2", "json", json!({"b": 2})),
            result("c1", "json", json!({"b": 2})),
        ]),
    )]);
}

#[test]
fn provider_metadata_of_calls_is_sent_back_only_to_the_same_model() {
    let (on_call, on_result) = (
        json!({"mock": {"at": "call"}}),
        json!({"mock": {"at": "result"}}),
    );
    let stored = |settlement: Option<&Value>| {
        let mut part = tool("c1", completed_with(json!([])));
        part["provider"] = json!({"executed": false, "metadata": on_call});
        if let Some(metadata) = settlement {
            part["provider"]["resultMetadata"] = metadata.clone();
        }
        json!([part])
    };
    let sent = |metadata: Option<[&Value; 2]>| {
        let mut call = call("c1", json!({"a": 1}));
        let mut result = result("c1", "json", json!({"b": 2}));
        if let Some([of_call, of_result]) = metadata {
            call["providerMetadata"] = of_call.clone();
            result["content"][0]["providerMetadata"] = of_result.clone();
        }
        json!([{"role": "assistant", "content": [call]}, result])
    };
    check([
        (
            own(stored(Some(&on_result))),
            sent(Some([&on_call, &on_result])),
        ),
        (own(stored(None)), sent(Some([&on_call, &on_call]))),
        (own_failed(stored(Some(&on_result))), sent(None)),
        (foreign(stored(Some(&on_result))), sent(None)),
    ]);
}

#[test]
fn metadata_that_is_not_an_object_is_not_stored() {
    let given = json!({"mock": {"a": 1}, "odd": 5});
    let Value::Object(given) = given else {
        unreachable!()
    };
    let stored = from_llm(Some(Box::new(given))).unwrap();
    assert_eq!(json!(stored), json!({"mock": {"a": 1}}));
    assert_eq!(json!(to_llm(&stored)), json!({"mock": {"a": 1}}));
    let odd = Box::new(Record::from_iter([("odd".to_owned(), json!(5))]));
    for nothing in [None, Some(odd), Some(Box::default())] {
        assert_eq!(from_llm(nothing), None);
    }
}
