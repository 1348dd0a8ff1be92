//! After the death of a host, no process of its sessions remains.

use std::io::{PipeReader, Read, Write, pipe};
use std::os::fd::AsRawFd;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use nix::unistd::Pid;

use crate::{Guard, leader, reap};

/// Maximum wait for an expected event, much longer than necessary.
const DEADLINE: Duration = Duration::from_secs(20);

/// A watched session, and the pipe that all its processes hold open as `3`.
struct Watched {
    guard: Guard,
    leader: Pid,
    alive: PipeReader,
}

impl Watched {
    /// Returns when the script has written that many bytes to its pipe.
    fn run(script: &str, bytes: usize) -> Self {
        let mut guard = Guard::start().unwrap();
        let (mut alive, writer) = pipe().unwrap();
        let path = std::env::var("PATH").unwrap();
        let files = [(writer.as_raw_fd(), 3)];
        let leader = leader(&[script.as_bytes()], &[format!("PATH={path}")], &files).unwrap();
        guard.watch(leader.as_raw().unsigned_abs()).unwrap();
        drop(writer);
        let alive = within(move || {
            alive.read_exact(&mut vec![0; bytes]).unwrap();
            alive
        });
        Self {
            guard,
            leader,
            alive,
        }
    }

    /// Simulates the death of the host for the guard.
    fn die(&mut self) {
        self.guard.pipe = pipe().unwrap().1;
    }

    /// Returns when no process remains.
    fn ended(self) {
        let Self {
            guard,
            leader,
            mut alive,
        } = self;
        within(move || alive.read_to_end(&mut Vec::new()).unwrap());
        reap(leader);
        drop(guard);
    }
}

fn within<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    let (done, result) = mpsc::channel();
    thread::spawn(move || done.send(work()));
    result.recv_timeout(DEADLINE).expect("it happens in time")
}

#[test]
fn a_session_ends_when_its_host_dies() {
    for (script, bytes) in [
        ("printf x >&3; sleep 1000", 1),
        (
            "trap '' HUP INT TERM; (printf x >&3; sleep 1000) & printf x >&3; wait",
            2,
        ),
        ("printf x >&3; kill -STOP $$", 1),
        // The leader has ended.
        ("(printf x >&3; sleep 1000) & exit", 1),
    ] {
        let mut watched = Watched::run(script, bytes);
        watched.die();
        watched.ended();
    }
}

/// New processes appear while the guard looks for processes.
#[test]
fn the_guard_ends_a_session_that_keeps_starting_processes() {
    for script in [
        "printf x >&3; while :; do sleep 0.3 & sleep 0.003; done",
        #[cfg(target_os = "linux")]
        "printf x >&3; trap '' TERM; while :; do setsid sleep 5 & sleep 0.003; done",
    ] {
        let mut watched = Watched::run(script, 1);
        watched.die();
        watched.ended();
    }
}

#[test]
#[cfg(target_os = "linux")]
fn new_groups_and_sessions_are_found_for_any_process_name() {
    use std::os::unix::fs::PermissionsExt;

    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("a) S 1\nb");
    std::fs::write(&script, "#!/bin/sh\nprintf x >&3\nsleep 1000; :\n").unwrap();
    std::fs::set_permissions(&script, PermissionsExt::from_mode(0o755)).unwrap();
    let script = script.to_str().unwrap();
    for launch in [
        "timeout 1000 \"$script\" & wait",
        "setsid \"$script\" & wait",
        // The parent of the second process has ended.
        "setsid sh -c '(setsid sleep 0; \"$script\") & exec sleep 1000' & wait",
    ] {
        let mut watched = Watched::run(&format!("script='{script}'; export script; {launch}"), 1);
        watched.die();
        watched.ended();
    }
}

#[test]
fn a_dropped_guard_ends_no_process() {
    let mut guard = Guard::start().unwrap();
    let ((mut alive, alive_end), (input, mut input_end)) = (pipe().unwrap(), pipe().unwrap());
    let files = [(input.as_raw_fd(), 0), (alive_end.as_raw_fd(), 3)];
    let leader = leader(&[b"read -r _; printf x >&3"], &[], &files).unwrap();
    guard.watch(leader.as_raw().unsigned_abs()).unwrap();
    drop((guard, alive_end, input));
    writeln!(input_end).unwrap();
    let said = within(move || {
        let mut said = String::new();
        alive.read_to_string(&mut said).unwrap();
        said
    });
    assert_eq!(said, "x");
    reap(leader);
}

#[test]
fn a_guard_without_processes_ends() {
    let mut guard = Guard::start().unwrap();
    guard.pipe = pipe().unwrap().1;
    let number = guard.number;
    within(move || reap(number));
    // Its process id is free now and must not be used again.
    std::mem::forget(guard);
}
