//! The guard of a session.

use std::fs::File;
use std::io::{self, PipeWriter, Write, pipe};
use std::os::fd::{AsRawFd, RawFd};

use nix::errno::Errno;
use nix::sys::signal::{Signal, kill};
use nix::sys::wait::waitpid;
use nix::unistd::Pid;

use crate::spawn::leader;

/// Kills all processes of a session and their descendants when the host dies. It must outlive the
/// session.
pub struct Guard {
    pub(crate) number: Pid,
    /// Closed only by the death of the host.
    pub(crate) pipe: PipeWriter,
}

impl Guard {
    /// Starts the guard, before the session exists.
    ///
    /// # Errors
    ///
    /// Fails if the system cannot provide a process or a pipe.
    pub fn start() -> io::Result<Self> {
        let (reader, pipe) = pipe()?;
        let null = File::options().read(true).write(true).open("/dev/null")?;
        let files = [
            (reader.as_raw_fd(), 0),
            (null.as_raw_fd(), 1),
            (null.as_raw_fd(), 2),
        ];
        let number = leader(&[include_str!("guard.sh").as_bytes()], &[], &files)?;
        Ok(Self { number, pipe })
    }

    /// Sets the session to watch, by the process id of its leader.
    ///
    /// # Errors
    ///
    /// Fails if the guard has ended, so that nothing is watched.
    pub fn watch(&mut self, leader: u32) -> io::Result<()> {
        writeln!(self.pipe, "{leader}")
    }

    /// Returns the descriptor to which a process writes its own process id, as a line, before it
    /// does anything else. The process must then close the descriptor, because otherwise the guard
    /// also waits for it.
    pub fn register(&self) -> RawFd {
        self.pipe.as_raw_fd()
    }
}

impl Drop for Guard {
    /// Kills the guard before its pipe ends, because the end of the pipe would make it kill the
    /// session.
    fn drop(&mut self) {
        let _ = kill(self.number, Signal::SIGKILL);
        reap(self.number);
    }
}

/// Reaps a child that has ended or is about to end.
pub fn reap(child: Pid) {
    while waitpid(child, None) == Err(Errno::EINTR) {}
}
