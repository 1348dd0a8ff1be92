//! Mid-Conversation System Messages for protocols without a role for them.

use std::borrow::Cow;

use crate::canonical::request::Part;

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

/// Wraps the pieces of a Mid-Conversation System Message for a user message, one line per piece. The
/// tags separate it from the text of the user, and escaping prevents the text from closing them.
pub fn wrap_system_message<'a>(pieces: impl IntoIterator<Item = &'a str>) -> String {
    let mut out = String::from("<system-update>\n");
    for (n, text) in pieces.into_iter().enumerate() {
        if n > 0 {
            out.push('\n');
        }
        out += &escape_markup(text);
    }
    out.push_str("\n</system-update>");
    out
}

/// Escapes the characters that could start or end an element.
pub fn escape_markup(text: &str) -> Cow<'_, str> {
    if !text.contains(['&', '<', '>']) {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(text.len() + 16);
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            other => escaped.push(other),
        }
    }
    Cow::Owned(escaped)
}

#[cfg(test)]
mod tests {
    use super::wrap_system_message;

    #[test]
    fn system_messages_are_joined_escaped_and_wrapped() {
        assert_eq!(
            wrap_system_message(["a <b> & \"c\"", "d"]),
            "<system-update>\na &lt;b&gt; &amp; \"c\"\nd\n</system-update>"
        );
    }
}
