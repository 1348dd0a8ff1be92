//! Converts identifiers and names of calls for servers other than the one that created them.

use std::borrow::Cow;

use opencode_llm::short_hash;

/// Replaces every character except letters, digits, `_` and `-`.
pub(super) fn plain(text: &str) -> Cow<'_, str> {
    let is_refused = |c: char| !c.is_ascii_alphanumeric() && !matches!(c, '_' | '-');
    match text {
        "" => Cow::Borrowed("_"),
        text if text.contains(is_refused) => Cow::Owned(text.replace(is_refused, "_")),
        text => Cow::Borrowed(text),
    }
}

/// Shortens an identifier to at most `most` characters. A shortened one ends in a hash, so
/// different identifiers stay different.
pub(super) fn short(id: &str, most: usize) -> Cow<'_, str> {
    if id.chars().nth(most).is_none() {
        return Cow::Borrowed(id);
    }
    let hash = short_hash(id.as_bytes());
    let kept = id.chars().take(most.saturating_sub(hash.len() + 1));
    Cow::Owned(kept.chain(['_']).chain(hash.chars()).collect())
}

/// Maximum length of a tool name that servers accept.
const MAX_TOOL_NAME: usize = 64;

/// Converts the name of a called tool to the form that every protocol allows: up to 64 letters,
/// digits, `_` and `-`. Models may call tools that the request did not offer. A changed name ends
/// in a hash of the original, so two names stay different.
pub(super) fn tool_name(name: &str) -> Cow<'_, str> {
    let plain = plain(name);
    if matches!(plain, Cow::Borrowed(same) if same == name) && name.len() <= MAX_TOOL_NAME {
        return plain;
    }
    let hash = short_hash(name.as_bytes());
    let kept = plain.chars().take(MAX_TOOL_NAME - hash.len() - 1);
    Cow::Owned(kept.chain(['_']).chain(hash.chars()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_invalid_identifiers_are_changed() {
        let rows = [("toolu_1-A", "toolu_1-A"), ("a.b:ü", "a_b__"), ("", "_")];
        for (text, expected) in rows {
            assert_eq!(plain(text), expected);
        }
        assert_eq!(short("call_1234", 9), "call_1234");
        let (one, other) = (["x"; 40].concat() + "1", ["x"; 40].concat() + "2");
        let (one, other) = (short(&one, 40), short(&other, 40));
        assert_eq!((one.len(), other.len()), (40, 40));
        assert_ne!(one, other);
    }

    #[test]
    fn tool_names_are_valid_in_every_protocol() {
        let long = "x".repeat(64);
        for name in ["read", "my-tool_2", &long] {
            assert_eq!(tool_name(name), name);
        }
        let odd = [
            "",
            "functions.bash",
            "functions_bash.",
            "functions:bash",
            "\u{1b}[0m",
            "\u{fc}ber",
            &"x".repeat(65),
            &"x".repeat(70),
        ];
        let sent: Vec<_> = odd.iter().map(|name| tool_name(name)).collect();
        for (at, name) in sent.iter().enumerate() {
            let is_allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
            assert!(
                (1..=64).contains(&name.len()) && name.chars().all(is_allowed),
                "{name}"
            );
            assert!(!sent[..at].contains(name), "{name}");
        }
    }
}
