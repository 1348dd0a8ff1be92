//! Mid-Conversation System Messages for protocols without a role for them.

/// The text of an update as a user message carries it. The tags keep it apart from what the person
/// said, and escaping keeps the text from closing them.
pub(super) fn wrap<'a>(texts: impl Iterator<Item = &'a str>) -> String {
    let mut out = String::from("<system-update>\n");
    for (n, text) in texts.enumerate() {
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
    use super::wrap;

    #[test]
    fn wraps_joins_and_escapes() {
        assert_eq!(
            wrap(["a <b> & \"c\"", "d"].into_iter()),
            "<system-update>\na &lt;b&gt; &amp; \"c\"\nd\n</system-update>"
        );
    }
}
