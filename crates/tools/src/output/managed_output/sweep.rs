//! Deletes old Managed Tool Output Files.

use std::{fs, io, path::Path};

use opencode_handles::Directory;
use opencode_schema::clock::Millis;
use tokio_util::sync::CancellationToken;

use super::PREFIX;

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

/// Uses only the handle of the directory, so a replacement of the directory meanwhile has no effect.
fn sweep(directory: &Path, before: Millis, stopped: &CancellationToken) -> io::Result<usize> {
    let (Some(above), Some(name)) = (directory.parent(), directory.file_name()) else {
        return Err(io::ErrorKind::InvalidInput.into());
    };
    // Links in the path above the directory belong to the user and are followed.
    let held = Directory::open(&fs::canonicalize(above)?)?.below(name)?;
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
