//! No process of a server is left: after a close, after a drop, and after the death of the host.

use std::io::Read as _;
use std::os::fd::AsRawFd as _;
use std::process::{Command, Stdio};
use std::sync::Arc;

use opencode_mcp::{NoTokens, State};
use serde_json::json;

use crate::bench::{Bench, command_of, within};
use crate::script::TEST;

/// The variable that makes this program a host.
const HOST: &str = "OPENCODE_TEST_HOST";

/// A shell command that starts descendants, which hold the FIFO `$ALIVE` open, and then the server.
const DESCENDANTS: &str = r#"
trap '' HUP INT TERM
exec 9>"$ALIVE"
(trap '' TERM; sleep 1000) 2>/dev/null >/dev/null </dev/null &
(sleep 1000 & sleep 1000) 2>/dev/null >/dev/null </dev/null &
echo started >&9
exec "$@"
"#;

/// Returns a server whose main process and descendants hold a FIFO open.
fn server(
    bench: &Bench,
    fifo: &std::path::Path,
    script: &serde_json::Value,
) -> opencode_mcp::ServerConfig {
    let program = std::env::current_exe().unwrap();
    let command = [
        "sh",
        "-c",
        DESCENDANTS,
        "sh",
        program.to_str().unwrap(),
        "--exact",
        TEST,
        "--nocapture",
    ];
    let mut config = command_of(&command, script);
    if let opencode_mcp::Connection::Local(local) = &mut config.connection {
        local
            .environment
            .insert("ALIVE".to_owned(), fifo.to_str().unwrap().to_owned());
        local.directory = bench.folder.path().to_owned();
    }
    config
}

/// Creates a FIFO and returns the end of its reading: nothing holds it open any more.
fn fifo(path: &std::path::Path) -> tokio::task::JoinHandle<String> {
    let made = Command::new("mkfifo").arg(path).status().unwrap();
    assert!(made.success());
    let path = path.to_owned();
    tokio::task::spawn_blocking(move || {
        let mut text = String::new();
        std::fs::File::open(path)
            .unwrap()
            .read_to_string(&mut text)
            .unwrap();
        text
    })
}

#[tokio::test]
async fn no_process_is_left_after_a_close() {
    for script in [
        json!({}),
        // Does not end with its input.
        json!({"stays": true}),
        // Never answers.
        json!({"initialize": [], "stays": true}),
    ] {
        let bench = Bench::new(Arc::new(NoTokens));
        let alive = fifo(&bench.path("alive"));
        bench.configure([("s", server(&bench, &bench.path("alive"), &script))]);
        bench.servers.start();
        let is_silent = script.get("initialize").is_some();
        if !is_silent {
            bench.until_state("s", &State::Connected).await;
        }
        within(bench.servers.close()).await;
        if is_silent && !alive.is_finished() {
            // The close can come before the server has opened the FIFO.
            drop(
                std::fs::File::options()
                    .write(true)
                    .read(true)
                    .open(bench.path("alive")),
            );
        }
        within(alive).await.unwrap();
    }
}

#[tokio::test]
async fn no_process_is_left_after_a_drop() {
    let bench = Bench::new(Arc::new(NoTokens));
    let alive = fifo(&bench.path("alive"));
    bench.configure([(
        "s",
        server(&bench, &bench.path("alive"), &json!({"stays": true})),
    )]);
    bench.start().await;
    assert_eq!(bench.state("s"), State::Connected);
    let Bench {
        servers, folder, ..
    } = bench;
    drop(servers);
    assert_eq!(within(alive).await.unwrap(), "started\n");
    drop(folder);
}

/// This program is also the host, which is killed.
#[tokio::test]
async fn no_process_is_left_after_the_death_of_the_host() {
    if let Ok(fifo) = std::env::var(HOST) {
        let bench = Bench::new(Arc::new(NoTokens));
        bench.configure([("s", server(&bench, fifo.as_ref(), &json!({"stays": true})))]);
        bench.start().await;
        println!("state {:?}", bench.state("s"));
        std::future::pending::<()>().await;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("alive");
    let alive = fifo(&path);
    let mut host = Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "processes::no_process_is_left_after_the_death_of_the_host",
            "--nocapture",
        ])
        .env(HOST, &path)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let out = host.stdout.take().unwrap();
    assert!(out.as_raw_fd() > 2);
    let connected = tokio::task::spawn_blocking(move || {
        use std::io::BufRead as _;
        let lines = std::io::BufReader::new(out).lines();
        lines
            .map_while(Result::ok)
            .any(|line| line.contains("state Connected"))
    });
    assert!(within(connected).await.unwrap());
    assert!(!alive.is_finished());
    host.kill().unwrap();
    host.wait().unwrap();
    assert_eq!(within(alive).await.unwrap(), "started\n");
}
