//! Calls that the provider ran, in the forms in which a request may repeat them.
//!
//! The server refuses a request with a block that it does not know, and a session sends its blocks again with each
//! request. So only calls of documented tools go back, with results of documented forms and with documented members.

use opencode_llm::canonical::request::{Part, ToolCallPart, ToolResultValue};
use serde_json::Value;

use super::text_member;
use crate::published::Form;

/// The beginning of the identifiers of calls without one of the server.
const OWN_ID: &str = "call_";

/// A type of result blocks.
struct Kind {
    name: &'static str,
    tools: &'static [&'static str],
    contents: &'static [Form],
}

const PAGE: Form = Form::Object(
    "web_search_result",
    &[
        ("encrypted_content", Form::Text),
        ("title", Form::Text),
        ("url", Form::Text),
        ("page_age", Form::Optional(&Form::Text)),
    ],
);

const DOCUMENT: Form = Form::Object(
    "document",
    &[
        ("source", Form::Members),
        ("title", Form::Optional(&Form::Text)),
        ("context", Form::Optional(&Form::Text)),
        ("citations", Form::Optional(&Form::Members)),
    ],
);

const CODE_FILE: Form = Form::Object("code_execution_output", &[("file_id", Form::Text)]);

const BASH_FILE: Form = Form::Object("bash_code_execution_output", &[("file_id", Form::Text)]);

const FOUND_TOOL: Form = Form::Object("tool_reference", &[("tool_name", Form::Text)]);

const KINDS: [Kind; 6] = [
    Kind {
        name: "web_search_tool_result",
        tools: &["web_search"],
        contents: &[
            Form::List(&PAGE),
            Form::Object(
                "web_search_tool_result_error",
                &[("error_code", Form::Text)],
            ),
        ],
    },
    Kind {
        name: "web_fetch_tool_result",
        tools: &["web_fetch"],
        contents: &[
            Form::Object(
                "web_fetch_result",
                &[
                    ("content", DOCUMENT),
                    ("url", Form::Text),
                    ("retrieved_at", Form::Optional(&Form::Text)),
                ],
            ),
            Form::Object("web_fetch_tool_result_error", &[("error_code", Form::Text)]),
        ],
    },
    Kind {
        name: "code_execution_tool_result",
        tools: &["code_execution"],
        contents: &[
            Form::Object(
                "code_execution_result",
                &[
                    ("content", Form::List(&CODE_FILE)),
                    ("return_code", Form::Number),
                    ("stdout", Form::Text),
                    ("stderr", Form::Text),
                ],
            ),
            Form::Object(
                "encrypted_code_execution_result",
                &[
                    ("content", Form::List(&CODE_FILE)),
                    ("return_code", Form::Number),
                    ("encrypted_stdout", Form::Text),
                    ("stderr", Form::Text),
                ],
            ),
            Form::Object(
                "code_execution_tool_result_error",
                &[("error_code", Form::Text)],
            ),
        ],
    },
    Kind {
        name: "bash_code_execution_tool_result",
        tools: &["bash_code_execution"],
        contents: &[
            Form::Object(
                "bash_code_execution_result",
                &[
                    ("content", Form::List(&BASH_FILE)),
                    ("return_code", Form::Number),
                    ("stdout", Form::Text),
                    ("stderr", Form::Text),
                ],
            ),
            Form::Object(
                "bash_code_execution_tool_result_error",
                &[("error_code", Form::Text)],
            ),
        ],
    },
    Kind {
        name: "text_editor_code_execution_tool_result",
        tools: &["text_editor_code_execution"],
        contents: &[
            Form::Object(
                "text_editor_code_execution_view_result",
                &[
                    ("content", Form::Text),
                    ("file_type", Form::Text),
                    ("num_lines", Form::Optional(&Form::Number)),
                    ("start_line", Form::Optional(&Form::Number)),
                    ("total_lines", Form::Optional(&Form::Number)),
                ],
            ),
            Form::Object(
                "text_editor_code_execution_create_result",
                &[("is_file_update", Form::Flag)],
            ),
            Form::Object(
                "text_editor_code_execution_str_replace_result",
                &[
                    ("lines", Form::Optional(&Form::List(&Form::Text))),
                    ("new_lines", Form::Optional(&Form::Number)),
                    ("new_start", Form::Optional(&Form::Number)),
                    ("old_lines", Form::Optional(&Form::Number)),
                    ("old_start", Form::Optional(&Form::Number)),
                ],
            ),
            Form::Object(
                "text_editor_code_execution_tool_result_error",
                &[
                    ("error_code", Form::Text),
                    ("error_message", Form::Optional(&Form::Text)),
                ],
            ),
        ],
    },
    Kind {
        name: "tool_search_tool_result",
        tools: &["tool_search_tool_regex", "tool_search_tool_bm25"],
        contents: &[
            Form::Object(
                "tool_search_tool_search_result",
                &[("tool_references", Form::List(&FOUND_TOOL))],
            ),
            Form::Object(
                "tool_search_tool_result_error",
                &[
                    ("error_code", Form::Text),
                    ("error_message", Form::Optional(&Form::Text)),
                ],
            ),
        ],
    },
];

/// The forms of citations. Those of a response also have the identifier of a file, which no request may have.
const CITATIONS: [Form; 5] = [
    Form::Object(
        "char_location",
        &[
            ("cited_text", Form::Text),
            ("document_index", Form::Number),
            ("document_title", Form::Optional(&Form::Text)),
            ("start_char_index", Form::Number),
            ("end_char_index", Form::Number),
        ],
    ),
    Form::Object(
        "page_location",
        &[
            ("cited_text", Form::Text),
            ("document_index", Form::Number),
            ("document_title", Form::Optional(&Form::Text)),
            ("start_page_number", Form::Number),
            ("end_page_number", Form::Number),
        ],
    ),
    Form::Object(
        "content_block_location",
        &[
            ("cited_text", Form::Text),
            ("document_index", Form::Number),
            ("document_title", Form::Optional(&Form::Text)),
            ("start_block_index", Form::Number),
            ("end_block_index", Form::Number),
        ],
    ),
    Form::Object(
        "web_search_result_location",
        &[
            ("cited_text", Form::Text),
            ("encrypted_index", Form::Text),
            ("title", Form::Optional(&Form::Text)),
            ("url", Form::Text),
        ],
    ),
    Form::Object(
        "search_result_location",
        &[
            ("cited_text", Form::Text),
            ("search_result_index", Form::Number),
            ("source", Form::Text),
            ("title", Form::Optional(&Form::Text)),
            ("start_block_index", Form::Number),
            ("end_block_index", Form::Number),
        ],
    ),
];

/// A call of the provider in a request.
pub(super) enum Repeated {
    /// The request cannot repeat the call.
    Nothing,
    /// The call has no result yet.
    Call,
    /// The call has a result: the type of its block, and its content.
    Answered(&'static str, Value),
}

/// Returns the form in which a request repeats a call of the provider. `content` is that of the answer with the call.
pub(super) fn repeated(call: &ToolCallPart, content: &[Part]) -> Repeated {
    let kind = KINDS
        .iter()
        .find(|kind| kind.tools.contains(&call.name.as_str()));
    let Some(kind) = kind.filter(|_| !call.id.starts_with(OWN_ID)) else {
        return Repeated::Nothing;
    };
    let result = content.iter().find_map(|part| match part {
        Part::ToolResult(result) if result.id == call.id => Some(result),
        _ => None,
    });
    let Some(result) = result else {
        return Repeated::Call;
    };
    let (ToolResultValue::Json(value) | ToolResultValue::Error(value)) = &result.result else {
        return Repeated::Nothing;
    };
    let block = text_member(result.provider_metadata.as_ref(), "blockType");
    let value = kind.contents.iter().find_map(|form| form.kept(value));
    match value.filter(|_| block == Some(kind.name)) {
        Some(value) => Repeated::Answered(kind.name, value),
        None => Repeated::Nothing,
    }
}

/// Returns the citations of a text that a request may repeat.
pub(super) fn citations(given: &Value) -> Vec<Value> {
    let given = given.as_array().into_iter().flatten();
    let known = given.filter_map(|it| CITATIONS.iter().find_map(|form| form.kept(it)));
    known.collect()
}
