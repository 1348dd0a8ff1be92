//! Searches the text of a command for paths outside its directory, and for files that decide what the host or Git does.
//! The result is only advice, because
//! the text does not show which files a command really uses.

use std::{collections::BTreeSet, path::Path};

use opencode_location::directory::{TargetKind, resolve};
use opencode_location::guarded::GuardedFiles;

/// Maximum number of paths that are resolved. A command can contain any number.
const MAX_PATHS: usize = 1000;

/// Maximum number of warnings.
const MAX_WARNINGS: usize = 20;

/// Maximum number of characters of a name in a warning.
const MAX_NAME: usize = 200;

/// Returns one warning for each directory outside `directory` with a named path, and for each named file that decides, in
/// the order of the command.
pub(super) fn scan(command: &str, directory: &Path) -> Vec<String> {
    let outside = paths(command)
        .take(MAX_PATHS)
        .filter_map(|path| resolve(directory, path, TargetKind::File).ok())
        .filter_map(|target| target.external_directory)
        .map(|directory| warning(&format!("references external directory {directory}")));
    let deciding = pieces(command)
        .take(MAX_PATHS)
        .filter_map(|piece| Some((piece, GuardedFiles::named_in(piece)?)))
        .map(|(piece, _)| {
            let piece: String = piece.chars().take(MAX_NAME).collect();
            warning(&format!(
                "names {piece:?}, which decides what the host or Git does"
            ))
        });
    let mut seen = BTreeSet::new();
    outside
        .chain(deciding)
        .filter(|warning| seen.insert(warning.clone()))
        .take(MAX_WARNINGS)
        .collect()
}

fn warning(found: &str) -> String {
    format!(
        "Command argument {found}. Bash runs with host-user \
         filesystem, process, and network authority; this scan is advisory only."
    )
}

/// Returns the parts of a command that may be paths.
fn pieces(command: &str) -> impl Iterator<Item = &str> {
    let divides = |char: char| {
        char.is_whitespace()
            || matches!(
                char,
                '"' | '\'' | '=' | '<' | '>' | '(' | ')' | '`' | ';' | '|' | '&' | ','
            )
    };
    command.split(divides).filter(|piece| !piece.is_empty())
}

/// Returns the words of a command that are absolute paths.
fn paths(command: &str) -> impl Iterator<Item = &str> {
    words(command)
        .map(|word| bare(word.trim_end_matches([';', ',', '|', '&'])))
        .filter(|word| Path::new(word).is_absolute())
}

/// Splits at white space that is not between quotes.
fn words(command: &str) -> impl Iterator<Item = &str> {
    let mut quote = None;
    let divides = move |char: char| {
        match quote {
            None if matches!(char, '"' | '\'') => quote = Some(char),
            Some(open) if open == char => quote = None,
            _ => {}
        }
        quote.is_none() && char.is_whitespace()
    };
    command.split(divides).filter(|word| !word.is_empty())
}

/// Removes one pair of quotes around a word, and separators after the path within them.
fn bare(word: &str) -> &str {
    ['"', '\'']
        .into_iter()
        .find_map(|quote| word.strip_prefix(quote)?.strip_suffix(quote))
        .unwrap_or(word)
        .trim_end_matches([';', ',', '|', '&'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_are_absolute_paths_are_found() {
        let none: &[&str] = &[];
        for (command, expected) in [
            ("", none),
            ("cat a.txt ../b.txt", none),
            ("cat /etc/passwd", &["/etc/passwd"]),
            ("cat  /a\t/b\n/c", &["/a", "/b", "/c"]),
            ("cat /a; cat /b && ls /c&", &["/a", "/b", "/c"]),
            ("cat /a,|", &["/a"]),
            ("cat '/a b' \"/c d\"; ls", &["/a b", "/c d"]),
            ("cat \"/it's\" '/a\"b'", &["/it's", "/a\"b"]),
            ("cat '\"/a\"'", none),
            ("echo \"see /a\" x/b --file=/c >/d", none),
            ("echo 'open /a", none),
            ("cat \"/é;\"", &["/é"]),
        ] {
            assert_eq!(paths(command).collect::<Vec<_>>(), expected, "{command}");
        }
    }
}
