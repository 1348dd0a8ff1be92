//! The other names of a file that has several: hard links.
//!
//! A rule about any name of a file restricts it. The system knows only the number of names, so the names are searched
//! below one directory, within a limit.

use std::collections::{HashMap, VecDeque};
use std::fs::{self, Metadata};
use std::path::{Path, PathBuf};

/// Maximum number of entries that a search reads.
const MAX_ENTRIES: usize = 100_000;

/// Directories that are not searched: they have many entries, and tools write them.
const LEFT_OUT: [&str; 2] = [".git", "node_modules"];

/// The files below a directory by their number in the file system. Reads the disk and blocks.
#[derive(Debug)]
pub struct HardLinks {
    names: HashMap<u64, Vec<PathBuf>>,
    is_complete: bool,
}

impl HardLinks {
    /// Lists the files below a directory, without following links. Directories near the root come first.
    #[must_use]
    pub fn below(root: &Path) -> Self {
        Self::within(root, MAX_ENTRIES, |_| true)
    }

    fn within(root: &Path, limit: usize, is_wanted: impl Fn(u64) -> bool) -> Self {
        let mut links = Self {
            names: HashMap::new(),
            is_complete: true,
        };
        let mut room = limit;
        let mut ahead = VecDeque::from([root.to_owned()]);
        while let Some(directory) = ahead.pop_front() {
            for entry in fs::read_dir(&directory).into_iter().flatten().flatten() {
                let Some(left) = room.checked_sub(1) else {
                    links.is_complete = false;
                    return links;
                };
                room = left;
                let Ok(kind) = entry.file_type() else {
                    continue;
                };
                if kind.is_dir() {
                    let is_left_out = LEFT_OUT.iter().any(|name| entry.file_name() == *name);
                    if !is_left_out {
                        ahead.push_back(entry.path());
                    }
                } else if kind.is_file()
                    && let Some(number) = number(&entry).filter(|number| is_wanted(*number))
                {
                    links.names.entry(number).or_default().push(entry.path());
                }
            }
        }
        links
    }

    /// Returns the paths of a file with this metadata, or `None` if there may be others below the directory. A file
    /// with one name has no others.
    fn of(&self, found: &Metadata) -> Option<Vec<&Path>> {
        let Some(identity) = Identity::of_several_names(found) else {
            return Some(Vec::new());
        };
        let candidates = self
            .names
            .get(&identity.number)
            .map_or(&[][..], Vec::as_slice);
        let is_same = |path: &&PathBuf| {
            fs::symlink_metadata(path).is_ok_and(|other| Identity::of(&other) == Some(identity))
        };
        let names = candidates.iter().filter(is_same).map(PathBuf::as_path);
        let names: Vec<&Path> = names.collect();
        let has_all = names.len() as u64 == count_of_names(found);
        (self.is_complete || has_all).then_some(names)
    }

    /// Returns the names of a file with this metadata: each path below the Location with the absolute path. Returns
    /// `None` if there may be others.
    #[must_use]
    pub fn names_of(&self, location: &Path, found: &Metadata) -> Option<Vec<[String; 2]>> {
        let paths = self.of(found)?.into_iter();
        Some(paths.map(|path| names_below(location, path)).collect())
    }

    /// Returns numbers that all names of a file share, for a file with more than one.
    #[must_use]
    pub fn identity(found: &Metadata) -> Option<(u64, u64)> {
        let identity = Identity::of_several_names(found)?;
        Some((identity.device, identity.number))
    }

    /// True if a file has more than one name.
    fn has_others(found: &Metadata) -> bool {
        found.is_file() && count_of_names(found) > 1
    }
}

/// Returns the names of a file with several ones: its paths below the Location, as [`Target::resource`] has them, and
/// the absolute paths. Returns `None` if there may be others, and no names for a file with one name. Reads the disk and
/// blocks.
///
/// [`Target::resource`]: super::Target::resource
#[must_use]
pub fn hard_link_names(location: &Path, file: &Path) -> Option<Vec<String>> {
    let Ok(found) = fs::symlink_metadata(file) else {
        return Some(Vec::new());
    };
    let Some(identity) = Identity::of_several_names(&found) else {
        return Some(Vec::new());
    };
    let links = HardLinks::within(location, MAX_ENTRIES, |number| number == identity.number);
    Some(
        links
            .names_of(location, &found)?
            .into_iter()
            .flatten()
            .collect(),
    )
}

/// Returns the path relative to a directory with `/` between the names, and the absolute path.
fn names_below(root: &Path, path: &Path) -> [String; 2] {
    let below = path.strip_prefix(root).unwrap_or(path);
    let relative = below.to_string_lossy();
    let relative = if cfg!(windows) {
        relative.replace('\\', "/")
    } else {
        relative.into_owned()
    };
    [relative, path.to_string_lossy().into_owned()]
}

/// A file, however it is named.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Identity {
    device: u64,
    number: u64,
}

impl Identity {
    /// Returns `None` for a file with one name.
    fn of_several_names(found: &Metadata) -> Option<Self> {
        HardLinks::has_others(found)
            .then(|| Self::of(found))
            .flatten()
    }

    #[cfg(unix)]
    fn of(found: &Metadata) -> Option<Self> {
        use std::os::unix::fs::MetadataExt;
        Some(Self {
            device: found.dev(),
            number: found.ino(),
        })
    }

    #[cfg(not(unix))]
    fn of(_: &Metadata) -> Option<Self> {
        None
    }
}

#[cfg(unix)]
fn count_of_names(found: &Metadata) -> u64 {
    use std::os::unix::fs::MetadataExt;
    found.nlink()
}

/// The system does not tell it without opening the file.
#[cfg(not(unix))]
fn count_of_names(_: &Metadata) -> u64 {
    1
}

#[cfg(unix)]
fn number(entry: &fs::DirEntry) -> Option<u64> {
    use std::os::unix::fs::DirEntryExt;
    Some(entry.ino())
}

#[cfg(not(unix))]
fn number(_: &fs::DirEntry) -> Option<u64> {
    None
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;

    #[test]
    fn all_names_of_a_file_are_found() {
        let temp = tempfile::tempdir().unwrap();
        let top = fs::canonicalize(temp.path()).unwrap();
        let (location, outside) = (top.join("loc"), top.join("outside"));
        for directory in ["loc/a/b", "loc/node_modules", "outside"] {
            fs::create_dir_all(top.join(directory)).unwrap();
        }
        fs::write(location.join(".env"), "x").unwrap();
        fs::write(location.join("plain"), "x").unwrap();
        for name in ["loc/a/b/notes", "loc/node_modules/copy", "outside/copy"] {
            fs::hard_link(location.join(".env"), top.join(name)).unwrap();
        }
        let absolute = |name: &str| location.join(name).to_str().unwrap().to_owned();
        let expected = [
            ".env".to_owned(),
            absolute(".env"),
            "a/b/notes".to_owned(),
            absolute("a/b/notes"),
        ];
        for file in [
            location.join(".env"),
            location.join("a/b/notes"),
            location.join("node_modules/copy"),
            outside.join("copy"),
        ] {
            let names = hard_link_names(&location, &file).unwrap();
            assert_eq!(names, expected, "{file:?}");
        }
        for file in ["plain", "a", "missing"] {
            assert_eq!(
                hard_link_names(&location, &location.join(file)),
                Some(Vec::new())
            );
        }
    }

    #[test]
    fn names_beyond_the_limit_are_unknown() {
        let temp = tempfile::tempdir().unwrap();
        let root = temp.path();
        for name in ["1", "2", "3", "4"] {
            fs::write(root.join(name), "x").unwrap();
        }
        fs::hard_link(root.join("1"), root.join("5")).unwrap();
        let found = |name: &str| fs::symlink_metadata(root.join(name)).unwrap();
        let all = HardLinks::within(root, 5, |_| true);
        assert_eq!(all.of(&found("1")).map(|names| names.len()), Some(2));
        let some = HardLinks::within(root, 1, |_| true);
        assert_eq!(some.of(&found("1")), None);
        assert_eq!(some.of(&found("2")), Some(Vec::new()));
    }
}
