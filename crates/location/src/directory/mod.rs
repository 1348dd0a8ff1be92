//! The normal form of a directory path, and the paths that belong to a directory.

mod alike;
mod containment;
mod hard_links;
mod link_names;
mod meant;
mod reach;
mod real_patterns;
mod similar;
mod spelling;

use std::path::{Component, Path, PathBuf};

pub use containment::{ContainmentError, Names, Target, TargetKind, resolve};
pub(crate) use containment::{
    PRIVATE_FILES, PUBLIC_FILES, is_private, is_project_text, lies_below, real_path,
};
pub use hard_links::{HardLinks, hard_link_names};
pub use meant::{Purpose, resolve_meant};
pub(crate) use reach::reached_paths;
pub(crate) use real_patterns::RealPatterns;
pub use similar::similar_names;

/// Maximum length of a directory path in bytes, which is the usual limit of file systems.
pub const MAX_DIRECTORY_BYTES: usize = 4096;

/// The reason why a text is not a directory path.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DirectoryError {
    /// The path is not absolute.
    #[error("The directory {0:?} is not an absolute path; give the full path, from the root on")]
    Relative(String),
    /// The path contains a character that no system permits.
    #[error("The directory name contains a NUL character, which no path can hold")]
    Nul,
    /// The path is longer than [`MAX_DIRECTORY_BYTES`].
    #[error("The directory name has {0} bytes; a path has at most {MAX_DIRECTORY_BYTES}")]
    TooLong(usize),
}

/// Returns the path without `.`, `..`, double and trailing separators.
///
/// Uses only the text: symbolic links stay unchanged, because a session belongs to the directory that
/// its user named, and because a path must have the same meaning even if the directory does not exist.
///
/// ```
/// # use opencode_location::directory::normalise;
/// assert_eq!(normalise("/a/b/../c/./").as_deref(), Ok("/a/c"));
/// ```
pub fn normalise(directory: &str) -> Result<String, DirectoryError> {
    if directory.len() > MAX_DIRECTORY_BYTES {
        return Err(DirectoryError::TooLong(directory.len()));
    }
    if directory.contains('\0') {
        return Err(DirectoryError::Nul);
    }
    let path = Path::new(directory);
    if !path.is_absolute() {
        return Err(DirectoryError::Relative(
            directory.chars().take(200).collect(),
        ));
    }
    let normal = lexical(path);
    Ok(normal
        .into_os_string()
        .into_string()
        .expect("a path made of parts of UTF-8 text is UTF-8"))
}

/// Resolves `.` and `..` by text. `..` at the root stays at the root.
#[must_use]
pub fn lexical(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                normal.pop();
            }
            Component::Prefix(_) | Component::RootDir | Component::Normal(_) => {
                normal.push(component);
            }
        }
    }
    normal
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;

    #[test]
    fn names_are_normalised_without_disk_access() {
        for (given, expected) in [
            ("/", "/"),
            ("//", "/"),
            ("/..", "/"),
            ("/../../a", "/a"),
            ("/a/", "/a"),
            ("/a//b", "/a/b"),
            ("/a/./b/.", "/a/b"),
            ("/a/b/..", "/a"),
            ("/a/b/../../..", "/"),
            ("/a/...", "/a/..."),
            ("/ä/ b ", "/ä/ b "),
        ] {
            assert_eq!(normalise(given).as_deref(), Ok(expected), "{given}");
        }
    }

    #[test]
    fn a_text_that_is_no_directory_is_refused() {
        for given in ["", ".", "..", "a", "a/b", "./a", "~", "~/a"] {
            assert_eq!(
                normalise(given),
                Err(DirectoryError::Relative(given.to_owned()))
            );
        }
        assert_eq!(normalise("/a\0b"), Err(DirectoryError::Nul));
        assert_eq!(
            normalise(&format!("/{}", "a".repeat(5000))),
            Err(DirectoryError::TooLong(5001))
        );
    }
}
