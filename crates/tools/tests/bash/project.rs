//! A project for running commands, and pipes that show which of their processes exist.

use std::{
    collections::BTreeMap,
    fs::{self, File},
    io::{BufRead, BufReader, Read},
    path::{Path, PathBuf},
    pin::pin,
    sync::Arc,
    time::Duration,
};

use crate::common::{Recorder, built_in_tools, call, context, registry, success, text};
use opencode_tools::{Contributions, Materialized, Registration, Settlement, Shell, TurnContext};
use rustix::fs::{CWD, FileType, Mode, mknodat};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

/// A Location beside a directory that it may not access.
pub(crate) struct Project {
    _temp: TempDir,
    pub(crate) root: PathBuf,
    pub(crate) turn: Arc<Materialized>,
    _registration: Registration,
}

impl Project {
    pub(crate) fn new() -> Self {
        let temp = tempfile::tempdir().expect("a temporary directory");
        let root = fs::canonicalize(temp.path()).expect("it exists");
        fs::create_dir_all(root.join("loc/sub")).expect("it is writable");
        fs::create_dir_all(root.join("outside")).expect("it is writable");
        let registry = registry(&Contributions::default(), &root.join("data"));
        let registration = registry.host().register(built_in_tools());
        Self {
            turn: Arc::new(registry.materialize("/project", |_| true)),
            _registration: registration.expect("all names are good"),
            _temp: temp,
            root,
        }
    }

    pub(crate) fn location(&self) -> PathBuf {
        self.root.join("loc")
    }

    pub(crate) fn context(&self) -> TurnContext {
        context(&self.location())
    }

    pub(crate) async fn settle(&self, input: Value, context: TurnContext) -> Settlement {
        soon(self.turn.settle(call("bash", input), &context)).await
    }

    pub(crate) async fn run(&self, command: &str) -> Settlement {
        self.settle(json!({"command": command}), self.context())
            .await
    }

    /// Like `settle`, but records all permission requests.
    pub(crate) async fn ask(&self, input: Value, permissions: &Arc<Recorder>) -> Settlement {
        let mut context = self.context();
        context.permissions = Arc::clone(permissions) as _;
        self.settle(input, context).await
    }

    /// Runs a command that writes lines to the pipe `alive`, which it holds open as descriptor `3`.
    pub(crate) async fn start(&self, timeout: u64, command: &str, lines: usize) -> Started {
        let pipe = self.location().join("alive");
        let mode = Mode::RUSR | Mode::WUSR;
        mknodat(CWD, &pipe, FileType::Fifo, mode, 0).expect("it is new");
        let input = json!({"command": format!("exec 3>alive\n{command}"), "timeout": timeout});
        let call = self.spawn(input);
        let alive = Alive::open(pipe).await.read_lines(lines).await;
        Started {
            call: call.settled,
            cancel: call.cancel,
            alive,
        }
    }

    /// Starts a call.
    pub(crate) fn call(&self, command: &str) -> Call {
        self.spawn(json!({"command": command, "timeout": 600_000}))
    }

    fn spawn(&self, input: Value) -> Call {
        let permissions = Recorder::new(|_| Ok(()));
        let mut context = self.context();
        context.permissions = Arc::clone(&permissions) as _;
        let (turn, cancel) = (Arc::clone(&self.turn), context.cancel.clone());
        let settled = async move { turn.settle(call("bash", input), &context).await };
        Call {
            settled: tokio::spawn(settled),
            cancel,
            permissions,
        }
    }
}

/// A call that was started.
pub(crate) struct Call {
    pub(crate) settled: JoinHandle<Settlement>,
    cancel: CancellationToken,
    permissions: Arc<Recorder>,
}

impl Call {
    /// Returns the number of permission requests of the call.
    pub(crate) fn asked(&self) -> usize {
        self.permissions.asked().len()
    }

    pub(crate) async fn interrupted(self) -> Settlement {
        self.cancel.cancel();
        soon(self.settled).await.expect("it does not panic")
    }
}

/// A call with running processes.
pub(crate) struct Started {
    pub(crate) call: JoinHandle<Settlement>,
    pub(crate) cancel: CancellationToken,
    pub(crate) alive: Alive,
}

impl Started {
    pub(crate) async fn settled(self) -> (Settlement, Alive) {
        (
            soon(self.call).await.expect("it does not panic"),
            self.alive,
        )
    }
}

/// The pipe that all processes of a command hold open.
pub(crate) struct Alive {
    pipe: BufReader<File>,
    /// The lines that were written so far, sorted.
    pub(crate) lines: Vec<String>,
}

impl Alive {
    async fn open(path: PathBuf) -> Self {
        let opening = tokio::task::spawn_blocking(move || Self {
            pipe: BufReader::new(File::open(path).expect("it exists")),
            lines: Vec::new(),
        });
        soon(opening).await.expect("it does not panic")
    }

    /// Waits until `lines` more lines were written.
    pub(crate) async fn read_lines(mut self, lines: usize) -> Self {
        let reading = tokio::task::spawn_blocking(move || {
            for _ in 0..lines {
                let mut line = String::new();
                let read = self.pipe.read_line(&mut line).expect("it is readable");
                assert_ne!(read, 0, "all ended after {:?}", self.lines);
                self.lines.push(line.trim_end().to_owned());
            }
            self.lines.sort();
            self
        });
        soon(reading).await.expect("it does not panic")
    }

    /// Waits until no process is left, and returns the rest of the output.
    pub(crate) async fn ended(mut self) -> String {
        let reading = tokio::task::spawn_blocking(move || {
            let mut rest = String::new();
            self.pipe.read_to_string(&mut rest).expect("it is text");
            rest
        });
        soon(reading).await.expect("it does not panic")
    }
}

/// A time limit in milliseconds that a command reaches only through [`at_limit`].
pub(crate) const LIMIT: u64 = 600_000;

/// Returns the result of calls after their time limit has passed at once. If a command prints before
/// its call starts to wait for the limit, the call misses the limit and gets another one.
pub(crate) async fn at_limit<T>(calls: impl Future<Output = T>) -> T {
    let mut calls = pin!(calls);
    for _ in 0..4 {
        tokio::time::pause();
        tokio::time::advance(Duration::from_millis(LIMIT)).await;
        tokio::time::resume();
        if let Ok(ended) = tokio::time::timeout(Duration::from_secs(15), &mut calls).await {
            return ended;
        }
    }
    panic!("a call goes on after its limit");
}

/// Fails if the future takes longer than this limit, which is far longer than needed.
pub(crate) async fn soon<T>(future: impl Future<Output = T>) -> T {
    let waited = tokio::time::timeout(Duration::from_secs(60), future).await;
    waited.expect("it happens soon")
}

/// Returns a success with this output and exit code.
pub(crate) fn exited(output: &str, code: i32) -> Settlement {
    success(
        json!({"exit": code, "truncated": false}),
        vec![
            text(output),
            text(&format!("Command exited with code {code}.")),
        ],
    )
}

/// Returns a success with this output of a command that a signal ended.
pub(crate) fn signalled(output: &str, number: i32, name: &str) -> Settlement {
    let code = 128 + number;
    let mut end = format!("Command was ended by {name} (exit code {code}).");
    if name == "SIGKILL" {
        end.push_str(" Perhaps the memory was not sufficient.");
    }
    success(
        json!({"exit": code, "signal": name, "truncated": false}),
        vec![text(output), text(&end)],
    )
}

/// Returns the settlement of a command that was still running after `limit` milliseconds.
pub(crate) fn timed_out(output: &str, limit: u64) -> Settlement {
    let sentence = format!(
        "{output}Command exceeded timeout of {limit} ms. \
         Retry with a larger timeout if the command is expected to take longer."
    );
    success(
        json!({"truncated": false, "timeout": true}),
        vec![
            text(&sentence),
            text("Command timed out before completion."),
        ],
    )
}

/// Returns a shell with exactly these variables.
pub(crate) fn shell(program: Option<&str>, variables: &[(&str, &str)]) -> Arc<Shell> {
    let variables = variables.iter();
    let variables: BTreeMap<_, _> = variables
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
        .collect();
    Arc::new(Shell::new(program, Arc::new(variables)))
}

/// Returns a path as text.
pub(crate) fn name(path: &Path) -> &str {
    path.to_str().expect("it is Unicode")
}
