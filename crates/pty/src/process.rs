//! The program of a terminal and all its processes.
//!
//! The program leads its own session. All processes that it starts stay in that session, unless
//! they leave it on purpose, as daemons do. No process of the session outlives the program: the
//! remaining ones are ended before the leader is reaped, so its process id never refers to another
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

/// Time for the remaining processes of a session to end after the program has ended.
const GRACE: Duration = Duration::from_millis(200);
/// Time for which the remaining processes are killed before the host gives up. A process in the
/// middle of some I/O cannot end before the I/O does.
const KILLING: Duration = Duration::from_secs(1);
/// Interval between two checks for remaining processes.
const CHECK_INTERVAL: Duration = Duration::from_millis(5);

/// The session of one terminal.
pub(crate) struct Session {
    leader: Pid,
    /// True if the leader was reaped. Locked while signals are sent.
    released: Mutex<bool>,
}

impl Session {
    /// Watches the session of a process that was started as its leader. The receiver gets the exit
    /// status.
    pub(crate) fn watch(
        child: Child,
        guard: Guard,
    ) -> io::Result<(Arc<Self>, oneshot::Receiver<u32>)> {
        let id = child.id().and_then(|id| Pid::from_raw(id.cast_signed()));
        let session = Arc::new(Self {
            // The process was not reaped yet, so it has an id.
            leader: id.ok_or_else(|| io::Error::other("the process has no number"))?,
            released: Mutex::new(false),
        });
        let (tell, ended) = oneshot::channel();
        let watched = Arc::clone(&session);
        // A thread waits for the process id, and not for a signal, because the embedding program
        // may handle signals itself.
        let thread = thread::Builder::new().name("opencode-pty".into());
        let started = opencode_log::spawn_thread(thread.stack_size(128 * 1024), move || {
            let code = watched.wait(child, guard);
            // The receiver may have been dropped.
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

    /// Asks all processes of the session to end. It scans all processes of the system, so do not
    /// call it on an asynchronous thread.
    pub(crate) fn hang_up(&self) {
        let released = self.released.lock();
        if !*released {
            send(self.leader, &[Signal::HUP, Signal::TERM, Signal::CONT]);
        }
    }

    /// Kills the program and its process group without blocking. The watching thread then ends the
    /// other processes of the session.
    pub(crate) fn kill(&self) {
        let released = self.released.lock();
        if !*released {
            // A group that has ended needs no signal.
            let _ = kill_process_group(self.leader, Signal::KILL);
        }
    }

    /// Waits for the end of the leader and ends the remaining processes. Returns the exit status in
    /// the form of shells.
    fn wait(&self, mut child: Child, guard: Guard) -> u32 {
        let id = WaitId::Pid(self.leader);
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        while matches!(waitid(id.clone(), options), Err(Errno::INTR)) {}
        end_remaining(self.leader);
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

fn end_remaining(leader: Pid) {
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
        thread::sleep(CHECK_INTERVAL);
    }
}

fn send(leader: Pid, signals: &[Signal]) {
    for group in groups(leader) {
        for signal in signals {
            // A group that has ended needs no signal.
            let _ = kill_process_group(group, *signal);
        }
    }
}

/// Returns the process groups of a session that contain a running process.
#[cfg(any(target_os = "linux", target_os = "android"))]
fn groups(leader: Pid) -> Vec<Pid> {
    use std::collections::HashSet;
    let Ok(processes) = std::fs::read_dir("/proc") else {
        return own_group(leader);
    };
    let names = processes
        .flatten()
        .filter_map(|it| it.file_name().into_string().ok());
    let numbers = names.filter(|it| it.bytes().all(|byte| byte.is_ascii_digit()));
    let stats = numbers.filter_map(|it| std::fs::read(format!("/proc/{it}/stat")).ok());
    let groups: HashSet<Pid> = stats.filter_map(|it| group(&it, leader)).collect();
    groups.into_iter().collect()
}

/// Parses `/proc/<pid>/stat`. Returns the group of the process if it belongs to this session and
/// has not ended.
#[cfg(any(target_os = "linux", target_os = "android"))]
fn group(stat: &[u8], leader: Pid) -> Option<Pid> {
    // The program name can contain any character, including parentheses.
    let name = stat.iter().rposition(|it| *it == b')')?;
    let rest = std::str::from_utf8(&stat[name + 1..]).ok()?;
    let mut fields = rest.split_ascii_whitespace();
    let (state, _parent) = (fields.next()?, fields.next()?);
    // A process that is ending has -1 as group and session.
    let mut number = || {
        let raw: i32 = fields.next()?.parse().ok()?;
        Pid::from_raw(raw.max(0))
    };
    let (group, session) = (number()?, number()?);
    let lives = !matches!(state, "Z" | "X");
    (lives && session == leader).then_some(group)
}

/// On other systems, the processes of a session cannot be listed. Only the group of the program
/// itself is known, and the end of the terminal reaches the others.
#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn groups(leader: Pid) -> Vec<Pid> {
    own_group(leader)
}

/// Returns the leader's own group, if it contains a process.
fn own_group(leader: Pid) -> Vec<Pid> {
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
            ("7 (cat) R 1 -1 -1 0 -1", None),
            ("7 (cat", None),
            ("7 (cat) S 1", None),
            ("", None),
        ] {
            let group = group(stat.as_bytes(), number(5));
            assert_eq!(group, found.map(number), "{stat:?}");
        }
    }
}
