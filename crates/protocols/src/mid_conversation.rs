//! Mid-Conversation System Messages for protocols without a role for them.

use opencode_llm::canonical::request::Part;
use opencode_llm::wrap_system_message;

/// Returns a Mid-Conversation System Message as the text of a user message.
pub(super) fn wrapped(content: &[Part]) -> String {
    wrap_system_message(texts(content))
}

/// Returns the texts of a message.
pub(super) fn texts(content: &[Part]) -> impl Iterator<Item = &str> {
    content.iter().filter_map(|part| match part {
        Part::Text(text) => Some(text.text.as_str()),
        _ => None,
    })
}
