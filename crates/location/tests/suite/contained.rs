//! Properties of paths from a model, checked by the fuzzer.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Component, Path, PathBuf};
use std::sync::LazyLock;

use opencode_location::directory::{ContainmentError, TargetKind, resolve};

/// A Location with files, and with links to targets inside, outside, missing and to themselves.
static ROOT: LazyLock<PathBuf> = LazyLock::new(|| {
    let base = std::env::temp_dir().join(format!("opencode-paths-{}", std::process::id()));
    let root = base.join("location");
    fs::create_dir_all(root.join("folder/inner")).expect("a folder can be made");
    fs::create_dir_all(base.join("outside")).expect("a folder can be made");
    fs::write(root.join("file"), "").expect("a file can be written");
    for (target, name) in [
        ("../outside", "out"),
        ("nowhere", "dangling"),
        ("loop", "loop"),
        (".", "self"),
        ("folder/inner", "in"),
        ("../../outside", "folder/out"),
    ] {
        // An earlier process with the same id may have left these links.
        drop(symlink(target, root.join(name)));
    }
    root.canonicalize().expect("the root is there")
});

/// The target of a path is either inside the Location or needs an approval that covers it.
pub(crate) fn check(input: &[u8]) {
    let input = String::from_utf8_lossy(input);
    for kind in [TargetKind::File, TargetKind::Directory] {
        let target = match resolve(&ROOT, &input, kind) {
            Ok(target) => target,
            Err(error) => {
                let is_escape = matches!(error, ContainmentError::RelativeEscape);
                assert!(!is_escape || Path::new(&*input).is_relative());
                continue;
            }
        };
        let path = &target.canonical;
        assert!(path.is_absolute(), "{target:?}");
        let climbs = |part| matches!(part, Component::ParentDir | Component::CurDir);
        assert!(!path.components().any(climbs), "{target:?}");
        match &target.external_directory {
            None if target.resource == "." => assert_eq!(path, &*ROOT),
            None => assert_eq!(path, &ROOT.join(&target.resource)),
            Some(pattern) => {
                assert!(!path.starts_with(&*ROOT), "{target:?}");
                let directory = pattern.strip_suffix("/*").expect("it covers a directory");
                assert!(path.starts_with(format!("{directory}/")), "{target:?}");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::check;
    use crate::replay::replay;

    #[test]
    fn kept_paths_keep_their_properties() {
        replay("paths", check);
    }
}
