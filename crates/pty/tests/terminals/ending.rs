//! After the end of a terminal, none of its processes remains.

use std::time::{Duration, Instant};

use opencode_pty::{Cursor, TerminalError};
use opencode_schema::pty::Pty;

use crate::support::{Client, Host, lives, within};

/// Processes that resist their end: in the background, in their own group, ignoring signals, and
/// all of these together.
const CROWD: &str = "
set -m
sleep 600 & echo pid $!
(trap '' HUP TERM INT; while :; do sleep 1; done) & echo pid $!
nohup sleep 600 >/dev/null 2>&1 & echo pid $!
set +m
sh -c 'trap \"\" HUP TERM; sh -c \"sleep 600 & echo pid \\$!; wait\"' &
echo pid $!
";

/// Returns a terminal, its client, and the ids of the processes that its program started.
async fn start_many_processes(host: &Host, then: &str) -> (Pty, Client, Vec<u32>) {
    let script = format!("{CROWD} {then}");
    let created = host
        .create(host.program("/bin/bash", &["-c", &script]))
        .await;
    let mut client = host.attach(&created.id, Cursor::At(0));
    let mut text = String::new();
    while text.matches("\r\n").count() < 5 {
        text.push_str(&client.until("\r\n").await);
    }
    let pids = text.lines().filter_map(|line| line.strip_prefix("pid "));
    let mut pids: Vec<u32> = pids.map(|it| it.parse().unwrap()).collect();
    assert_eq!(pids.len(), 5, "{text}");
    pids.push(created.pid);
    assert!(pids.iter().all(|pid| lives(*pid)), "{pids:?}");
    (created, client, pids)
}

fn left(pids: &[u32]) -> Vec<u32> {
    pids.iter().copied().filter(|pid| lives(*pid)).collect()
}

#[tokio::test]
async fn removing_a_terminal_ends_all_its_processes() {
    let host = Host::new();
    for then in ["sleep 600", "trap '' HUP TERM; while :; do sleep 1; done"] {
        let (created, mut client, pids) = start_many_processes(&host, then).await;
        let begun = Instant::now();
        within("the end", host.terminals.remove(&host.place(), &created.id))
            .await
            .unwrap();
        assert_eq!(left(&pids), [] as [u32; 0], "{then}");
        assert!(
            begun.elapsed() < Duration::from_secs(3),
            "{:?}",
            begun.elapsed()
        );
        client.rest().await;
    }
}

#[tokio::test]
async fn no_process_outlives_its_program() {
    let host = Host::new();
    let (created, mut client, pids) = start_many_processes(&host, "read x; exit 7").await;
    client.send("\n").await;
    client.rest().await;
    assert_eq!(host.exited(&created.id).await.exit_code, Some(7));
    assert_eq!(left(&pids), [] as [u32; 0]);
}

#[tokio::test]
async fn closing_ends_all_terminals_permanently() {
    let host = Host::new();
    let (one, mut client, mut pids) = start_many_processes(&host, "sleep 600").await;
    let (two, _client, more) = start_many_processes(&host, "sleep 600").await;
    pids.extend(more);
    let done = host.create(host.script("true")).await;
    host.exited(&done.id).await;
    within("the end", host.terminals.close()).await;
    assert_eq!(left(&pids), [] as [u32; 0]);
    client.rest().await;
    assert_eq!(host.terminals.list(&host.place()), []);
    let refused = host.terminals.create(host.script("true")).await;
    assert_eq!(refused, Err(TerminalError::Closed));
    let deleted = [&one.id, &two.id, &done.id].map(|id| format!("deleted {id}"));
    assert_eq!(host.notices()[4..], deleted);
    within("a second time", host.terminals.close()).await;
}

#[tokio::test]
async fn dropping_without_closing_leaves_no_process() {
    let host = Host::new();
    let (_created, _client, pids) = start_many_processes(&host, "sleep 600").await;
    host.terminals.abandon();
    within("their end", async {
        while !left(&pids).is_empty() {
            tokio::task::yield_now().await;
        }
    })
    .await;
}

#[tokio::test]
async fn a_program_that_closes_its_terminal_continues() {
    let host = Host::new();
    let script = "read x; exec <&- >&- 2>&-; sleep 0.2; exit 4";
    let (_, code) = host.run(host.script(script)).await;
    assert_eq!(code, 4);
}

/// Daemons leave the session on purpose. A daemon that holds the terminal does not keep it alive.
#[tokio::test]
async fn a_daemon_that_keeps_the_terminal_open_does_not_keep_it_running() {
    let host = Host::new();
    let script = "setsid sh -c 'echo pid $$; exec sleep 600' & wait_for=1; read x; exit 5";
    let created = host.create(host.script(script)).await;
    let mut client = host.attach(&created.id, Cursor::At(0));
    let text = client.until("\r\n").await;
    let pid: u32 = text.trim().strip_prefix("pid ").unwrap().parse().unwrap();
    client.send("\n").await;
    assert_eq!(host.exited(&created.id).await.exit_code, Some(5));
    assert!(lives(pid));
    let number = rustix::process::Pid::from_raw(pid.cast_signed()).unwrap();
    rustix::process::kill_process(number, rustix::process::Signal::KILL).unwrap();
}
