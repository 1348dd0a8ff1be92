//! Processes that outlive a dead host.

use std::io;
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Far longer than a command takes to end after the end of its host, even on a busy machine.
const DEADLINE: Duration = Duration::from_secs(60);
const BETWEEN_LOOKS: Duration = Duration::from_millis(2);

/// Waits until no process works below a folder. Returns the commands of the processes that still do
/// so after the deadline. Works only on Linux; elsewhere it returns `None`.
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

/// The command lines of the processes with a working directory below a folder.
fn working_in(folder: &Path) -> io::Result<Vec<String>> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc")? {
        let process = entry?.path();
        // Entries that are not processes have no `cwd`, and a process may end during the search.
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
