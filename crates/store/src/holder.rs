//! The process that holds the lock of a database, as recorded in the lock file.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

/// The process that has a database open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Holder {
    /// The calling process.
    ThisProcess,
    /// Another process.
    Process {
        /// Process id.
        pid: u32,
        /// Program name, if known.
        command: Option<String>,
    },
    /// The process is unknown.
    Unknown,
}

impl Holder {
    pub(crate) fn read(lock: &Path) -> Self {
        let text = fs::read_to_string(lock).unwrap_or_default();
        Self::parse(&text).unwrap_or(Self::Unknown)
    }

    fn parse(text: &str) -> Option<Self> {
        let (pid, written) = text.strip_suffix('\n')?.split_once(' ')?;
        let pid = pid.parse().ok()?;
        if identity(pid)? != written {
            return None;
        }
        if pid == std::process::id() {
            return Some(Self::ThisProcess);
        }
        let command = command(pid);
        Some(Self::Process { pid, command })
    }

    /// Returns the process id, if known.
    pub fn pid(&self) -> Option<u32> {
        match self {
            Self::ThisProcess => Some(std::process::id()),
            Self::Process { pid, .. } => Some(*pid),
            Self::Unknown => None,
        }
    }
}

/// Formats the location of the other host, such as `in another host of this process`.
impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ThisProcess => f.write_str("in another host of this process"),
            Self::Process { pid, command } => match command {
                Some(command) => write!(f, "in the process {pid} ({command})"),
                None => write!(f, "in the process {pid}"),
            },
            Self::Unknown => f.write_str("in another host"),
        }
    }
}

/// Returns the start time of a running process, which distinguishes it from earlier processes with
/// the same id. Returns `None` if the process does not exist.
#[cfg(target_os = "linux")]
pub(crate) fn identity(pid: u32) -> Option<String> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The program name is in parentheses and can contain any character.
    let (_, rest) = stat.rsplit_once(')')?;
    rest.split_ascii_whitespace().nth(19).map(str::to_owned)
}

/// On other systems, only the existence of the process can be determined.
#[cfg(all(unix, not(target_os = "linux")))]
pub(crate) fn identity(pid: u32) -> Option<String> {
    use rustix::process::{Pid, test_kill_process};
    let pid = Pid::from_raw(i32::try_from(pid).ok()?)?;
    let lives = match test_kill_process(pid) {
        Ok(()) => true,
        Err(error) => error == rustix::io::Errno::PERM,
    };
    lives.then(|| "alive".to_owned())
}

/// On Windows, a locked file cannot be read.
#[cfg(not(unix))]
pub(crate) fn identity(_: u32) -> Option<String> {
    None
}

/// Returns the program name of a process.
fn command(pid: u32) -> Option<String> {
    let program: PathBuf = fs::read_link(format!("/proc/{pid}/exe")).ok()?;
    let name = program.file_name()?.to_str()?;
    Some(name.trim_end_matches(" (deleted)").to_owned())
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use super::*;

    #[test]
    fn a_holder_is_a_running_process() {
        let own = std::process::id();
        let since = identity(own).unwrap();
        let parent = std::os::unix::process::parent_id();
        let theirs = identity(parent).unwrap();
        assert_eq!(
            Holder::parse(&format!("{own} {since}\n")),
            Some(Holder::ThisProcess)
        );
        let other = Holder::parse(&format!("{parent} {theirs}\n")).unwrap();
        assert_eq!(other.pid(), Some(parent));
        assert!(
            other
                .to_string()
                .contains(&format!("in the process {parent}"))
        );
        for stale in [
            // Half a line, which an early reader can see.
            format!("{own} {since}"),
            String::new(),
            // Another process has the same id now.
            format!("{own} 1\n"),
            // No process has this number.
            format!("4194999 {since}\n"),
            "x y\n".to_owned(),
        ] {
            assert_eq!(Holder::parse(&stale), None, "{stale:?}");
        }
    }
}
