//! Identifiers and names of calls as other servers than the one that made them accept them.

use std::borrow::Cow;

use super::short_hash;

/// Letters, digits, `_` and `-`; others are replaced.
pub(super) fn plain(text: &str) -> Cow<'_, str> {
    let is_refused = |c: char| !c.is_ascii_alphanumeric() && !matches!(c, '_' | '-');
    match text {
        "" => Cow::Borrowed("_"),
        text if text.contains(is_refused) => Cow::Owned(text.replace(is_refused, "_")),
        text => Cow::Borrowed(text),
    }
}

/// At most so many characters. What is left out still tells one identifier from another.
pub(super) fn short(id: &str, most: usize) -> Cow<'_, str> {
    if id.chars().nth(most).is_none() {
        return Cow::Borrowed(id);
    }
    let hash = short_hash(id.as_bytes());
    let kept = id.chars().take(most.saturating_sub(hash.len() + 1));
    Cow::Owned(kept.chain(['_']).chain(hash.chars()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_are_changed_only_where_they_must_be() {
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
}
