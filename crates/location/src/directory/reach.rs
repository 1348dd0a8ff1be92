//! Everything that a reader of a directory reaches.

use std::fs;
use std::path::{Path, PathBuf};

use super::containment::{follow, real_path};

/// Maximum number of entries that are searched for links.
const MAX_ENTRIES: usize = 5_000;

/// Maximum depth of directories that are searched for links.
const MAX_DEPTH: usize = 16;

/// A directory that is not searched, because it contains packages and may be large.
const PACKAGES: &str = "node_modules";

/// Returns the real path of a file or a directory, and the real paths to which links below it lead. A path below one of
/// them is read by a reader of the first one that follows links. Reads the disk and blocks.
pub(crate) fn reached_paths(path: &Path) -> Vec<PathBuf> {
    let Ok(real) = follow(path) else {
        return Vec::new();
    };
    let mut reached = vec![real.canonical.clone()];
    let mut room = MAX_ENTRIES;
    let mut ahead = vec![(real.canonical, 0)];
    while let Some((directory, depth)) = ahead.pop() {
        for entry in fs::read_dir(&directory).into_iter().flatten().flatten() {
            let Some(left) = room.checked_sub(1) else {
                return reached;
            };
            room = left;
            let Ok(kind) = entry.file_type() else {
                continue;
            };
            if kind.is_dir() && depth < MAX_DEPTH && entry.file_name() != PACKAGES {
                ahead.push((entry.path(), depth + 1));
            }
            let target = kind.is_symlink().then(|| real_path(&entry.path()));
            if let Some(Ok(target)) = target
                && !reached.iter().any(|known| target.starts_with(known))
            {
                if target.is_dir() && depth < MAX_DEPTH {
                    ahead.push((target.clone(), depth + 1));
                }
                reached.push(target);
            }
        }
    }
    reached
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn links_below_a_directory_are_followed() {
        let temp = tempfile::tempdir().unwrap();
        let top = fs::canonicalize(temp.path()).unwrap();
        for directory in ["dot/agent", "docs/agents", "other", "dot/node_modules"] {
            fs::create_dir_all(top.join(directory)).unwrap();
        }
        fs::write(top.join("file"), "").unwrap();
        symlink("../docs", top.join("dot/command")).unwrap();
        symlink("../../other", top.join("docs/agents/more")).unwrap();
        symlink("../../file", top.join("dot/agent/a.md")).unwrap();
        symlink("../dot", top.join("other/back")).unwrap();
        symlink("../../docs", top.join("dot/node_modules/x")).unwrap();
        symlink("dot", top.join("door")).unwrap();
        symlink("loop", top.join("loop")).unwrap();
        for (path, expected) in [
            ("file", &["file"][..]),
            ("new", &["new"]),
            ("door/new", &["dot/new"]),
            ("loop", &[]),
        ] {
            let expected: Vec<_> = expected.iter().map(|name| top.join(name)).collect();
            assert_eq!(reached_paths(&top.join(path)), expected, "{path}");
        }
        let mut reached = reached_paths(&top.join("door"));
        reached.sort();
        assert_eq!(
            reached,
            ["docs", "dot", "file", "other"].map(|name| top.join(name))
        );
    }
}
