//! Tests for the end of a command, and that none of its processes remains.

use crate::project::{LIMIT, Project, Started, at_limit, exited, signalled, soon, timed_out};
use futures::future::join_all;
use opencode_tools::Settlement;

/// Commands that do not end, with the number of lines that they print. Each differs as described.
const ENDLESS: &[(&str, usize)] = &[
    // A simple command.
    ("echo shell >&3; sleep 1000", 1),
    // Children in the foreground and in the background, and their children.
    (
        "(echo a >&3; sleep 1000) & (echo b >&3; sh -c 'echo c >&3; sleep 1000 & wait') & echo shell >&3; wait",
        4,
    ),
    // All processes ignore the request to end.
    (
        "trap '' TERM INT HUP; (echo a >&3; sleep 1000; sleep 1000) & echo shell >&3; sleep 1000; sleep 1000",
        2,
    ),
    // The shell has ended, and a child holds the pipes.
    (
        "(trap '' TERM; echo a >&3; sleep 1000; sleep 1000) & echo shell >&3",
        2,
    ),
    // A child starts more work when it is asked to end.
    (
        "trap '(sleep 1000; sleep 1000) & sleep 1000' TERM; echo shell >&3; while :; do :; done",
        1,
    ),
    // Each process starts the next one and ends, so none exists for long.
    (
        "trap '' TERM; echo 'sh ./again &' >again; echo shell >&3; sh ./again; sleep 1000",
        1,
    ),
    // New processes start during every search.
    (
        "trap '' TERM; echo shell >&3; while :; do sleep 0.3 & sleep 0.003; done",
        1,
    ),
    // The shell is stopped.
    ("echo shell >&3; kill -STOP $$", 1),
];

/// Separate process groups and sessions, on systems where they can be found.
#[cfg(target_os = "linux")]
const GROUPS: &[(&str, usize)] = &[
    (
        "setsid sh -c \"trap '' TERM; echo a >&3; (setsid sh -c 'echo b >&3; sleep 1000'); sleep 1000\" & echo shell >&3; wait",
        3,
    ),
    (
        "timeout 1000 sh -c 'echo a >&3; sleep 1000' & echo shell >&3; wait",
        2,
    ),
    (
        "timeout 1000 sh -c \"trap '' TERM; echo a >&3; sleep 1000; sleep 1000\" & echo shell >&3; wait",
        2,
    ),
];
#[cfg(not(target_os = "linux"))]
const GROUPS: &[(&str, usize)] = &[];

fn endless() -> impl Iterator<Item = (&'static str, usize)> {
    ENDLESS.iter().chain(GROUPS).copied()
}

#[tokio::test]
async fn an_interruption_leaves_no_process() {
    let each = |(command, lines)| async move {
        let project = Project::new();
        let started = project.start(600_000, command, lines).await;
        started.cancel.cancel();
        let (settled, alive) = started.settled().await;
        assert_eq!(settled, Settlement::Interrupted, "{command}");
        alive.ended().await;
    };
    join_all(endless().map(each)).await;
}

/// New sessions start during every search.
#[tokio::test]
#[cfg(target_os = "linux")]
async fn a_command_that_keeps_starting_sessions_is_ended() {
    let project = Project::new();
    let command = "trap '' TERM; echo shell >&3; while :; do setsid sleep 1000 & sleep 0.003; done";
    let started = project.start(600_000, command, 1).await;
    started.cancel.cancel();
    let (settled, alive) = started.settled().await;
    assert_eq!(settled, Settlement::Interrupted);
    alive.ended().await;
}

#[tokio::test]
async fn a_dropped_call_leaves_no_process() {
    let each = |(command, lines)| async move {
        let project = Project::new();
        let started = project.start(600_000, command, lines).await;
        started.call.abort();
        started.alive.ended().await;
    };
    join_all(endless().map(each)).await;
}

#[tokio::test]
async fn a_time_limit_leaves_no_process() {
    let begin = |(command, lines)| async move {
        let project = Project::new();
        let started = project.start(LIMIT, command, lines).await;
        (project, command, started)
    };
    let begun = join_all(endless().map(begin)).await;
    let (calls, rest): (Vec<_>, Vec<_>) = begun
        .into_iter()
        .map(|(project, command, Started { call, alive, .. })| (call, (project, command, alive)))
        .unzip();
    let settled = at_limit(join_all(calls)).await;
    for (settled, (_project, command, alive)) in settled.into_iter().zip(rest) {
        assert_eq!(settled.unwrap(), timed_out("", LIMIT), "{command}");
        alive.ended().await;
    }
}

#[tokio::test]
async fn an_ended_command_leaves_no_background_process() {
    for command in [
        "mkfifo up; (echo a >&3; echo >up; sleep 1000) >/dev/null 2>&1 & echo shell >&3; read x <up; echo done",
        "trap '' TERM HUP; mkfifo up; nohup sh -c 'echo a >&3; echo >up; sleep 1000; sleep 1000' >/dev/null 2>&1 & echo shell >&3; read x <up; echo done",
    ] {
        let project = Project::new();
        let started = project.start(600_000, command, 2).await;
        let (settled, alive) = started.settled().await;
        assert_eq!(settled, exited("done\n", 0), "{command}");
        alive.ended().await;
    }
}

#[tokio::test]
async fn a_child_that_keeps_the_pipes_open_is_awaited() {
    let project = Project::new();
    let command = "(sleep 0.2; echo late) & echo early";
    assert_eq!(project.run(command).await, exited("early\nlate\n", 0));
    let command = "(sleep 0.2; echo late) 2>/dev/null & exit 3";
    assert_eq!(project.run(command).await, exited("late\n", 3));
}

#[tokio::test]
async fn output_before_the_time_limit_is_returned() {
    for (command, output) in [
        ("echo a; echo shell >&3; sleep 1000", "a\n"),
        ("printf a; echo shell >&3; sleep 1000", "a\n"),
        (
            "trap 'echo bye; exit' TERM; echo a; echo shell >&3; while :; do :; done",
            "a\nbye\n",
        ),
    ] {
        let project = Project::new();
        let started = project.start(LIMIT, command, 1).await;
        let settled = at_limit(started.call).await.unwrap();
        assert_eq!(settled, timed_out(output, LIMIT), "{command}");
    }
}

/// A process that left the session and has lost its parent is not found, and does not block the call.
#[tokio::test]
async fn a_daemon_that_keeps_the_pipes_open_does_not_block_the_call() {
    let project = Project::new();
    let command = "echo shell >&3; setsid sh -c 'echo $$ >&3; sleep 1000' &";
    let started = project.start(LIMIT, command, 2).await;
    let daemon = started.alive.lines[0].clone();
    let settled = at_limit(started.call).await.unwrap();
    assert_eq!(settled, timed_out("", LIMIT));
    assert_eq!(
        project.run(&format!("kill -KILL -{daemon}")).await,
        exited("(no output)", 0)
    );
    started.alive.ended().await;
}

#[tokio::test]
async fn an_interruption_before_the_command_runs_nothing() {
    let project = Project::new();
    let mut context = project.context();
    let cancel = context.cancel.clone();
    context.permissions = crate::common::Recorder::new(move |_| {
        cancel.cancel();
        Ok(())
    });
    let input = serde_json::json!({"command": "echo >made"});
    assert_eq!(
        project.settle(input, context).await,
        Settlement::Interrupted
    );
    assert!(!project.location().join("made").exists());
}

#[tokio::test]
async fn an_interruption_at_any_time_leaves_no_process() {
    let project = Project::new();
    let pipe = project
        .start(600_000, "echo shell >&3; sleep 1000", 1)
        .await;
    for round in 0..40_u64 {
        let context = project.context();
        let cancel = context.cancel.clone();
        let input = serde_json::json!({"command": "exec 3>alive; sleep 1000"});
        let running = project.settle(input, context);
        let interrupting = tokio::task::spawn_blocking(move || {
            // The time varies from before the start of the call to after it.
            (0..round * 20_000).for_each(|_| std::hint::spin_loop());
            cancel.cancel();
        });
        assert_eq!(running.await, Settlement::Interrupted);
        soon(interrupting).await.unwrap();
    }
    pipe.cancel.cancel();
    let (settled, alive) = pipe.settled().await;
    assert_eq!(settled, Settlement::Interrupted);
    alive.ended().await;
}

#[tokio::test]
async fn siblings_of_a_killed_command_continue() {
    let project = Project::new();
    let started = project
        .start(600_000, "echo shell >&3; sleep 1000", 1)
        .await;
    let sibling = project.run("sleep 0.3; echo fine");
    let other = async {
        started.cancel.cancel();
        started.settled().await.0
    };
    let (sibling, other) = tokio::join!(sibling, other);
    assert_eq!(
        (sibling, other),
        (exited("fine\n", 0), Settlement::Interrupted)
    );
    // A signal to a whole group reaches only the command's own group.
    let ended = signalled("(no output)", 15, "SIGTERM");
    assert_eq!(project.run("kill -TERM 0").await, ended);
}
