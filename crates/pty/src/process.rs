//! The program of a terminal and every process that belongs to it.
//!
//! The program leads a session of its own, and all that it starts stays in that session unless it
//! leaves it on purpose, as daemons do. Nothing of the session outlives the program: the rest is
//! ended before the program's number is given back to the system, so a number never means another
//! process here.

use std::io;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use opencode_guard::Guard;
use parking_lot::Mutex;
use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use tokio::process::Child;
use tokio::sync::oneshot;

/// What the rest of a session may take to end by itself when its program has.
const GRACE: Duration = Duration::from_millis(200);
/// How long the rest of a session is killed before one gives up: a process in the middle of some
/// I/O cannot end before that does.
const KILLING: Duration = Duration::from_secs(1);
/// Time between two looks at what is left.
const LOOK_AGAIN: Duration = Duration::from_millis(5);

/// The session of one terminal.
pub(crate) struct Session {
    leader: Pid,
    /// Whether the leader's number was given back. Held while signals are sent.
    released: Mutex<bool>,
}

impl Session {
    /// The session of a process that was started as its leader, and how it ends.
    pub(crate) fn watch(
        child: Child,
        guard: Guard,
    ) -> io::Result<(Arc<Self>, oneshot::Receiver<u32>)> {
        let id = child.id().and_then(|id| Pid::from_raw(id.cast_signed()));
        let session = Arc::new(Self {
            // Nobody has waited for it.
            leader: id.ok_or_else(|| io::Error::other("the process has no number"))?,
            released: Mutex::new(false),
        });
        let (tell, ended) = oneshot::channel();
        let watched = Arc::clone(&session);
        // The number is waited for and not a signal, because the embedding program may have its own
        // idea of what becomes of those.
        let thread = thread::Builder::new().name("opencode-pty".into());
        let started = opencode_log::spawn_thread(thread.stack_size(128 * 1024), move || {
            let code = watched.wait(child, guard);
            // Nobody need wait for it any more.
            let _ = tell.send(code);
        });
        if let Err(error) = started {
            session.kill();
            return Err(error);
        }
        Ok((session, ended))
    }

    pub(crate) fn id(&self) -> u32 {
        self.leader.as_raw_nonzero().get().unsigned_abs()
    }

    /// Asks everything in the session to end. It looks through all processes, so it is nothing for
    /// an asynchronous thread.
    pub(crate) fn hang_up(&self) {
        let released = self.released.lock();
        if !*released {
            send(self.leader, &[Signal::HUP, Signal::TERM, Signal::CONT]);
        }
    }

    /// Kills the program and its process group. Whoever watches the session ends the rest then, so
    /// nothing is looked for here and it takes no time.
    pub(crate) fn kill(&self) {
        let released = self.released.lock();
        if !*released {
            // What is gone by now needs no signal.
            let _ = kill_process_group(self.leader, Signal::KILL);
        }
    }

    /// Waits for the end of the leader and ends the rest. Gives the exit status as shells tell it.
    fn wait(&self, mut child: Child, guard: Guard) -> u32 {
        let id = WaitId::Pid(self.leader);
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        while matches!(waitid(id.clone(), options), Err(Errno::INTR)) {}
        end_rest(self.leader);
        drop(guard);
        let mut released = self.released.lock();
        let status = child.try_wait();
        *released = true;
        drop(released);
        status.ok().flatten().map_or(1, code)
    }
}

fn code(status: std::process::ExitStatus) -> u32 {
    use std::os::unix::process::ExitStatusExt;
    let code = status.code().or_else(|| status.signal().map(|it| 128 + it));
    code.map_or(1, i32::unsigned_abs)
}

fn end_rest(leader: Pid) {
    let begun = Instant::now();
    send(leader, &[Signal::HUP, Signal::CONT]);
    while !groups(leader).is_empty() {
        let waited = begun.elapsed();
        if waited > GRACE + KILLING {
            tracing::warn!(%leader, "processes of a terminal cannot be ended");
            return;
        }
        if waited > GRACE {
            send(leader, &[Signal::KILL]);
        }
        thread::sleep(LOOK_AGAIN);
    }
}

fn send(leader: Pid, signals: &[Signal]) {
    for group in groups(leader) {
        for signal in signals {
            // A group that is gone by now needs no signal.
            let _ = kill_process_group(group, *signal);
        }
    }
}

/// The process groups of a session that have a process which runs.
#[cfg(any(target_os = "linux", target_os = "android"))]
fn groups(leader: Pid) -> Vec<Pid> {
    use std::collections::HashSet;
    let Ok(processes) = std::fs::read_dir("/proc") else {
        return of_leader(leader);
    };
    let names = processes
        .flatten()
        .filter_map(|it| it.file_name().into_string().ok());
    let numbers = names.filter(|it| it.bytes().all(|byte| byte.is_ascii_digit()));
    let stats = numbers.filter_map(|it| std::fs::read(format!("/proc/{it}/stat")).ok());
    let groups: HashSet<Pid> = stats.filter_map(|it| group(&it, leader)).collect();
    groups.into_iter().collect()
}

/// The group of a process of this session, as the system describes the process, unless it has ended.
#[cfg(any(target_os = "linux", target_os = "android"))]
fn group(stat: &[u8], leader: Pid) -> Option<Pid> {
    // The name of a program may hold anything, parentheses included.
    let name = stat.iter().rposition(|it| *it == b')')?;
    let rest = std::str::from_utf8(&stat[name + 1..]).ok()?;
    let mut fields = rest.split_ascii_whitespace();
    let (state, _parent) = (fields.next()?, fields.next()?);
    let (group, session) = (fields.next()?.parse().ok()?, fields.next()?.parse().ok()?);
    let lives = !matches!(state, "Z" | "X");
    let belongs = Pid::from_raw(session) == Some(leader);
    (lives && belongs).then(|| Pid::from_raw(group)).flatten()
}

/// Elsewhere a session does not tell its processes. That of the program itself is known, and the
/// terminal's end reaches the others.
#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn groups(leader: Pid) -> Vec<Pid> {
    of_leader(leader)
}

/// The leader's own group, if anything in it runs.
fn of_leader(leader: Pid) -> Vec<Pid> {
    let runs = rustix::process::test_kill_process_group(leader).is_ok();
    if runs { vec![leader] } else { Vec::new() }
}

#[cfg(all(test, any(target_os = "linux", target_os = "android")))]
mod tests {
    use super::*;

    #[test]
    fn processes_are_found_by_their_session() {
        let number = |raw: i32| Pid::from_raw(raw).unwrap();
        for (stat, found) in [
            ("7 (cat) S 1 9 5 34816 9", Some(9)),
            ("7 (a ) b) R 1 9 5 34816 9", Some(9)),
            ("7 (cat) Z 1 9 5 34816 9", None),
            ("7 (cat) S 1 9 6 34816 9", None),
            ("7 (cat", None),
            ("7 (cat) S 1", None),
            ("", None),
        ] {
            let group = group(stat.as_bytes(), number(5));
            assert_eq!(group, found.map(number), "{stat:?}");
        }
    }
}
