//! The processes of a session, and their descendants.

use std::collections::BTreeSet;

use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
#[cfg(target_os = "linux")]
use nix::unistd::{getpgid, getsid};

/// The processes of a session and their descendants.
#[derive(Clone)]
pub(crate) struct Processes {
    /// The session, and the sessions of descendants that left it, as far as they were found. After
    /// the leader has ended, new sessions of that kind cannot be found.
    sessions: BTreeSet<Pid>,
}

impl Processes {
    /// Returns the processes of the session with this leader.
    pub(crate) fn of(leader: Pid) -> Self {
        Self {
            sessions: BTreeSet::from([leader]),
        }
    }

    /// Asks all processes to end. Does not search again for processes that start during the call.
    pub(crate) fn ask_to_end(&mut self) {
        for group in groups_of(&mut self.sessions) {
            let _ = killpg(group, Signal::SIGTERM);
        }
    }

    /// Kills all processes. Stops them first: a stopped process starts no further process, so the
    /// search ends, and no process loses the parent through which it is found.
    pub(crate) fn kill(&mut self) {
        let mut stopped = BTreeSet::new();
        loop {
            let found = groups_of(&mut self.sessions);
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
        |name: std::io::Result<std::fs::DirEntry>| name.ok()?.file_name().to_str()?.parse().ok();
    names.filter_map(number).map(Pid::from_raw)
}

/// Returns the process groups of the sessions. Only the first group of each is known on this system.
#[cfg(not(target_os = "linux"))]
fn groups_of(sessions: &mut BTreeSet<Pid>) -> BTreeSet<Pid> {
    sessions.clone()
}
