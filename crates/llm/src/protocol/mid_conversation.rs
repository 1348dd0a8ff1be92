//! Mid-Conversation System Messages for protocols without a role for them.

/// A Mid-Conversation System Message as a user message carries it. The tags keep it apart from what
/// the person said, and escaping keeps the text from closing them. Its pieces stand on lines of
/// their own.
pub fn wrap_system_message<'a>(pieces: impl IntoIterator<Item = &'a str>) -> String {
    let mut out = String::from("<system-update>\n");
    for (n, text) in pieces.into_iter().enumerate() {
        if n > 0 {
            out.push('\n');
        }
        escape(&mut out, text);
    }
    out.push_str("\n</system-update>");
    out
}

fn escape(out: &mut String, text: &str) {
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            c => out.push(c),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::wrap_system_message;

    #[test]
    fn wraps_joins_and_escapes() {
        assert_eq!(
            wrap_system_message(["a <b> & \"c\"", "d"]),
            "<system-update>\na &lt;b&gt; &amp; \"c\"\nd\n</system-update>"
        );
    }
}
