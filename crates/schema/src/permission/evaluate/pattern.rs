//! Patterns of actions and resources.

use std::borrow::Cow;

/// True if a pattern matches a whole text.
///
/// `*` matches any run of characters, including `/` and line ends. `?` matches exactly one
/// character. Every other character matches itself, case-sensitively. A backslash equals a slash on
/// both sides. A pattern that ends in a space and `*` also matches without that tail: `git *` also
/// matches `git`.
///
/// Takes time proportional to the text, multiplied by the length of each part of the pattern that
/// contains `?`.
///
/// ```
/// # use opencode_schema::permission::matches;
/// assert!(matches("git *", "git") && matches("git *", "git push") && !matches("git *", "gitk"));
/// assert!(matches("src/*", r"src\a\b.rs") && matches("?.md", "a.md"));
/// ```
pub fn matches(pattern: &str, text: &str) -> bool {
    let (pattern, text) = (slashes(pattern), slashes(text));
    let bare = pattern.strip_suffix(" *");
    covers(&pattern, &text) || bare.is_some_and(|bare| covers(bare, &text))
}

pub(super) fn slashes(text: &str) -> Cow<'_, str> {
    if text.contains('\\') {
        text.replace('\\', "/").into()
    } else {
        text.into()
    }
}

/// Searches the pieces between the stars in order. A star follows each piece, so its first match is
/// as good as any later one, and the search never backtracks.
fn covers(pattern: &str, text: &str) -> bool {
    let mut pieces = pattern.split('*');
    let first = pieces.next().unwrap_or_default();
    let Some(mut rest) = after(first, text) else {
        return false;
    };
    let Some(last) = pieces.next_back() else {
        return rest.is_empty();
    };
    for piece in pieces {
        match after_first(piece, rest) {
            Some(behind) => rest = behind,
            None => return false,
        }
    }
    ends_with(rest, last)
}

/// Returns the rest of the text after a piece that the text begins with.
fn after<'t>(piece: &str, text: &'t str) -> Option<&'t str> {
    let mut rest = text.chars();
    for expected in piece.chars() {
        let found = rest.next()?;
        if expected != '?' && expected != found {
            return None;
        }
    }
    Some(rest.as_str())
}

/// Returns the rest of the text after the first match of a piece.
fn after_first<'t>(piece: &str, text: &'t str) -> Option<&'t str> {
    if !piece.contains('?') {
        return text.find(piece).map(|at| &text[at + piece.len()..]);
    }
    text.char_indices()
        .find_map(|(at, _)| after(piece, &text[at..]))
}

fn ends_with(text: &str, piece: &str) -> bool {
    let Some(back) = piece.chars().count().checked_sub(1) else {
        return true;
    };
    let start = text.char_indices().rev().nth(back);
    start.is_some_and(|(at, _)| after(piece, &text[at..]).is_some())
}
