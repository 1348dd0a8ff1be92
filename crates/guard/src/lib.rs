//! What ends the processes that a host has started when it dies so that it can do nothing itself.
//!
//! A [`Guard`] is a `/bin/sh` that waits for a pipe to end whose other end only the host holds, and
//! kills one session then. Whoever starts the session owns the guard, and ends what is left before it
//! drops the guard.
//!
//! Processes are started with `posix_spawn`: to fork the process of a host, which may be large, takes
//! tens of milliseconds and stops its other threads.
#![cfg(unix)]

mod spawn;
#[cfg(test)]
mod tests;

use std::fs::File;
use std::io::{self, PipeWriter, Write, pipe};
use std::os::fd::{AsRawFd, RawFd};

use nix::errno::Errno;
use nix::sys::signal::{Signal, kill};
use nix::sys::wait::waitpid;
use nix::unistd::Pid;

pub use spawn::leader;

/// Kills everything in a session when the host dies, and what descends from it. It must outlive the
/// session.
pub struct Guard {
    number: Pid,
    /// Closed by nobody but the death of the host.
    pipe: PipeWriter,
}

impl Guard {
    /// Starts it, before there is a session.
    ///
    /// # Errors
    ///
    /// There is no process or no pipe to be had.
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

    /// Says which session it is, by the process that leads it.
    ///
    /// # Errors
    ///
    /// The guard has ended, so that nothing is watched.
    pub fn watch(&mut self, leader: u32) -> io::Result<()> {
        writeln!(self.pipe, "{leader}")
    }

    /// Where a process that is to be watched writes its own number, as a line, before it does anything
    /// else. It must close this then, or the guard waits for it, too.
    pub fn register(&self) -> RawFd {
        self.pipe.as_raw_fd()
    }
}

impl Drop for Guard {
    /// Before its pipe ends, or it would do its work.
    fn drop(&mut self) {
        let _ = kill(self.number, Signal::SIGKILL);
        bury(self.number);
    }
}

/// Takes note of the end of a child that has ended or is about to.
pub fn bury(child: Pid) {
    while waitpid(child, None) == Err(Errno::EINTR) {}
}
