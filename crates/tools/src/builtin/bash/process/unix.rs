//! A command is a session of its own: no terminal reaches it, and all of it can be signalled.
//!
//! Three things belong to a running command.
//!
//! - The *shell*, which leads the session. It starts as `/bin/sh`, tells the guard its process id
//!   and becomes the wanted shell.
//! - The *guard*, a `/bin/sh` that reads a pipe whose other end only the host holds. Should the host
//!   die, whatever kills it, the pipe ends and the guard kills the session. The shell registers
//!   itself before it runs anything, so there is no moment at which a command could be forgotten.
//! - The *keeper*, a thread of the host that starts both, waits for the shell and buries them. It
//!   does not rely on `SIGCHLD`, whose handler belongs to the program around the host, and it leaves
//!   the shell unburied until everything is killed: until then nobody else can have its number.

use std::{collections::BTreeSet, io, os::fd::OwnedFd, thread};

#[cfg(target_os = "linux")]
use nix::unistd::{getpgid, getsid};
use nix::{
    errno::Errno,
    sys::{
        signal::{Signal, killpg},
        wait::waitpid,
    },
    unistd::Pid,
};
use rustix::process::{WaitId, WaitIdOptions, waitid};
use tokio::{
    process::{ChildStderr, ChildStdout},
    sync::oneshot,
};

use super::{
    Order, Running,
    spawn::{Guard, Shell},
};

/// Everything that belongs to a running command. Dropped, it kills.
pub(in super::super) struct Process {
    /// The shell, whose number is that of the session.
    leader: Pid,
    /// Held as long as somebody needs the number.
    release: Option<oneshot::Sender<()>>,
    /// Ends when everything is gone.
    gone: oneshot::Receiver<()>,
}

impl Process {
    /// Asks everything to end.
    pub(in super::super) fn terminate(&self) {
        signal(self.leader, Signal::SIGTERM);
    }

    /// Ends everything.
    pub(in super::super) fn kill(&self) {
        signal(self.leader, Signal::SIGKILL);
    }

    /// Ends what is left, and returns when it is gone.
    pub(in super::super) async fn end(mut self) {
        self.release = None;
        let _ = (&mut self.gone).await;
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // Once it is released the number may be somebody else's.
        if self.release.is_some() {
            self.kill();
        }
    }
}

/// Starts a command.
pub(in super::super) async fn start(order: Order) -> io::Result<Running> {
    let (started, starting) = oneshot::channel();
    thread::Builder::new()
        .name("opencode-command".to_owned())
        .spawn(move || keep(&order, started))?;
    let kept = starting.await.map_err(io::Error::other)??;
    Ok(Running {
        process: kept.process,
        exited: kept.exited,
        out: ChildStdout::from_std(OwnedFd::from(kept.out).into())?,
        err: ChildStderr::from_std(OwnedFd::from(kept.err).into())?,
    })
}

/// What the keeper tells of a command that has started.
struct Kept {
    process: Process,
    exited: oneshot::Receiver<Option<i32>>,
    out: io::PipeReader,
    err: io::PipeReader,
}

/// The keeper: returns when nothing of the command is left.
fn keep(order: &Order, started: oneshot::Sender<io::Result<Kept>>) {
    let (guard, shell) = match spawn(order) {
        Ok(spawned) => spawned,
        Err(error) => return drop(started.send(Err(error))),
    };
    let leader = shell.number;
    let (exit, exited) = oneshot::channel();
    let (release, released) = oneshot::channel();
    let (_gone, gone) = oneshot::channel();
    let process = Process {
        leader,
        release: Some(release),
        gone,
    };
    // Nobody listens when the call was given up; the process is dropped then.
    let _ = started.send(Ok(Kept {
        process,
        exited,
        out: shell.out,
        err: shell.err,
    }));
    let _ = exit.send(wait(leader));
    let _ = released.blocking_recv();
    signal(leader, Signal::SIGKILL);
    drop(guard);
    bury(leader);
}

/// Starts the guard and then the shell.
fn spawn(order: &Order) -> io::Result<(Guard, Shell)> {
    let guard = Guard::spawn()?;
    let shell = Shell::spawn(order, &guard)?;
    Ok((guard, shell))
}

/// Waits until a child has ended, and leaves it unburied.
fn wait(child: Pid) -> Option<i32> {
    let child = WaitId::Pid(rustix::process::Pid::from_raw(child.as_raw())?);
    loop {
        match waitid(child.clone(), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT) {
            Err(rustix::io::Errno::INTR) => {}
            Err(_) => return None,
            Ok(status) => return status?.exit_status(),
        }
    }
}

/// Takes note of the end of a child that has ended or is about to.
pub(super) fn bury(child: Pid) {
    while waitpid(child, None) == Err(Errno::EINTR) {}
}

/// Signals every process of a session.
fn signal(leader: Pid, signal: Signal) {
    let _ = killpg(leader, signal);
    let mut groups = BTreeSet::from([leader]);
    // A group that was killed starts nothing more; others may have come from it before.
    loop {
        let mut new = groups_of(leader);
        new.retain(|group| groups.insert(*group));
        if new.is_empty() {
            break;
        }
        for group in new {
            let _ = killpg(group, signal);
        }
    }
}

/// The process groups of a session. One question for each process of the machine, which is cheap;
/// reading about each in `/proc` is not.
#[cfg(target_os = "linux")]
fn groups_of(session: Pid) -> Vec<Pid> {
    let processes = std::fs::read_dir("/proc").into_iter().flatten();
    processes
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .map(Pid::from_raw)
        .filter(|process| getsid(Some(*process)) == Ok(session))
        .filter_map(|process| getpgid(Some(process)).ok())
        .collect()
}

/// The process groups of a session, of which only the first can be told here.
#[cfg(not(target_os = "linux"))]
fn groups_of(session: Pid) -> Vec<Pid> {
    vec![session]
}
