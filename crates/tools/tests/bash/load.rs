//! Load tests.

use std::fs;

use crate::project::{Project, exited, soon};
use futures::future::join_all;
use opencode_tools::Settlement;

/// Returns the peak memory of this process in KiB.
#[cfg(target_os = "linux")]
fn peak_memory() -> u64 {
    let status = fs::read_to_string("/proc/self/status").expect("it is there");
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let number = line.and_then(|line| line.split_whitespace().next());
    let number = number.and_then(|number| number.parse().ok());
    number.expect("it is a number")
}

#[tokio::test]
#[cfg(target_os = "linux")]
async fn an_output_of_any_size_is_read_in_bounded_memory() {
    let project = Project::new();
    let before = peak_memory();
    let settled = project
        .run("yes | head -c 200000000; echo done >finished")
        .await;
    let Settlement::Success { structured, .. } = settled else {
        panic!("{settled:?}");
    };
    let structured = serde_json::Value::Object(structured);
    assert_eq!(
        structured,
        serde_json::json!({"exit": 0, "truncated": true})
    );
    assert_eq!(
        fs::read_to_string(project.location().join("finished")).unwrap(),
        "done\n"
    );
    assert!(
        peak_memory() - before < 64 * 1024,
        "{} KiB",
        peak_memory() - before
    );
}

/// Maximum number of commands that a host runs at the same time.
const MAX_RUNNING: usize = 64;

#[tokio::test]
async fn many_calls_run_in_parallel() {
    let project = Project::new();
    let commands: Vec<_> = (0..200)
        .map(|number| format!("echo {number}; exit {}", number % 100))
        .collect();
    let settled = join_all(commands.iter().map(|command| project.run(command))).await;
    let expected: Vec<_> = (0..200)
        .map(|number| exited(&format!("{number}\n"), number % 100))
        .collect();
    assert_eq!(settled, expected);
}

/// The limit applies to the processes of a host, not to its calls.
#[tokio::test]
async fn calls_beyond_the_limit_wait() {
    let project = Project::new();
    let endless = "exec 3>alive; echo x >&3; sleep 1000";
    let first = project.start(600_000, "echo x >&3; sleep 1000", 1).await;
    let others: Vec<_> = (0..MAX_RUNNING - 1)
        .map(|_| project.call(endless))
        .collect();
    let alive = first.alive.read_lines(MAX_RUNNING - 1).await;
    let (waiting, given_up) = (project.call("touch made"), project.call("touch given-up"));
    while waiting.asked() + given_up.asked() < 2 {
        tokio::task::yield_now().await;
    }
    assert_eq!(given_up.interrupted().await, Settlement::Interrupted);
    assert!(!project.location().join("made").exists());
    first.cancel.cancel();
    assert_eq!(
        soon(waiting.settled).await.unwrap(),
        exited("(no output)", 0)
    );
    for other in others {
        assert_eq!(other.interrupted().await, Settlement::Interrupted);
    }
    alive.ended().await;
    let made = |name| project.location().join(name).exists();
    assert_eq!((made("made"), made("given-up")), (true, false));
}

/// Each process starts two more, up to a depth that the machine can handle.
#[tokio::test]
async fn a_fork_bomb_is_ended() {
    let project = Project::new();
    let command = "trap '' TERM
        bomb() { echo x >&3; if [ $1 -gt 0 ]; then bomb $(($1 - 1)) & bomb $(($1 - 1)) & fi; sleep 1000; sleep 1000; }
        bomb 7";
    let started = project.start(600_000, command, 255).await;
    started.cancel.cancel();
    let (settled, alive) = started.settled().await;
    assert_eq!(settled, Settlement::Interrupted);
    alive.ended().await;
}
