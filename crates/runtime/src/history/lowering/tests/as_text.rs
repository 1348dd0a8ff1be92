//! Messages for a model that calls no tools.

use super::*;

#[test]
fn a_model_that_calls_no_tools_reads_calls_and_results_as_text() {
    let completed = |content: Value| json!({"status": "completed", "input": {"path": "a"}, "structured": {"n": 1}, "content": content});
    let message = own(json!([
        {"type": "text", "id": "t", "text": "See."},
        tool("1", completed(json!([{"type": "text", "text": "alpha"}]))),
        tool("2", completed(json!([]))),
        tool("3", completed(json!([
            {"type": "text", "text": "A picture"},
            {"type": "file", "uri": "data:image/png;base64,AA==", "mime": "image/png"},
        ]))),
        tool("4", json!({"status": "running", "input": {"path": "b"}, "structured": {}, "content": []})),
    ]));
    let called = |path: &str| {
        text(&format!(
            "Called the tool look with {{\"path\":\"{path}\"}}"
        ))
    };
    let answered = |parts: Value| json!({"role": "user", "content": parts});
    assert_eq!(
        lowered_for(&message, false),
        json!([
            {"role": "assistant", "content": [
                text("See."), called("a"), called("a"), called("a"), called("b"),
            ]},
            answered(json!([text("The tool look answered: alpha")])),
            answered(json!([text("The tool look answered: {\"n\":1}")])),
            answered(json!([
                text("The tool look answered: "),
                text("A picture"),
                {"type": "media", "mediaType": "image/png", "data": "data:image/png;base64,AA=="},
            ])),
        ])
    );
}
