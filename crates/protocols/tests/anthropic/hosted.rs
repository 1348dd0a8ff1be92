//! Calls that the provider ran, in later requests.

use super::*;

/// Returns the parts of an answer with a call of the provider and its result.
fn ran(id: &str, tool: &str, block: &str, content: Value) -> Vec<Part> {
    let [call, result] = hosted(id, Some(json!({"anthropic": {"blockType": block}})));
    let (Part::ToolCall(mut call), Part::ToolResult(mut result)) = (call, result) else {
        unreachable!()
    };
    call.name = tool.into();
    result.result = ToolResultValue::Json(content);
    vec![
        Part::ToolCall(call),
        Part::ToolResult(result),
        Part::text("a"),
    ]
}

/// Returns the blocks of an answer as a request contains them.
fn repeated(parts: Vec<Part>) -> Value {
    let messages = vec![
        Message::user([Part::text("q")]),
        Message::assistant(parts),
        Message::user([Part::text("r")]),
    ];
    wire_messages(&request(messages))[1]["content"].clone()
}

#[test]
fn results_of_the_provider_go_back_in_their_documented_forms() {
    let file = json!({"type": "code_execution_output", "file_id": "f"});
    let bash_file = json!({"type": "bash_code_execution_output", "file_id": "f"});
    let document = json!({"type": "document", "title": null, "citations": null,
        "source": {"type": "text", "media_type": "text/plain", "data": "d"}});
    let failed = |kind: &str| json!({"type": kind, "error_code": "unavailable"});
    let [search, fetch] = ["web_search", "web_fetch"];
    let [code, bash, editor] = [
        "code_execution",
        "bash_code_execution",
        "text_editor_code_execution",
    ];
    for (tool, block, content) in [
        (search, "web_search_tool_result", json!([])),
        (search, "web_search_tool_result", json!([page()])),
        (
            search,
            "web_search_tool_result",
            failed("web_search_tool_result_error"),
        ),
        (
            fetch,
            "web_fetch_tool_result",
            json!({"type": "web_fetch_result", "url": "https://a.test", "content": document, "retrieved_at": "2026"}),
        ),
        (
            fetch,
            "web_fetch_tool_result",
            failed("web_fetch_tool_result_error"),
        ),
        (
            code,
            "code_execution_tool_result",
            json!({"type": "code_execution_result", "stdout": "2", "stderr": "", "return_code": 0, "content": [file]}),
        ),
        (
            code,
            "code_execution_tool_result",
            json!({"type": "encrypted_code_execution_result", "encrypted_stdout": "e", "stderr": "", "return_code": 0, "content": []}),
        ),
        (
            code,
            "code_execution_tool_result",
            failed("code_execution_tool_result_error"),
        ),
        (
            bash,
            "bash_code_execution_tool_result",
            json!({"type": "bash_code_execution_result", "stdout": "2", "stderr": "", "return_code": 0, "content": [bash_file]}),
        ),
        (
            bash,
            "bash_code_execution_tool_result",
            failed("bash_code_execution_tool_result_error"),
        ),
        (
            editor,
            "text_editor_code_execution_tool_result",
            json!({"type": "text_editor_code_execution_view_result", "file_type": "text", "content": "c", "num_lines": 1}),
        ),
        (
            editor,
            "text_editor_code_execution_tool_result",
            json!({"type": "text_editor_code_execution_create_result", "is_file_update": true}),
        ),
        (
            editor,
            "text_editor_code_execution_tool_result",
            json!({"type": "text_editor_code_execution_str_replace_result", "lines": ["a"], "old_start": null}),
        ),
        (
            editor,
            "text_editor_code_execution_tool_result",
            json!({"type": "text_editor_code_execution_tool_result_error", "error_code": "unavailable", "error_message": null}),
        ),
        (
            "tool_search_tool_regex",
            "tool_search_tool_result",
            json!({"type": "tool_search_tool_search_result", "tool_references": [{"type": "tool_reference", "tool_name": "t"}]}),
        ),
        (
            "tool_search_tool_bm25",
            "tool_search_tool_result",
            failed("tool_search_tool_result_error"),
        ),
    ] {
        let mut given = content.clone();
        if let Value::Object(members) = &mut given {
            members.insert("of_a_response".into(), json!(1));
        }
        assert_eq!(
            repeated(ran("srvtoolu_1", tool, block, given)),
            json!([
                {"type": "server_tool_use", "id": "srvtoolu_1", "name": tool, "input": {"query": "x"}},
                {"type": block, "tool_use_id": "srvtoolu_1", "content": content},
                assistant_text("a"),
            ]),
            "{content}"
        );
    }
}

#[test]
fn results_of_the_provider_in_other_forms_do_not_go_back() {
    let block = "web_search_tool_result";
    let mut page_without_text = page();
    page_without_text["encrypted_content"] = Value::Null;
    for (id, tool, block, content) in [
        ("s", "web_search", block, Value::Null),
        ("s", "web_search", block, json!("text")),
        ("s", "web_search", block, json!([page_without_text])),
        (
            "s",
            "web_search",
            block,
            json!([{"type": "web_search_result"}]),
        ),
        (
            "s",
            "web_search",
            block,
            json!({"error": {"message": "interrupted"}, "content": [], "structured": {}}),
        ),
        (
            "s",
            "web_search",
            block,
            json!({"type": "web_fetch_tool_result_error", "error_code": "unavailable"}),
        ),
        ("s", "web_search", "web_fetch_tool_result", json!([page()])),
        ("s", "web_search", "search_tool_result", json!([page()])),
        ("s", "search", block, json!([page()])),
        ("call_1", "web_search", block, json!([page()])),
    ] {
        let parts = ran(id, tool, block, content.clone());
        assert_eq!(
            repeated(parts),
            json!([assistant_text("a")]),
            "{id} {tool} {block} {content}"
        );
    }
    // A paused answer that ends in a call of which the provider knows nothing.
    for (id, tool) in [("call_1", "web_search"), ("s", "search")] {
        let call = ran(id, tool, block, Value::Null).swap_remove(0);
        let paused = Message::paused([Part::text("a"), call]);
        let sent = wire_messages(&request(vec![Message::user([Part::text("q")]), paused]));
        assert_eq!(
            sent[1]["content"],
            json!([assistant_text("a")]),
            "{id} {tool}"
        );
    }
}
