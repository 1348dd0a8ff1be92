//! The lock on a database file, and who holds it.
//!
//! The lock is advisory and on a file of its own. Two handles exclude each other within one process
//! too. The holder writes who it is into that file. The entry of a process that died does not count,
//! and the holder empties the file before it gives the lock back.
//!
//! A user may remove that file, so the database file itself is locked too ([`crate::held`]).

use std::fmt;
use std::fs::{self, File, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use opencode_handles::private_file;

use crate::error::OpenError;
use crate::open::unavailable;

/// A lock that is held. The operating system drops it with the process.
pub(crate) struct FileLock(File);

impl FileLock {
    /// Takes the lock of the database at `path`, which the caller named `named`.
    pub(crate) fn take(path: &Path, named: &Path) -> Result<Self, OpenError> {
        let mut name = path.as_os_str().to_owned();
        name.push(".lock");
        let file = private_file()
            .create(true)
            .truncate(false)
            .open(&name)
            .map_err(|error| unavailable(named, error))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(in_use(named, Holder::read(Path::new(&name))));
            }
            Err(TryLockError::Error(error)) => return Err(unavailable(named, error)),
        }
        if let Err(error) = sign(&file) {
            tracing::debug!(%error, "the database lock does not say who holds it");
        }
        Ok(Self(file))
    }
}

pub(crate) fn in_use(named: &Path, holder: Holder) -> OpenError {
    let path = named.to_owned();
    OpenError::InUse { path, holder }
}

/// Gives the lock back. A process that is being spawned may hold a copy of the handle for a moment,
/// so closing ours alone would not free it.
impl Drop for FileLock {
    fn drop(&mut self) {
        if let Err(error) = self.0.set_len(0).and_then(|()| self.0.unlock()) {
            tracing::debug!(%error, "the database lock goes with its handle");
        }
    }
}

/// Writes who holds the lock. Until then the file is empty, or names a process that has died.
fn sign(mut file: &File) -> io::Result<()> {
    file.set_len(0)?;
    let pid = std::process::id();
    match identity(pid) {
        Some(identity) => writeln!(file, "{pid} {identity}"),
        None => Ok(()),
    }
}

/// The process that has a database open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Holder {
    /// The process that asks.
    ThisProcess,
    /// Another one.
    Process {
        /// Its number.
        pid: u32,
        /// The name of its program, where that can be known.
        command: Option<String>,
    },
    /// It cannot be said which.
    Unknown,
}

impl Holder {
    fn read(lock: &Path) -> Self {
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

    /// The number of the process, where it is known.
    pub fn pid(&self) -> Option<u32> {
        match self {
            Self::ThisProcess => Some(std::process::id()),
            Self::Process { pid, .. } => Some(*pid),
            Self::Unknown => None,
        }
    }
}

/// Where the other host is: `in this process`.
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

/// When a living process began, which tells it from earlier processes with its number. None if there
/// is no such process.
#[cfg(target_os = "linux")]
fn identity(pid: u32) -> Option<String> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name of the program stands in parentheses and may hold anything.
    let (_, rest) = stat.rsplit_once(')')?;
    rest.split_ascii_whitespace().nth(19).map(str::to_owned)
}

/// Elsewhere that it lives is all that can be known.
#[cfg(all(unix, not(target_os = "linux")))]
fn identity(pid: u32) -> Option<String> {
    use rustix::process::{Pid, test_kill_process};
    let pid = Pid::from_raw(i32::try_from(pid).ok()?)?;
    let lives = match test_kill_process(pid) {
        Ok(()) => true,
        Err(error) => error == rustix::io::Errno::PERM,
    };
    lives.then(|| "alive".to_owned())
}

/// On Windows a locked file cannot be read.
#[cfg(not(unix))]
fn identity(_: u32) -> Option<String> {
    None
}

/// The name of the program of a process.
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
    fn a_holder_is_a_process_that_lives() {
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
            // Half a line, as a reader may find it that comes too early.
            format!("{own} {since}"),
            String::new(),
            // The number was given to another process since.
            format!("{own} 1\n"),
            // No process has this number.
            format!("4194999 {since}\n"),
            "x y\n".to_owned(),
        ] {
            assert_eq!(Holder::parse(&stale), None, "{stale:?}");
        }
    }
}
