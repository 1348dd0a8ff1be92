//! Finds the occurrences of a text and replaces them. Pure.

/// Reason why a replacement cannot be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Mismatch {
    #[error("No changes to apply: oldString and newString are the same.")]
    Same,
    #[error("oldString must not be empty. Use write to create a file or to replace a whole one.")]
    Empty,
    #[error(
        "oldString was not found in the file. It must match exactly, with all whitespace and \
         indentation. Read the file again and copy the text from there."
    )]
    Missing,
    #[error(
        "oldString was found {0} times in the file. Add lines around it until it is the only \
         match, or set replaceAll to replace every one."
    )]
    Ambiguous(usize),
    #[error("the file would be too large")]
    TooLarge,
}

#[derive(Debug, PartialEq)]
pub(super) struct Replaced {
    pub(super) text: String,
    pub(super) count: usize,
}

/// Replaces `old` with `new`. `old` must occur exactly once unless `all` is set. Both get the line
/// breaks of the text. No character of `new` has a special meaning. The result has at most `max_bytes`.
pub(super) fn replace(
    text: &str,
    old: &str,
    new: &str,
    all: bool,
    max_bytes: u64,
) -> Result<Replaced, Mismatch> {
    let (old, new) = (like(text, old), like(text, new));
    if old == new {
        return Err(Mismatch::Same);
    }
    let count = text.matches(&old).count();
    match count {
        0 => return Err(Mismatch::Missing),
        1 => {}
        _ if all => {}
        _ => return Err(Mismatch::Ambiguous(count)),
    }
    let added = new.len().saturating_mul(count);
    let length = (text.len() - old.len() * count).saturating_add(added);
    if length as u64 > max_bytes {
        return Err(Mismatch::TooLarge);
    }
    Ok(Replaced {
        text: text.replace(&old, &new),
        count,
    })
}

/// Returns `string` with the kind of line breaks that `text` has.
fn like(text: &str, string: &str) -> String {
    let plain = string.replace("\r\n", "\n");
    if text.contains("\r\n") {
        plain.replace('\n', "\r\n")
    } else {
        plain
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const MAX_BYTES: u64 = 16 * 1024 * 1024;

    fn outcome(text: &str, old: &str, new: &str, all: bool) -> Result<(String, usize), String> {
        let replaced = replace(text, old, new, all, MAX_BYTES);
        let replaced = replaced.map_err(|mismatch| format!("{mismatch:?}"))?;
        Ok((replaced.text, replaced.count))
    }

    #[test]
    fn an_edit_replaces_one_match_or_all() {
        let done = |text: &str, count| Ok((text.to_owned(), count));
        let failed = |reason: &str| Err(reason.to_owned());
        for (text, old, new, all, expected) in [
            ("a b c", "b", "B", false, done("a B c", 1)),
            ("a b c", "b", "B", true, done("a B c", 1)),
            ("a b c", " b", "", false, done("a c", 1)),
            ("a a", "a", "b", true, done("b b", 2)),
            ("a a", "a", "b", false, failed("Ambiguous(2)")),
            ("aaa", "aa", "b", false, done("ba", 1)),
            ("aaaa", "aa", "b", true, done("bb", 2)),
            ("a b", "c", "d", true, failed("Missing")),
            ("", "c", "d", true, failed("Missing")),
            ("  a", "    a", "b", false, failed("Missing")),
            (
                "a",
                "a",
                "$& $1 $` $' $$ \\n",
                false,
                done("$& $1 $` $' $$ \\n", 1),
            ),
            ("é\u{1F600}", "\u{1F600}", "é", false, done("éé", 1)),
        ] {
            assert_eq!(outcome(text, old, new, all), expected, "{text:?} {old:?}");
        }
    }

    #[test]
    fn an_edit_uses_the_line_breaks_of_the_file() {
        let done = |text: &str| Ok((text.to_owned(), 1));
        let failed = |reason: &str| Err(reason.to_owned());
        for (text, old, new, expected) in [
            ("a\r\nb\r\n", "a\nb", "c\nd", done("c\r\nd\r\n")),
            ("a\r\nb\r\n", "a\r\nb", "c\nd", done("c\r\nd\r\n")),
            ("a\nb\n", "a\r\nb", "c\r\nd", done("c\nd\n")),
            // A text with both kinds counts as one with carriage returns.
            ("a\nb\r\n", "a\nb", "c", failed("Missing")),
            ("a\nb\r\n", "b\n", "c\n", done("a\nc\r\n")),
            ("a\rb", "\r", "\n", done("a\nb")),
            ("a\nb", "a\nb", "a\r\nb", failed("Same")),
        ] {
            assert_eq!(outcome(text, old, new, false), expected, "{text:?} {old:?}");
        }
    }

    #[test]
    fn a_result_over_the_size_limit_is_refused() {
        let text = "a".repeat(1024 * 1024);
        let new = "b".repeat(17);
        assert_eq!(outcome(&text, "a", &new, true), Err("TooLarge".to_owned()));
        let all = outcome(&text, "a", &new[1..], true);
        assert_eq!(all.unwrap().0.len() as u64, MAX_BYTES);
    }

    proptest! {
        #[test]
        fn a_single_match_is_replaced_in_place(
            text in "[ab\r\n é]{0,40}",
            old in "[ab\r\n é]{1,3}",
            new in "[ab\r\n é$&]{0,3}",
            all in any::<bool>(),
        ) {
            if let Ok(Replaced { text: after, count: 1 }) = replace(&text, &old, &new, all, MAX_BYTES) {
                let (old, new) = (like(&text, &old), like(&text, &new));
                let at = text.find(&old).unwrap();
                let expected = [&text[..at], &new, &text[at + old.len()..]].concat();
                prop_assert_eq!(after, expected);
            }
        }

        #[test]
        fn the_inverse_edit_restores_the_text(
            text in "[ab\n é]{0,40}",
            old in "[ab\n é]{1,3}",
            windows in any::<bool>(),
            all in any::<bool>(),
        ) {
            let text = if windows { format!("{text}\n").replace('\n', "\r\n") } else { text };
            if let Ok(there) = replace(&text, &old, "<new\nlines>", all, MAX_BYTES) {
                let back = replace(&there.text, "<new\nlines>", &old, true, MAX_BYTES).unwrap();
                prop_assert_eq!(back, Replaced { text, count: there.count });
            }
        }
    }
}
