//! The arguments of a command, as the caller writes them after its name.

/// Splits arguments into words at blanks. Single and double quotes group words and are removed; a quote that is never
/// closed is an ordinary character. No other character has a meaning.
pub(super) fn words(arguments: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut rest = arguments.chars();
    while let Some(character) = rest.next() {
        let after = rest.as_str();
        match character {
            '"' | '\'' if after.contains(character) => {
                let (group, others) = after.split_once(character).unwrap_or((after, ""));
                word.get_or_insert_default().push_str(group);
                rest = others.chars();
            }
            blank if blank.is_whitespace() => words.extend(word.take()),
            other => word.get_or_insert_default().push(other),
        }
    }
    words.extend(word);
    words
}

/// Returns the values of `$1` to `$highest`. The last one takes all remaining words, and a missing one is empty.
pub(super) fn parameters(words: &[String], highest: usize) -> Vec<String> {
    let word = |at: usize| words.get(at).cloned().unwrap_or_default();
    let Some(last) = highest.checked_sub(1) else {
        return Vec::new();
    };
    let rest = words.get(last..).unwrap_or_default().join(" ");
    (0..last).map(word).chain([rest]).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn quotes_group_words() {
        for (arguments, expected) in [
            ("", &[][..]),
            ("  a  b\n c ", &["a", "b", "c"]),
            ("\"a b\" c", &["a b", "c"]),
            ("'a \"b' c", &["a \"b", "c"]),
            ("--x=\"a b\"c", &["--x=a bc"]),
            ("\"\" a", &["", "a"]),
            ("it's fine", &["it's", "fine"]),
            ("a\\ b $1 `c`", &["a\\", "b", "$1", "`c`"]),
        ] {
            assert_eq!(words(arguments), expected, "{arguments:?}");
        }
    }

    #[test]
    fn the_last_parameter_takes_the_remaining_words() {
        let words = words("a b c");
        for (highest, expected) in [
            (0, &[][..]),
            (1, &["a b c"]),
            (2, &["a", "b c"]),
            (3, &["a", "b", "c"]),
            (5, &["a", "b", "c", "", ""]),
        ] {
            assert_eq!(parameters(&words, highest), expected, "{highest}");
        }
    }

    proptest! {
        #[test]
        fn words_without_quotes_are_the_parts_between_blanks(text in "[^'\"]{0,60}") {
            let parts: Vec<_> = text.split_whitespace().map(str::to_owned).collect();
            prop_assert_eq!(words(&text), parts);
        }

        #[test]
        fn a_quoted_word_stays_as_it_is(word in "[^\"]{0,40}") {
            prop_assert_eq!(words(&format!("x \"{word}\" y")), ["x", word.as_str(), "y"]);
        }
    }
}
