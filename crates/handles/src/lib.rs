//! Directories that are held open, and what stands in them by its name.
//!
//! Between judging a path and using it somebody may put a link in the place of any of its components.
//! So nothing goes by the path once more: a [`Directory`] is opened through no link, and what is done
//! to a file is done relative to its directory by a single name, whose link is not followed either.
//! Whoever puts a link in place of a component, at whatever moment, makes the operation fail instead of
//! leading it elsewhere. What was opened once stays what it was.
//!
//! Something else than what was looked for, a link for example, is an error of the kind
//! [`NotADirectory`](io::ErrorKind::NotADirectory), be it on the way or at its end; [`is_absent`] knows
//! it. Every name is one component: `..`, a path and an empty name are refused, and on
//! Windows what names something by another name than its own.
//!
//! Where the system has no names relative to a directory (Windows), directories are paths that are
//! looked at when they are opened, and again once a file or a list of names was opened below. A link
//! that is put in place between opening a directory and changing a file in it would be followed there.
//!
//! No file is opened, replaced or removed here that belongs to a database which is open in this
//! process: closing it would drop the locks of SQLite (see [`OpenDatabase`]).
//!
//! Everything here blocks on the disk.

mod databases;
#[cfg(not(unix))]
mod portable;
mod private;
mod replacing;
mod stamp;
#[cfg(unix)]
mod unix;

use std::{
    ffi::{OsStr, OsString},
    io,
    path::{Component, Path, is_separator},
};

pub use databases::{OpenDatabase, is_open_database, open_file, refuse_database};
#[cfg(not(unix))]
pub use portable::Directory;
pub use private::{create_private_folder, private_file};
pub use replacing::is_temporary;
pub use stamp::{Kind, Stamp, now};
#[cfg(unix)]
pub use unix::Directory;

/// What stands directly in a directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Child {
    /// Its name.
    pub name: OsString,
    /// What it is. Whether a file may be executed a directory does not tell.
    pub kind: Kind,
}

impl Directory {
    /// Opens the directory at an absolute path, which must lead through no link.
    pub fn open(path: &Path) -> io::Result<Self> {
        let (root, below) = root(path)?;
        root.below(below)
    }

    /// Opens the directory at an absolute path, which must lead through no link. What is missing of
    /// it is created.
    pub fn prepare(path: &Path) -> io::Result<Self> {
        let (root, below) = root(path)?;
        root.prepare_below(below)
    }

    /// Opens a directory below this one, through no link. What is missing of it is created.
    pub fn prepare_below(&self, relative: impl AsRef<Path>) -> io::Result<Self> {
        // A path that is refused creates nothing.
        let names: Vec<_> = names(relative.as_ref()).collect::<io::Result<_>>()?;
        let mut here = self.below("")?;
        for name in names {
            here = here.directory(name)?;
        }
        Ok(here)
    }

    /// The stamp of the regular file of a name.
    fn require_file(&self, name: &OsStr) -> io::Result<Stamp> {
        let stamp = self.stat(name)?.ok_or(io::ErrorKind::NotFound)?;
        stamp.kind.require_file()?;
        Ok(stamp)
    }
}

/// Whether an error says that nothing is there, or something else than what was looked for.
pub fn is_absent(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}

/// The root of an absolute path, and the rest of it.
fn root(path: &Path) -> io::Result<(Directory, &Path)> {
    let root = path.ancestors().last().filter(|root| root.is_absolute());
    let root = root.ok_or(io::ErrorKind::InvalidInput)?;
    let below = path.strip_prefix(root).map_err(io::Error::other)?;
    Ok((Directory::root(root)?, below))
}

/// The names that a relative path consists of.
fn names(relative: &Path) -> impl Iterator<Item = io::Result<&OsStr>> {
    relative.components().map(|component| match component {
        Component::Normal(name) => single(name),
        _ => Err(io::ErrorKind::InvalidInput.into()),
    })
}

/// Refuses what is not one name, since the directory alone would not say where it leads.
fn single(name: &OsStr) -> io::Result<&OsStr> {
    let bytes = name.as_encoded_bytes();
    let is_separator = |byte: &u8| is_separator(char::from(*byte));
    let is_path = matches!(bytes, b"" | b"." | b"..") || bytes.iter().any(is_separator);
    if is_path || cfg!(windows) && !is_itself_on_windows(bytes) {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    Ok(name)
}

/// Whether Windows takes a name as it is written: neither for a stream of a file nor for the name
/// without the dots and spaces at its end, by which `.git.` would be `.git`.
fn is_itself_on_windows(name: &[u8]) -> bool {
    !name.contains(&b':') && !matches!(name.last(), Some(b'.' | b' '))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_knows_a_file_by_several_names() {
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
