//! The spellings of a path that file systems can treat as equal.

use std::borrow::Cow;

use unicode_normalization::UnicodeNormalization;

/// Returns the same text for all spellings of a path that differ only in case, in the Unicode form of their characters,
/// or in characters that are not visible.
///
/// ```
/// # use opencode_schema::permission::folded;
/// assert_eq!(folded("Caf\u{e9}/.ENV"), folded("cafe\u{301}/.env"));
/// ```
pub fn folded(text: &str) -> Cow<'_, str> {
    let is_folded = |byte: u8| byte.is_ascii() && !byte.is_ascii_uppercase();
    if text.bytes().all(is_folded) {
        return Cow::Borrowed(text);
    }
    if text.is_ascii() {
        return Cow::Owned(text.to_ascii_lowercase());
    }
    let visible = text.nfkc().filter(|character| !is_invisible(*character));
    let lower: String = visible.flat_map(char::to_lowercase).collect();
    // A lower-case letter can have another composed form.
    Cow::Owned(lower.nfkc().collect())
}

/// True for characters that have no form. Some file systems ignore them in names.
fn is_invisible(character: char) -> bool {
    matches!(
        character,
        '\u{ad}'
            | '\u{200b}'..='\u{200f}'
            | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{fe00}'..='\u{fe0f}'
            | '\u{feff}'
    )
}

#[cfg(test)]
mod tests {
    use super::super::{Ruleset, evaluate};
    use super::*;
    use crate::permission::PermissionEffect::{self, Allow, Ask, Deny};
    use crate::permission::PermissionRule;

    fn rule(action: &str, resource: &str, effect: PermissionEffect) -> PermissionRule {
        PermissionRule {
            action: action.to_owned(),
            resource: resource.to_owned(),
            effect,
        }
    }

    #[test]
    fn spellings_of_one_name_fold_to_the_same_text() {
        for (one, other) in [
            (".env", ".ENV"),
            (".env", ".\u{ff25}nv"),
            (".git", ".g\u{200c}it"),
            ("caf\u{e9}", "cafe\u{301}"),
            ("CAF\u{c9}", "cafe\u{301}"),
            ("k", "\u{212a}"),
            ("s", "\u{17f}"),
            ("\u{1112}\u{1161}\u{11ab}", "\u{d55c}"),
        ] {
            assert_eq!(folded(one), folded(other), "{one:?} {other:?}");
        }
    }

    #[test]
    fn other_names_stay_different() {
        for (one, other) in [
            ("env", ".env"),
            ("e", "\u{e9}"),
            ("a b", "ab"),
            ("a", "\u{430}"),
        ] {
            assert_ne!(folded(one), folded(other), "{one:?} {other:?}");
        }
    }

    #[test]
    fn a_folded_text_stays() {
        for text in ["", "src/a-b_c.rs", "*.env", "\u{e9}\u{df}"] {
            assert_eq!(folded(&folded(text)), folded(text));
        }
        assert!(matches!(folded("src/*.rs"), Cow::Borrowed(_)));
    }

    #[test]
    fn another_spelling_of_a_path_is_restricted_and_never_allowed() {
        let rules = [
            rule("*", "*", Allow),
            rule("read", "*.env", Ask),
            rule("read", "*.env.example", Allow),
            rule("read", "Secrets/caf\u{e9}/**", Deny),
            rule("edit", "*", Deny),
            rule("edit", "docs/*", Allow),
        ];
        for (action, resource, expected) in [
            ("read", ".env", Ask),
            ("read", ".ENV", Ask),
            ("read", "a/.\u{ff25}nv", Ask),
            ("read", ".ENV.example", Allow),
            ("read", "secrets/cafe\u{301}/key", Deny),
            ("read", "SECRETS/CAF\u{c9}/key", Deny),
            ("read", "secrets/other", Allow),
            ("read", "README", Allow),
            ("edit", "docs/a", Allow),
            ("edit", "Docs/a", Deny),
            ("bash", ".ENV", Allow),
        ] {
            let found = evaluate(action, resource, &Ruleset::of(&rules));
            assert_eq!(found, expected, "{action} {resource}");
        }
        let exact = [rules.as_slice(), &[rule("read", ".ENV", Allow)]].concat();
        assert_eq!(evaluate("read", ".ENV", &Ruleset::of(&exact)), Allow);
    }
}
