//! Titles of forks.

/// Maximum size in bytes of the title of a fork, which is that of any title.
const MAX_BYTES: usize = 1024;

/// Returns the title of a fork: the title of its source with the next number.
pub(super) fn fork_title(source: &str) -> String {
    let (base, number) = match numbered(source) {
        Some((base, number)) => (base, number.saturating_add(1)),
        None => (source, 1),
    };
    let number = format!(" (fork #{number})");
    let room = MAX_BYTES - number.len();
    let base = &base[..base.floor_char_boundary(room)];
    format!("{base}{number}")
}

/// Splits the title of a fork into the title of its first source and its number.
fn numbered(title: &str) -> Option<(&str, u64)> {
    let (base, rest) = title.rsplit_once(" (fork #")?;
    let digits = rest.strip_suffix(')')?;
    let is_number = !digits.is_empty() && digits.bytes().all(|it| it.is_ascii_digit());
    Some((base, digits.parse().ok().filter(|_| is_number)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fork_has_the_next_number() {
        for (source, expected) in [
            ("Fix it", "Fix it (fork #1)"),
            ("Fix it (fork #1)", "Fix it (fork #2)"),
            ("Fix it (fork #9)", "Fix it (fork #10)"),
            ("Fix it (fork #1) again", "Fix it (fork #1) again (fork #1)"),
            ("Fix it (fork #x)", "Fix it (fork #x) (fork #1)"),
            ("Fix it (fork #)", "Fix it (fork #) (fork #1)"),
            ("Fix it (fork #+1)", "Fix it (fork #+1) (fork #1)"),
            (" (fork #3)", " (fork #4)"),
        ] {
            assert_eq!(fork_title(source), expected);
        }
        let long = "\u{e9}".repeat(512);
        let fork = fork_title(&long);
        assert!(fork.len() <= MAX_BYTES && fork.ends_with("\u{e9} (fork #1)"));
        assert_eq!(fork_title(&fork).len(), fork.len());
    }
}
