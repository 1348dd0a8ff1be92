//! A command runs in its own session: no terminal reaches it, and all its processes can be signalled.
//!
//! A running command has three parts.
//!
//! - The *shell* leads the session. It starts as `/bin/sh`, tells the guard its process id and becomes
//!   the wanted shell.
//! - The *guard* kills the session if the host dies for any reason. The shell registers itself before
//!   it runs anything, so the guard knows every command from its start.
//! - The *keeper* is a thread of the host that starts both, waits for the shell and reaps them. It does
//!   not use `SIGCHLD`, because that handler belongs to the program around the host. It reaps the shell
//!   only after everything is killed, so no other process can get its number before.

use std::{collections::BTreeSet, io, os::fd::OwnedFd, thread};

#[cfg(target_os = "linux")]
use nix::unistd::{getpgid, getsid};
use nix::{
    sys::signal::{Signal, killpg},
    unistd::Pid,
};
use opencode_guard::{Guard, reap};
use rustix::process::{WaitId, WaitIdOptions, waitid};
use tokio::{
    process::{ChildStderr, ChildStdout},
    sync::oneshot,
};

use super::{Order, Running, spawn::Shell};

/// All processes of a running command. Dropping it kills them.
pub(in super::super) struct Process {
    /// The session of the shell, and the sessions of descendants that left it, as far as they were
    /// found. After the shell has ended, new sessions of that kind cannot be found.
    sessions: BTreeSet<Pid>,
    /// Held while the process number is needed.
    release: Option<oneshot::Sender<()>>,
    /// Closes when all processes have ended.
    gone: oneshot::Receiver<()>,
}

impl Process {
    /// Asks all processes to end.
    pub(in super::super) fn terminate(&mut self) {
        ask_to_end(&mut self.sessions);
    }

    /// Kills all processes.
    pub(in super::super) fn kill(&mut self) {
        end(&mut self.sessions);
    }

    /// Kills the remaining processes and returns when they have ended.
    pub(in super::super) async fn end(mut self) {
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

/// Starts a command.
pub(in super::super) async fn start(order: Order) -> io::Result<Running> {
    let (started, starting) = oneshot::channel();
    let builder = thread::Builder::new().name("opencode-bash".to_owned());
    opencode_log::spawn_thread(builder, move || keep(&order, started))?;
    let kept = starting.await.map_err(io::Error::other)??;
    Ok(Running {
        process: kept.process,
        exited: kept.exited,
        out: ChildStdout::from_std(OwnedFd::from(kept.out).into())?,
        err: ChildStderr::from_std(OwnedFd::from(kept.err).into())?,
    })
}

/// The keeper's message about a command that has started.
struct Kept {
    process: Process,
    exited: oneshot::Receiver<Option<i32>>,
    out: io::PipeReader,
    err: io::PipeReader,
}

/// Runs the keeper. Returns when no process of the command is left.
fn keep(order: &Order, started: oneshot::Sender<io::Result<Kept>>) {
    let (guard, shell) = match spawn(order) {
        Ok(spawned) => spawned,
        Err(error) => return drop(started.send(Err(error))),
    };
    let leader = shell.number;
    let (exit, exited) = oneshot::channel();
    let (release, released) = oneshot::channel();
    let (_gone, gone) = oneshot::channel();
    let mut sessions = BTreeSet::from([leader]);
    let process = Process {
        sessions: sessions.clone(),
        release: Some(release),
        gone,
    };
    // If the caller has dropped the call, sending fails and drops the process.
    let _ = started.send(Ok(Kept {
        process,
        exited,
        out: shell.out,
        err: shell.err,
    }));
    let _ = exit.send(wait(leader));
    let _ = released.blocking_recv();
    end(&mut sessions);
    drop(guard);
    reap(leader);
}

/// Starts the guard and then the shell.
fn spawn(order: &Order) -> io::Result<(Guard, Shell)> {
    let guard = Guard::start()?;
    let shell = Shell::spawn(order, &guard)?;
    Ok((guard, shell))
}

/// Waits until a child has ended, without reaping it.
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

/// Asks all processes of some sessions and their descendants to end, and adds the sessions that
/// descendants have created. Does not search again for processes that start during the call.
fn ask_to_end(sessions: &mut BTreeSet<Pid>) {
    for group in groups_of(sessions) {
        let _ = killpg(group, Signal::SIGTERM);
    }
}

/// Kills all processes of some sessions and their descendants. Stops them first: a stopped process
/// starts no further process, so the search ends, and no process loses the parent through which it is
/// found.
fn end(sessions: &mut BTreeSet<Pid>) {
    let mut stopped = BTreeSet::new();
    loop {
        let found = groups_of(sessions);
        let new: Vec<_> = found.difference(&stopped).copied().collect();
        if new.is_empty() {
            break;
        }
        for group in new {
            let _ = killpg(group, Signal::SIGSTOP);
            stopped.insert(group);
        }
    }
    for group in stopped {
        let _ = killpg(group, Signal::SIGKILL);
    }
}

/// Returns the process groups of the sessions and of descendants that left them. Asking for the session
/// of each process of the machine is fast; reading its files in `/proc` is not.
#[cfg(target_os = "linux")]
fn groups_of(sessions: &mut BTreeSet<Pid>) -> BTreeSet<Pid> {
    let session_of = |process: &Pid| getsid(Some(*process)).ok();
    let belongs = |process: &Pid| session_of(process).is_some_and(|its| sessions.contains(&its));
    // Without /proc only the leaders of the sessions are known.
    let known = numbers_in("/proc").chain(sessions.iter().copied());
    let mut tree: BTreeSet<Pid> = known.filter(belongs).collect();
    let mut parents: Vec<Pid> = tree.iter().copied().collect();
    while let Some(parent) = parents.pop() {
        let children = children_of(parent).into_iter();
        parents.extend(children.filter(|child| tree.insert(*child)));
    }
    sessions.extend(tree.iter().filter_map(session_of));
    let groups = tree
        .into_iter()
        .filter_map(|process| getpgid(Some(process)).ok());
    groups.collect()
}

#[cfg(target_os = "linux")]
fn children_of(parent: Pid) -> Vec<Pid> {
    let tasks = format!("/proc/{parent}/task");
    let children = numbers_in(&tasks)
        .filter_map(|task| std::fs::read_to_string(format!("{tasks}/{task}/children")).ok());
    let children: String = children.collect();
    let children = children
        .split_whitespace()
        .filter_map(|child| child.parse().ok());
    children.map(Pid::from_raw).collect()
}

/// Returns the names in a directory that are numbers.
#[cfg(target_os = "linux")]
fn numbers_in(directory: &str) -> impl Iterator<Item = Pid> {
    let names = std::fs::read_dir(directory).into_iter().flatten();
    let number =
        |name: io::Result<std::fs::DirEntry>| name.ok()?.file_name().to_str()?.parse().ok();
    names.filter_map(number).map(Pid::from_raw)
}

/// Returns the process groups of the sessions. Only the first group of each is known on this system.
#[cfg(not(target_os = "linux"))]
fn groups_of(sessions: &mut BTreeSet<Pid>) -> BTreeSet<Pid> {
    sessions.clone()
}
