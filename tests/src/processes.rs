//! What a dead host left running.

use std::io;
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Far more than the end of a command takes once its host is gone, however busy the machine is.
const DEADLINE: Duration = Duration::from_secs(60);
const BETWEEN_LOOKS: Duration = Duration::from_millis(2);

/// Waits until no process works below a folder. Returns those that do for longer than any command
/// may outlive its host. Seen on Linux alone.
pub fn left_in(folder: &Path) -> io::Result<Option<Vec<String>>> {
    if !cfg!(target_os = "linux") {
        return Ok(None);
    }
    let began = Instant::now();
    loop {
        let left = working_in(folder)?;
        if left.is_empty() {
            return Ok(None);
        }
        if began.elapsed() > DEADLINE {
            return Ok(Some(left));
        }
        sleep(BETWEEN_LOOKS);
    }
}

/// The commands of the processes whose directory lies below a folder.
fn working_in(folder: &Path) -> io::Result<Vec<String>> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc")? {
        let process = entry?.path();
        // What is no process has no directory, and one that has just ended has none any more.
        let Ok(directory) = std::fs::read_link(process.join("cwd")) else {
            continue;
        };
        if directory.starts_with(folder) {
            let command = std::fs::read(process.join("cmdline")).unwrap_or_default();
            found.push(String::from_utf8_lossy(&command).replace('\0', " "));
        }
    }
    Ok(found)
}
