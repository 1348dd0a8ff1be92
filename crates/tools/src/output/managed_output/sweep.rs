//! Deletes Managed Tool Output Files: old ones, and those of removed sessions.

use std::{ffi::OsStr, fs, io, path::Path};

use opencode_handles::Directory;
use opencode_schema::clock::Millis;
use opencode_schema::id::SessionID;
use tokio_util::sync::CancellationToken;

use crate::contract::output_owner::{self, PREFIX};

/// Time that a file is kept after its last change, in milliseconds.
const RETENTION: Millis = 7 * 24 * 60 * 60 * 1000;

/// Deletes the Managed Tool Output Files in `directory` that were last changed more than seven days
/// before `now`, and returns their number. All other entries stay, including links and directories.
/// Nothing is deleted if the directory itself is a link. Blocks on the disk, holds one name in memory
/// at a time, and ends early when `stopped` is cancelled.
///
/// # Errors
///
/// Fails if the directory cannot be read. A missing directory is not an error.
pub fn sweep_managed_output(
    directory: &Path,
    now: Millis,
    stopped: &CancellationToken,
) -> io::Result<usize> {
    match sweep(directory, now - RETENTION, stopped) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(0),
        swept => swept,
    }
}

const NANOSECONDS_IN_MILLISECOND: i64 = 1_000_000;

fn is_managed(name: &[u8]) -> bool {
    let rest = name.strip_prefix(PREFIX.as_bytes());
    rest.is_some_and(|rest| rest.starts_with(b"_"))
}

/// Deletes the Managed Tool Output Files of removed sessions, and returns the paths of those that cannot be deleted.
/// Ignores each path that is not a file of this directory with the name of a Managed Tool Output File: the log of a
/// session may come from another host. Blocks on the disk.
///
/// # Errors
///
/// Fails if the directory cannot be read. A missing directory is not an error.
pub fn remove_managed_output(directory: &Path, paths: &[String]) -> io::Result<Vec<String>> {
    let is_here = |path: &Path| {
        let name = path.file_name().filter(|_| path.is_absolute());
        let is_managed = name.is_some_and(|name| is_managed(name.as_encoded_bytes()));
        is_managed && path.parent() == Some(directory)
    };
    let paths = paths.iter().filter(|path| is_here(Path::new(path)));
    let mut paths = paths.peekable();
    if paths.peek().is_none() {
        return Ok(Vec::new());
    }
    let Some(held) = hold_existing(directory)? else {
        return Ok(Vec::new());
    };
    let stays = |path: &&String| match Path::new(path).file_name() {
        Some(name) => remove(&held, name).is_err(),
        None => false,
    };
    Ok(paths.filter(stays).cloned().collect())
}

/// Deletes all Managed Tool Output Files of the session trees with these roots. Blocks on the disk.
///
/// # Errors
///
/// Fails if the directory cannot be read, or if a file cannot be deleted; all others are deleted then. A missing
/// directory is not an error.
pub fn remove_managed_output_of(directory: &Path, roots: &[SessionID]) -> io::Result<()> {
    let Some(held) = hold_existing(directory)? else {
        return Ok(());
    };
    let mut removed = Ok(());
    for child in held.children()? {
        let name = child?.name;
        let is_theirs = |root| output_owner::is_of(Path::new(&name), root);
        if is_managed(name.as_encoded_bytes()) && roots.iter().any(is_theirs) {
            removed = remove(&held, &name).and(removed);
        }
    }
    removed
}

/// Deletes a file. Does nothing if it is not a regular file.
fn remove(held: &Directory, name: &OsStr) -> io::Result<()> {
    match held.stat(name)? {
        Some(found) if found.kind.is_file() => match held.remove(name) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            removed => removed,
        },
        _ => Ok(()),
    }
}

/// Returns `None` if the directory does not exist.
fn hold_existing(directory: &Path) -> io::Result<Option<Directory>> {
    match hold(directory) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        held => held.map(Some),
    }
}

/// Opens the directory of the files. Fails if it is a link.
fn hold(directory: &Path) -> io::Result<Directory> {
    let (Some(above), Some(name)) = (directory.parent(), directory.file_name()) else {
        return Err(io::ErrorKind::InvalidInput.into());
    };
    // Links in the path above the directory belong to the user and are followed.
    Directory::open(&fs::canonicalize(above)?)?.below(name)
}

/// Uses only the handle of the directory, so a replacement of the directory meanwhile has no effect.
fn sweep(directory: &Path, before: Millis, stopped: &CancellationToken) -> io::Result<usize> {
    let held = hold(directory)?;
    let mut swept = 0;
    for child in held.children()? {
        let name = child?.name;
        if stopped.is_cancelled() {
            break;
        }
        if !is_managed(name.as_encoded_bytes()) {
            continue;
        }
        // Another host may have deleted the file already.
        let Ok(Some(found)) = held.stat(&name) else {
            continue;
        };
        let written = found.modified / NANOSECONDS_IN_MILLISECOND;
        if found.kind.is_file() && written < before && held.remove(&name).is_ok() {
            swept += 1;
        }
    }
    Ok(swept)
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::{
        fs::{self, File},
        os::unix::fs::symlink,
        path::PathBuf,
        time::{Duration, UNIX_EPOCH},
    };

    use tempfile::TempDir;

    use super::*;

    const NOW: Millis = 1_800_000_000_000;

    struct Outputs {
        temp: TempDir,
    }

    impl Outputs {
        fn new() -> Self {
            let temp = tempfile::tempdir().unwrap();
            fs::create_dir(temp.path().join("tool-output")).unwrap();
            Self { temp }
        }

        fn directory(&self) -> PathBuf {
            self.temp.path().join("tool-output")
        }

        /// Creates a file that was changed `seconds` seconds before [`NOW`].
        fn file(&self, name: &str, seconds: u64) {
            let file = File::create(self.directory().join(name)).unwrap();
            let written =
                UNIX_EPOCH + Duration::from_millis(NOW as u64) - Duration::from_secs(seconds);
            file.set_modified(written).unwrap();
        }

        fn names(&self) -> Vec<String> {
            let entries = fs::read_dir(self.directory()).unwrap();
            let mut names: Vec<_> = entries
                .map(|entry| entry.unwrap().file_name().into_string().unwrap())
                .collect();
            names.sort();
            names
        }

        fn sweep(&self) -> usize {
            sweep_managed_output(&self.directory(), NOW, &CancellationToken::new()).unwrap()
        }
    }

    const WEEK: u64 = 7 * 24 * 60 * 60;

    #[test]
    fn files_older_than_a_week_are_deleted() {
        let outputs = Outputs::new();
        for (name, seconds) in [
            ("tool_0", WEEK + 1),
            ("tool_1", 100 * WEEK),
            ("tool_", 2 * WEEK),
            ("tool_2", WEEK),
            ("tool_3", 0),
        ] {
            outputs.file(name, seconds);
        }
        assert_eq!(outputs.sweep(), 3);
        assert_eq!(outputs.names(), ["tool_2", "tool_3"]);
        assert_eq!(outputs.sweep(), 0);
    }

    #[test]
    fn the_files_of_a_session_are_deleted_and_no_others() {
        let outputs = Outputs::new();
        for name in ["tool_a", "tool_b", "notes", "tool_d"] {
            outputs.file(name, 0);
        }
        fs::create_dir(outputs.directory().join("tool_c")).unwrap();
        let outside = outputs.temp.path().join("tool_x");
        File::create(&outside).unwrap();
        let here = |name: &str| outputs.directory().join(name).display().to_string();
        let paths = [
            here("tool_a"),
            here("notes"),
            here("tool_c"),
            here("tool_none"),
            here("../tool_x"),
            outside.display().to_string(),
            "tool_b".to_owned(),
            String::new(),
        ];
        let stay = remove_managed_output(&outputs.directory(), &paths).unwrap();
        assert_eq!(stay, [""; 0]);
        assert_eq!(outputs.names(), ["notes", "tool_b", "tool_c", "tool_d"]);
        assert!(outside.exists());
        let missing = outputs.temp.path().join("missing");
        let path = missing.join("tool_a").display().to_string();
        assert_eq!(remove_managed_output(&missing, &[path]).unwrap(), [""; 0]);
    }

    #[test]
    fn the_files_of_a_session_tree_are_deleted_by_their_names() {
        let outputs = Outputs::new();
        let root = |id: &str| SessionID::parse(id).unwrap();
        let name = |n: usize, id: &str| {
            output_owner::name(&format!("tool_{n:012}00000000000000"), &root(id))
        };
        let (own, media) = (name(1, "ses_a"), format!("{}.png", name(2, "ses_a")));
        let other = name(3, "ses_b");
        for file in [&own, &media, &other, &format!("x{own}")] {
            outputs.file(file, 0);
        }
        let roots = [root("ses_c"), root("ses_a")];
        remove_managed_output_of(&outputs.directory(), &roots).unwrap();
        assert_eq!(outputs.names(), [other, format!("x{own}")]);
        let missing = outputs.directory().join("missing");
        remove_managed_output_of(&missing, &roots).unwrap();
    }

    #[test]
    fn other_files_are_not_deleted() {
        let outputs = Outputs::new();
        for name in [
            "tool",
            "tools_1",
            "Tool_1",
            ".tool_1",
            "1_tool_",
            "notes.txt",
        ] {
            outputs.file(name, 2 * WEEK);
        }
        let directory = outputs.directory();
        fs::create_dir(directory.join("tool_directory")).unwrap();
        let inner = directory.join("tool_directory/tool_1");
        fs::write(&inner, "").unwrap();
        symlink("notes.txt", directory.join("tool_link")).unwrap();
        symlink("nowhere", directory.join("tool_broken")).unwrap();
        let before = outputs.names();
        let later = NOW * 2;
        let swept = sweep_managed_output(&directory, later, &CancellationToken::new());
        assert_eq!(swept.unwrap(), 0);
        assert_eq!(outputs.names(), before);
        assert!(inner.exists());
    }

    #[test]
    fn a_directory_that_is_a_link_is_not_followed() {
        let outputs = Outputs::new();
        outputs.file("tool_1", 2 * WEEK);
        let link = outputs.temp.path().join("link");
        symlink(outputs.directory(), &link).unwrap();
        assert!(sweep_managed_output(&link, NOW, &CancellationToken::new()).is_err());
        assert_eq!(outputs.names(), ["tool_1"]);
    }

    #[test]
    fn a_stopped_sweep_deletes_no_more_files() {
        let outputs = Outputs::new();
        outputs.file("tool_1", 2 * WEEK);
        let stopped = CancellationToken::new();
        stopped.cancel();
        let swept = sweep_managed_output(&outputs.directory(), NOW, &stopped);
        assert_eq!(swept.unwrap(), 0);
        assert_eq!(outputs.names(), ["tool_1"]);
    }

    #[test]
    fn a_missing_directory_is_not_swept() {
        let outputs = Outputs::new();
        let missing = outputs.directory().join("missing");
        let swept = sweep_managed_output(&missing, NOW, &CancellationToken::new());
        assert_eq!(swept.unwrap(), 0);
    }
}
