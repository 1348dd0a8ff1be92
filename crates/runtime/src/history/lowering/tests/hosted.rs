//! Calls that the provider ran, and their files.

use super::*;

#[test]
fn the_paths_of_stored_files_follow_the_answer_of_any_model() {
    let with_files = |paths: Value| {
        let mut state = completed_with(json!([{"type": "text", "text": "x"}]));
        state["result"] = json!({"type": "json", "value": {}});
        state["outputPaths"] = paths;
        let mut part = tool("h1", state);
        part["provider"] = json!({"executed": true});
        json!([part])
    };
    let told = |message: &Value| lowered(message)[1].clone();
    let paths = json!(["/data/a.png", "/data/b.pdf"]);
    let note = user("The host stored these files of the answer above:\n/data/a.png\n/data/b.pdf");
    assert_eq!(told(&own(with_files(paths.clone()))), note[0]);
    assert_eq!(told(&foreign(with_files(paths.clone()))), note[0]);
    assert_eq!(told(&own(with_files(json!([])))), Value::Null);
    // The answer is not complete: the next one continues it.
    let mut paused = own(with_files(paths));
    paused["metadata"] = json!({"pauseTurn": true});
    assert_eq!(told(&paused), Value::Null);
}

#[test]
fn hosted_calls_are_inside_the_answer_and_text_for_any_other_model() {
    let hosted = |state: Value| {
        let mut part = tool("h1", state);
        part["provider"] = json!({"executed": true});
        json!([part, {"type": "text", "id": "t", "text": "Found."}])
    };
    let sent = |kind: &str, value: Value| {
        let mut call = call("h1", json!({"a": 1}));
        call["providerExecuted"] = json!(true);
        let result = json!({
            "type": "tool-result", "id": "h1", "name": "look",
            "result": {"type": kind, "value": value}, "providerExecuted": true,
        });
        assistant_says(json!([call, result, text("Found.")]))
    };
    let told = |said: &str| assistant_says(json!([text(said), text("Found.")]));
    let native = json!([{"url": "https://example.com"}]);
    let found_as = |result: Value| {
        let mut found = completed_with(json!([{"type": "text", "text": "x"}]));
        found["result"] = result;
        found
    };
    let found = found_as(json!({"type": "json", "value": native}));
    let refused = |result: Value| {
        json!({
            "status": "error", "input": {"a": 1}, "structured": {}, "content": [],
            "error": {"type": "unknown", "message": "no"}, "result": result,
        })
    };
    let parts = json!([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]);
    let lost = json!({
        "status": "error", "input": {"a": 1}, "structured": {}, "content": [],
        "error": {"type": "unknown", "message": "no"},
    });
    let error = json!({
        "error": {"type": "unknown", "message": "no"}, "content": [], "structured": {},
    });
    check([
        (own(hosted(found.clone())), sent("json", native.clone())),
        (
            own(hosted(found_as(json!({"type": "text", "value": "a"})))),
            sent("text", json!("a")),
        ),
        (
            own(hosted(found_as(json!({"type": "content", "value": parts})))),
            sent("content", parts),
        ),
        // Other programs can have stored the bare value.
        (own(hosted(found_as(native.clone()))), sent("json", native)),
        (
            own(hosted(completed_with(
                json!([{"type": "text", "text": "x"}]),
            ))),
            sent("text", json!("x")),
        ),
        (
            own(hosted(refused(
                json!({"type": "error", "value": {"code": 1}}),
            ))),
            sent("error", json!({"code": 1})),
        ),
        (
            own(hosted(refused(json!({"code": 1})))),
            sent("error", json!({"code": 1})),
        ),
        (own(hosted(lost)), sent("error", error)),
        (
            foreign(hosted(found)),
            told(concat!(
                "Called the tool look with {\"a\":1}\n",
                "Its result: [{\"url\":\"https://example.com\"}]",
            )),
        ),
        (
            foreign(hosted(json!({
                "status": "running", "input": {"a": 1}, "structured": {}, "content": [],
            }))),
            told("Called the tool look with {\"a\":1}"),
        ),
    ]);
}

#[test]
fn a_pruned_result_of_the_provider_is_text_if_its_provider_accepts_that() {
    let found = |id: &str, url: &str, pruned: bool| {
        let mut state = completed_with(json!([]));
        state["result"] = json!({"type": "json", "value": [{ "url": url }]});
        let mut part = tool(id, state);
        part["provider"] = json!({"executed": true, "metadata": {"p": {"encrypted": "e"}}});
        if pruned {
            part["time"]["pruned"] = json!(3);
        }
        part
    };
    let said = json!({"type": "text", "id": "t", "text": "Found."});
    let parts = |pruned| json!([found("h1", "a", pruned), found("h2", "b", false), said]);
    let told = |result: &str| {
        text(&format!(
            "Called the tool look with {{\"a\":1}}\nIts result: {result}"
        ))
    };
    let replaced = assistant_says(json!([
        told(CLEARED),
        // The results of one answer belong together.
        told("[{\"url\":\"b\"}]"),
        text("Found."),
    ]));
    assert_eq!(lowered(&own(parts(true))), replaced);
    assert_eq!(lowered(&foreign(parts(true))), replaced);
    // The protocol of the target requires the results of an answer with reasoning.
    let thinks = |pruned| {
        let mut parts = parts(pruned);
        let reasoning = json!({"type": "reasoning", "id": "r", "text": "Hm.", "providerMetadata": {"p": {"id": "r"}}});
        parts.as_array_mut().unwrap().insert(0, reasoning);
        own(parts)
    };
    assert_eq!(lowered(&thinks(true)), lowered(&thinks(false)));
}
