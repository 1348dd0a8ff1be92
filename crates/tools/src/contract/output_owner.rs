//! The session tree that wrote a Managed Tool Output File.
//!
//! All sessions share one directory. The name of a file contains a mark of the root of the session tree that wrote it, so
//! no list of owners has to be kept.

use std::path::Path;

use opencode_schema::id::SessionID;
use sha1::{Digest, Sha1};

/// Prefix of the name of every Managed Tool Output File.
pub(crate) const PREFIX: &str = "tool";

/// Number of characters of an identifier that are random. The mark replaces them.
const MARK: usize = 14;

/// Returns the name of a file of a session tree. `id` is a new identifier with [`PREFIX`].
pub(crate) fn name(id: &str, root: &SessionID) -> String {
    let unique = &id[..id.len().saturating_sub(MARK)];
    format!("{unique}{}", mark(unique, root))
}

/// True if a session tree with this root wrote the file, by its name.
pub(crate) fn is_of(file: &Path, root: &SessionID) -> bool {
    let name = file.file_name().and_then(|name| name.to_str());
    let stem = name.map(|name| name.split('.').next().unwrap_or_default());
    let split = stem.and_then(|stem| stem.split_at_checked(stem.len().checked_sub(MARK)?));
    split.is_some_and(|(unique, found)| {
        unique.starts_with(&format!("{PREFIX}_")) && found == mark(unique, root)
    })
}

fn mark(unique: &str, root: &SessionID) -> String {
    let digest = Sha1::digest(format!("{unique}\n{root}"));
    let digest = digest.iter().map(|byte| format!("{byte:02x}"));
    digest.take(MARK / 2).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_belongs_to_the_tree_that_its_name_marks() {
        let root = |id: &str| SessionID::parse(id).unwrap();
        let [own, other] = [root("ses_1"), root("ses_2")];
        let id = "tool_00000000000100000000000000";
        let name = name(id, &own);
        assert_eq!(name.len(), id.len());
        assert!(name.starts_with("tool_000000000001"), "{name}");
        for (file, expected) in [
            (format!("/data/{name}"), true),
            (format!("/data/{name}.png"), true),
            (format!("/data/{id}"), false),
            (format!("/data/x{name}"), false),
            ("/data/tool_".to_owned(), false),
            (
                "/data/\u{e9}\u{e9}\u{e9}\u{e9}\u{e9}\u{e9}\u{e9}x".to_owned(),
                false,
            ),
            ("/data".to_owned(), false),
        ] {
            assert_eq!(is_of(Path::new(&file), &own), expected, "{file}");
            assert!(!is_of(Path::new(&file), &other), "{file}");
        }
    }
}
