//! The words of a provider's message, in a form that rules can match.

/// A sentence in lower case: words and signs of comparison, separated by single spaces, with a space at both ends.
pub(super) struct Sentence(String);

impl Sentence {
    /// True if the phrase occurs. A leading or trailing space in the phrase is the border of a word.
    pub(super) fn has(&self, phrase: &str) -> bool {
        self.0.contains(phrase)
    }

    /// True if one of the phrases occurs.
    pub(super) fn has_any(&self, phrases: &[&str]) -> bool {
        phrases.iter().any(|phrase| self.has(phrase))
    }

    /// Returns the text after the first occurrence of a phrase.
    pub(super) fn after(&self, phrase: &str) -> Option<&str> {
        self.0.split_once(phrase).map(|(_, rest)| rest)
    }

    /// Returns the text before the first occurrence of a phrase.
    pub(super) fn before(&self, phrase: &str) -> Option<&str> {
        self.0.split_once(phrase).map(|(before, _)| before)
    }

    /// True if a number occurs.
    pub(super) fn has_number(&self) -> bool {
        numbers(&self.0).next().is_some()
    }
}

/// Returns the whole numbers of a text, in order.
pub(super) fn numbers(text: &str) -> impl DoubleEndedIterator<Item = u64> {
    text.split(' ').filter_map(|word| word.parse().ok())
}

/// Splits a text into sentences. Addresses are left out: their words say nothing about the failure. Names in camel
/// case and in snake case become words.
pub(super) fn sentences(text: &str) -> Vec<Sentence> {
    let mut found = Vec::new();
    let mut sentence = String::from(" ");
    for word in text.split_inclusive(char::is_whitespace) {
        if word.contains("://") {
            continue;
        }
        push_word(word, &mut sentence);
        let is_end = word.ends_with('\n')
            || word
                .trim_end()
                .trim_end_matches(['"', '\'', ')', '`'])
                .ends_with(['.', '!', '?', ';', '。']);
        if is_end {
            take(&mut sentence, &mut found);
        }
    }
    take(&mut sentence, &mut found);
    found
}

fn take(sentence: &mut String, found: &mut Vec<Sentence>) {
    if sentence.len() > 1 {
        found.push(Sentence(std::mem::replace(sentence, " ".to_owned())));
    }
}

fn push_word(word: &str, out: &mut String) {
    let mut before = ' ';
    let mut characters = word.chars().peekable();
    while let Some(character) = characters.next() {
        let next = characters.peek().copied().unwrap_or(' ');
        match character {
            ',' if before.is_ascii_digit() && next.is_ascii_digit() => continue,
            '.' | '-' if next.is_ascii_digit() => out.push(character),
            '/' => out.push_str(" per "),
            '<' | '>' | '=' | '+' => {
                if !matches!(before, '<' | '>') {
                    space(out);
                }
                out.push(character);
                if !matches!(next, '=') {
                    space(out);
                }
            }
            _ if character.is_alphanumeric() => {
                if before.is_lowercase() && character.is_uppercase() {
                    space(out);
                }
                out.extend(character.to_lowercase());
            }
            _ => space(out),
        }
        before = character;
    }
    space(out);
}

fn space(out: &mut String) {
    if !out.ends_with(' ') {
        out.push(' ');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_become_sentences_of_words() {
        for (text, expected) in [
            ("", &[][..]),
            (
                "ContextWindowExceededError",
                &[" context window exceeded error "],
            ),
            (
                "max_model_len: 131,072. Please!",
                &[" max model len 131072 ", " please "],
            ),
            ("[1, 2048]", &[" 1 2048 "]),
            ("got -201.", &[" got -201 "]),
            ("a>=b, 1 > 2", &[" a >= b 1 > 2 "]),
            (
                "tokens/min see https://a.test/rate-limits now",
                &[" tokens per min see now "],
            ),
        ] {
            let found: Vec<_> = sentences(text).into_iter().map(|it| it.0).collect();
            assert_eq!(found, expected, "{text}");
        }
    }
}
