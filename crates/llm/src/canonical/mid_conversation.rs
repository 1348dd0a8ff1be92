//! The form of a Mid-Conversation System Message within a user message.

use std::borrow::Cow;

/// Wraps the pieces of a Mid-Conversation System Message for a user message, one line per piece. The
/// tags separate it from the text of the user, and escaping prevents the text from closing them.
#[must_use]
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
#[must_use]
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
