//! Much of everything.

use std::{
    fs,
    time::{Duration, Instant},
};

use crate::project::{Project, exited};
use futures::future::join_all;
use opencode_tools::Settlement;

/// Most memory this process has had, in KiB.
#[cfg(target_os = "linux")]
fn peak_memory() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let number = line.and_then(|line| line.split_whitespace().next());
    number.and_then(|number| number.parse().ok()).unwrap()
}

#[tokio::test]
#[cfg(target_os = "linux")]
async fn an_output_of_any_size_is_drained_in_bounded_memory() {
    let project = Project::new();
    let (before, since) = (peak_memory(), Instant::now());
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
    assert!(
        since.elapsed() < Duration::from_secs(20),
        "{:?}",
        since.elapsed()
    );
}

#[tokio::test]
async fn many_calls_run_side_by_side() {
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

/// Each process starts two more, to a depth at which the machine still lives.
#[tokio::test]
async fn a_fork_bomb_is_cleared_away() {
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
