//! A command is a session of its own: no terminal reaches it, and all of it can be signalled.
//!
//! Three things belong to a running command.
//!
//! - The *shell*, which leads the session. It starts as `/bin/sh`, tells the guard its process id
//!   and becomes the wanted shell.
//! - The *guard*, which kills the session should the host die, whatever kills it. The shell registers
//!   itself before it runs anything, so there is no moment at which a command could be forgotten.
//! - The *keeper*, a thread of the host that starts both, waits for the shell and buries them. It
//!   does not rely on `SIGCHLD`, whose handler belongs to the program around the host, and it leaves
//!   the shell unburied until everything is killed: until then nobody else can have its number.

use std::{collections::BTreeSet, io, os::fd::OwnedFd, thread};

#[cfg(target_os = "linux")]
use nix::unistd::{getpgid, getsid};
use nix::{
    sys::signal::{Signal, killpg},
    unistd::Pid,
};
use opencode_guard::{Guard, bury};
use rustix::process::{WaitId, WaitIdOptions, waitid};
use tokio::{
    process::{ChildStderr, ChildStdout},
    sync::oneshot,
};

use super::{Order, Running, spawn::Shell};

/// Everything that belongs to a running command. Dropped, it kills.
pub(in super::super) struct Process {
    /// The shell's, and those of descendants that left it, as far as they were found. Once the shell
    /// has gone nobody can tell them any more.
    sessions: BTreeSet<Pid>,
    /// Held as long as somebody needs the number.
    release: Option<oneshot::Sender<()>>,
    /// Ends when everything is gone.
    gone: oneshot::Receiver<()>,
}

impl Process {
    /// Asks everything to end.
    pub(in super::super) fn terminate(&mut self) {
        ask_to_end(&mut self.sessions);
    }

    /// Ends everything.
    pub(in super::super) fn kill(&mut self) {
        end(&mut self.sessions);
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
    let mut sessions = BTreeSet::from([leader]);
    let process = Process {
        sessions: sessions.clone(),
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
    end(&mut sessions);
    drop(guard);
    bury(leader);
}

/// Starts the guard and then the shell.
fn spawn(order: &Order) -> io::Result<(Guard, Shell)> {
    let guard = Guard::start()?;
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

/// Asks every process of some sessions and what descends from them to end, and adds the sessions that
/// descendants went to. Those that start more instead are not chased.
fn ask_to_end(sessions: &mut BTreeSet<Pid>) {
    for group in groups_of(sessions) {
        let _ = killpg(group, Signal::SIGTERM);
    }
}

/// Ends every process of some sessions and what descends from them. They are stopped first: what is
/// stopped starts nothing more, so that there is an end to them, and none loses its parent, by which
/// it is found.
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

/// The process groups of the sessions and of the descendants that left them. To ask for the session
/// of each process of the machine is cheap; to read about each in `/proc` is not.
#[cfg(target_os = "linux")]
fn groups_of(sessions: &mut BTreeSet<Pid>) -> BTreeSet<Pid> {
    let session_of = |process: &Pid| getsid(Some(*process)).ok();
    let belongs = |process: &Pid| session_of(process).is_some_and(|its| sessions.contains(&its));
    // Where there is no /proc, those that lead the sessions are all that is known.
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

/// The names in a directory that are numbers.
#[cfg(target_os = "linux")]
fn numbers_in(directory: &str) -> impl Iterator<Item = Pid> {
    let names = std::fs::read_dir(directory).into_iter().flatten();
    let number =
        |name: io::Result<std::fs::DirEntry>| name.ok()?.file_name().to_str()?.parse().ok();
    names.filter_map(number).map(Pid::from_raw)
}

/// The process groups of the sessions, of which only the first can be told here.
#[cfg(not(target_os = "linux"))]
fn groups_of(sessions: &mut BTreeSet<Pid>) -> BTreeSet<Pid> {
    sessions.clone()
}
