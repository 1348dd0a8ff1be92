//! Hints to the model after a Model Tool Output that was truncated. They are not part of Session History.
//!
//! The hint depends on the stored result and on the agent's right to use `task`. If that right changes, the tools of
//! the request change too. They come before the messages, so the hint invalidates no prefix that is otherwise reusable.

use opencode_llm::{ToolContent, ToolResultValue};

/// Hint for an agent that may use `task`.
const DELEGATE: &str = "\
The output above was cut. Do not read the whole file yourself, to save context: give a subagent the \
path with `task` and ask for the parts that matter. For a few lines, search it with `grep` or read \
a range of it with `read` (`offset` and `limit`).";

/// Hint for any other agent.
const SEARCH: &str = "\
The output above was cut. Do not read the whole file, to save context: search it with `grep`, or \
read a range of it with `read` (`offset` and `limit`).";

/// Appends the hint about access to the rest of a result.
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
