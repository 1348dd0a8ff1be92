//! The names by which a path leads to a file through symbolic links.

use std::fs;
use std::path::{Path, PathBuf};

use super::lexical;

/// Maximum number of links that a path can lead through, as on Linux. A path with more does not lead to a file.
const MAX_LINKS: usize = 40;

/// Returns the path itself and each path to which a link on it leads, without the real path at the end. Empty if no
/// component is a link. Reads the disk and blocks.
pub(super) fn link_names(named: &Path, real: &Path) -> Vec<PathBuf> {
    let mut names = Vec::new();
    let mut current = named.to_owned();
    while current != real && names.len() < MAX_LINKS {
        let next = behind_first_link(&current);
        names.push(current);
        match next {
            Some(next) => current = next,
            None => break,
        }
    }
    names
}

/// Replaces the first component that is a link with its target.
fn behind_first_link(path: &Path) -> Option<PathBuf> {
    let prefixes: Vec<_> = path.ancestors().collect();
    let is_link = |it: &&&Path| fs::symlink_metadata(it).is_ok_and(|found| found.is_symlink());
    let link = prefixes.iter().rev().find(is_link)?;
    let target = fs::read_link(link).ok()?;
    // No component in front of the link is a link, so `..` in its target can be resolved by its text.
    let behind = link.parent()?.join(target);
    let rest = path.strip_prefix(link).ok()?;
    Some(lexical(&behind.join(rest)))
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn every_path_between_the_name_and_the_file_is_a_name() {
        let temp = tempfile::tempdir().unwrap();
        let top = fs::canonicalize(temp.path()).unwrap();
        fs::create_dir_all(top.join("real/sub")).unwrap();
        symlink("real", top.join("middle")).unwrap();
        symlink(top.join("middle"), top.join("first")).unwrap();
        symlink("../middle/sub", top.join("real/back")).unwrap();
        for (named, expected) in [
            ("real/sub", &[][..]),
            ("real/new/x", &[]),
            ("middle/sub", &["middle/sub"]),
            ("first/new/x", &["first/new/x", "middle/new/x"]),
            (
                "first/back/x",
                &[
                    "first/back/x",
                    "middle/back/x",
                    "real/back/x",
                    "middle/sub/x",
                ],
            ),
        ] {
            let named = top.join(named);
            let real = super::super::containment::follow(&named).ok().unwrap();
            let expected: Vec<_> = expected.iter().map(|name| top.join(name)).collect();
            assert_eq!(link_names(&named, &real.canonical), expected, "{named:?}");
        }
    }
}
