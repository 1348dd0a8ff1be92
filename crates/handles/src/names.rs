//! File names: one component without a separator.

use std::ffi::OsStr;
use std::io;
use std::path::{Component, Path, is_separator};

/// Returns the names of a relative path.
pub(crate) fn names(relative: &Path) -> impl Iterator<Item = io::Result<&OsStr>> {
    relative.components().map(|component| match component {
        Component::Normal(name) => single(name),
        _ => Err(io::ErrorKind::InvalidInput.into()),
    })
}

/// Refuses text that is not a single name, because it could lead outside the directory.
pub(crate) fn single(name: &OsStr) -> io::Result<&OsStr> {
    let bytes = name.as_encoded_bytes();
    let is_separator = |byte: &u8| is_separator(char::from(*byte));
    let is_path = matches!(bytes, b"" | b"." | b"..") || bytes.iter().any(is_separator);
    if is_path || cfg!(windows) && !is_itself_on_windows(bytes) {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    Ok(name)
}

/// True if Windows uses a name as written. A name with `:` refers to a stream of a file. Windows
/// removes dots and spaces at the end, so `.git.` would be `.git`.
fn is_itself_on_windows(name: &[u8]) -> bool {
    !name.contains(&b':') && !matches!(name.last(), Some(b'.' | b' '))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_windows_reads_differently_are_refused() {
        for (name, expected) in [
            (".git", true),
            ("a.b c", true),
            (".git.", false),
            (".git ", false),
            (".. ", false),
            ("file:stream", false),
            (".git::$INDEX_ALLOCATION", false),
        ] {
            assert_eq!(is_itself_on_windows(name.as_bytes()), expected, "{name}");
        }
    }
}
