//! What ends the processes of a terminal when the host dies so that it can do nothing itself.
//!
//! The system tells the program of a terminal that nobody holds it any more, and whatever is in its
//! foreground. Neither need care, and the rest is not told at all.

use std::io::{self, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};

/// A process that kills one session when its input ends. Dropped, it is gone.
pub(crate) struct Guard(Child);

impl Guard {
    /// Starts it, before there is a session.
    pub(crate) fn start() -> io::Result<Self> {
        let child = Command::new("/bin/sh")
            .args(["-c", include_str!("guard.sh")])
            .current_dir("/")
            .env_clear()
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            // What is typed at the host's own terminal is not for it.
            .process_group(0)
            .spawn()?;
        Ok(Self(child))
    }

    /// Says which session it is.
    pub(crate) fn watch(&mut self, session: u32) -> io::Result<()> {
        let input = self.0.stdin.as_mut();
        let input = input.ok_or_else(|| io::Error::other("the guard has no input"))?;
        writeln!(input, "{session}")
    }
}

impl Drop for Guard {
    /// Ends it before its input does.
    fn drop(&mut self) {
        // Neither can fail for a process that nobody else waits for.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
