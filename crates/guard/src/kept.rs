//! A program in its own session: no terminal reaches it, and all its processes can be signalled.
//!
//! A running program has three parts.
//!
//! - The *leader* leads the session. It starts as `/bin/sh`, tells the guard its process id and becomes
//!   the wanted program.
//! - The *guard* kills the session if the host dies for any reason. The leader registers itself before
//!   it runs anything, so the guard knows every program from its start.
//! - The *keeper* is a thread of the host that starts both, waits for the leader and reaps them. It does
//!   not use `SIGCHLD`, because that handler belongs to the program around the host. It reaps the leader
//!   only after everything is killed, so no other process can get its number before.

use std::{io, thread};

use nix::unistd::Pid;
use rustix::process::{WaitId, WaitIdOptions, waitid};
use tokio::sync::oneshot;

use crate::processes::Processes;
use crate::watch::{Guard, reap};

/// A program that has started, with its pipes.
pub struct Kept<T> {
    /// Ends all processes of the program. Dropping it kills them at once.
    pub process: Process,
    /// The end of the leader; `None` if the system does not tell it.
    pub exited: oneshot::Receiver<Option<Exit>>,
    /// The ends of its pipes.
    pub pipes: T,
}

/// The end of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// It exited with this code.
    Code(i32),
    /// The signal with this number ended it.
    Signal(i32),
}

impl Exit {
    /// Returns the exit code; `None` if a signal ended the program.
    #[must_use]
    pub fn code(self) -> Option<i32> {
        match self {
            Self::Code(code) => Some(code),
            Self::Signal(_) => None,
        }
    }
}

/// All processes of a running program. Dropping it kills them.
pub struct Process {
    processes: Processes,
    /// Held while the process number is needed.
    release: Option<oneshot::Sender<()>>,
    /// Closes when all processes have ended.
    gone: oneshot::Receiver<()>,
}

impl Process {
    /// Asks all processes to end.
    pub fn terminate(&mut self) {
        self.processes.ask_to_end();
    }

    /// Kills all processes.
    pub fn kill(&mut self) {
        self.processes.kill();
    }

    /// Waits for the end of the leader, kills the remaining processes and returns when they have ended.
    pub async fn end(mut self) {
        self.release = None;
        let _ = (&mut self.gone).await;
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // After the release, the system may give the number to another process.
        if self.release.is_some() {
            self.kill();
        }
    }
}

/// Starts a program with a guard. `spawn` starts the leader, which registers with the guard, and
/// returns its process id and the host's ends of its pipes. The keeper gets the name `thread`.
///
/// # Errors
///
/// Fails if the system cannot provide a thread, a process or a pipe.
pub async fn start<T: Send + 'static>(
    thread: &str,
    spawn: impl FnOnce(&Guard) -> io::Result<(Pid, T)> + Send + 'static,
) -> io::Result<Kept<T>> {
    let (started, starting) = oneshot::channel();
    let builder = thread::Builder::new().name(thread.to_owned());
    opencode_log::spawn_thread(builder, move || keep(spawn, started))?;
    starting.await.map_err(io::Error::other)?
}

/// Runs the keeper. Returns when no process of the program is left.
fn keep<T>(
    spawn: impl FnOnce(&Guard) -> io::Result<(Pid, T)>,
    started: oneshot::Sender<io::Result<Kept<T>>>,
) {
    let spawned = Guard::start().and_then(|guard| Ok((spawn(&guard)?, guard)));
    let ((leader, pipes), guard) = match spawned {
        Ok(spawned) => spawned,
        Err(error) => return drop(started.send(Err(error))),
    };
    let (exit, exited) = oneshot::channel();
    let (release, released) = oneshot::channel();
    let (_gone, gone) = oneshot::channel();
    let mut processes = Processes::of(leader);
    let process = Process {
        processes: processes.clone(),
        release: Some(release),
        gone,
    };
    // If the caller has dropped the call, sending fails and drops the process.
    let _ = started.send(Ok(Kept {
        process,
        exited,
        pipes,
    }));
    let _ = exit.send(wait(leader));
    let _ = released.blocking_recv();
    processes.kill();
    drop(guard);
    reap(leader);
}

/// Waits until a child has ended, without reaping it.
fn wait(child: Pid) -> Option<Exit> {
    let child = WaitId::Pid(rustix::process::Pid::from_raw(child.as_raw())?);
    loop {
        match waitid(child.clone(), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT) {
            Err(rustix::io::Errno::INTR) => {}
            Err(_) => return None,
            Ok(status) => {
                let status = status?;
                let signal = status.terminating_signal().map(Exit::Signal);
                return status.exit_status().map(Exit::Code).or(signal);
            }
        }
    }
}
