//! What the model is told behind a Model Tool Output that was cut. It is no part of Session History.
//!
//! It follows from the stored result and from whether the agent may use `task`. Where that changes,
//! the tools change, which stand before the messages of a request, so the hint breaks no prefix that
//! holds otherwise.

use opencode_llm::{ToolContent, ToolResultValue};

/// For an agent that may use `task`.
const DELEGATE: &str = "\
The output above was cut. Do not read the whole file yourself, to save context: give a subagent the \
path with `task` and ask for the parts that matter. For a few lines, search it with `grep` or read \
a range of it with `read` (`offset` and `limit`).";

/// For any other agent.
const SEARCH: &str = "\
The output above was cut. Do not read the whole file, to save context: search it with `grep`, or \
read a range of it with `read` (`offset` and `limit`).";

/// Tells how to get at the rest of a result.
pub(super) fn with_hint(result: ToolResultValue, delegates: bool) -> ToolResultValue {
    let hint = if delegates { DELEGATE } else { SEARCH };
    match result {
        ToolResultValue::Text(text) => ToolResultValue::Text(format!("{text}\n\n{hint}")),
        ToolResultValue::Content(mut content) => {
            content.push(ToolContent::Text { text: hint.into() });
            ToolResultValue::Content(content)
        }
        other => other,
    }
}
