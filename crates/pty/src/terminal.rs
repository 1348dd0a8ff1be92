//! A terminal with a running program.

use std::convert::Infallible;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use opencode_guard::Guard;
use pty_process::{Command, OwnedReadPty, OwnedWritePty, Pty, Size};
use rustix::io::Errno;
use rustix::termios::{Winsize, tcsetwinsize};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::output::Output;
use crate::process::Session;
use crate::utf8::Decoder;

/// Initial size as (rows, columns).
const SIZE: (u16, u16) = (24, 80);
/// Maximum number of output bytes per read.
const CHUNK: usize = 16 * 1024;
/// Maximum number of queued inputs. Further senders wait.
const INPUTS: usize = 4;
/// Time for a program to end after it was asked to.
const HANG_UP: Duration = Duration::from_millis(500);
/// Maximum wait for output after all processes of the session have ended. A process that left the
/// session may hold the terminal open forever.
const LAST_OUTPUT: Duration = Duration::from_millis(500);

/// The program of a terminal.
pub(crate) struct Program {
    pub(crate) command: String,
    pub(crate) args: Vec<String>,
    pub(crate) directory: PathBuf,
    /// Complete environment.
    pub(crate) environment: Vec<(String, String)>,
}

/// The reason that a program did not start.
pub(crate) enum StartError {
    /// The system cannot provide a terminal or a process.
    System(io::Error),
    /// The program cannot be run.
    Program(io::Error),
}

/// A program that was started in a terminal.
pub(crate) struct Started {
    leash: KillOnDrop,
    master: Pty,
    /// Second descriptor of the terminal, used only to set its size.
    sizing: OwnedFd,
    ended: oneshot::Receiver<u32>,
}

/// Kills the session when it is dropped. Where that has ended, this does nothing.
struct KillOnDrop(Arc<Session>);

/// The controls of a running terminal.
#[derive(Clone)]
pub(crate) struct Controls {
    session: Arc<Session>,
    sizing: Arc<OwnedFd>,
    input: mpsc::Sender<Bytes>,
    end: CancellationToken,
    /// Cancelled when no process runs any more.
    over: CancellationToken,
}

/// The task of a running terminal, which must run until its program has ended.
pub(crate) struct Running {
    leash: KillOnDrop,
    master: Pty,
    inputs: mpsc::Receiver<Bytes>,
    ended: oneshot::Receiver<u32>,
    end: CancellationToken,
    over: DropGuard,
    output: Arc<Output>,
}

/// Starts a program. Blocks until the system has started it. Must be called within an asynchronous
/// runtime.
pub(crate) fn start(program: Program) -> Result<Started, StartError> {
    let mut guard = Guard::start().map_err(StartError::System)?;
    let (master, slave) = pty_process::open().map_err(system)?;
    master.resize(Size::new(SIZE.0, SIZE.1)).map_err(system)?;
    let sizing = master.as_fd().try_clone_to_owned();
    let sizing = sizing.map_err(StartError::System)?;
    let command = Command::new(&program.command)
        .args(&program.args)
        .current_dir(&program.directory)
        .env_clear()
        .envs(program.environment);
    let child = command.spawn(slave);
    let child = child.map_err(|error| failed(plain(error)))?;
    let guarded = child.id().map_or(Ok(()), |number| guard.watch(number));
    let (session, ended) = Session::watch(child, guard).map_err(StartError::System)?;
    let leash = KillOnDrop(session);
    guarded.map_err(StartError::System)?;
    Ok(Started {
        leash,
        master,
        sizing,
        ended,
    })
}

fn system(error: pty_process::Error) -> StartError {
    StartError::System(plain(error))
}

fn plain(error: pty_process::Error) -> io::Error {
    match error {
        pty_process::Error::Io(error) => error,
        pty_process::Error::Rustix(error) => error.into(),
        other => io::Error::other(other),
    }
}

/// Returns `System` if the system lacks resources, or else `Program`.
fn failed(error: io::Error) -> StartError {
    let scarce = [Errno::AGAIN, Errno::NOMEM, Errno::MFILE, Errno::NFILE];
    if Errno::from_io_error(&error).is_some_and(|it| scarce.contains(&it)) {
        return StartError::System(error);
    }
    StartError::Program(error)
}

impl Drop for KillOnDrop {
    fn drop(&mut self) {
        self.0.kill();
    }
}

impl Started {
    /// Returns the process id of the program.
    pub(crate) fn id(&self) -> u32 {
        self.leash.0.id()
    }

    /// Returns the controls of the terminal, and the task that must run for them.
    pub(crate) fn connect(self, output: Arc<Output>) -> (Controls, Running) {
        let (input, inputs) = mpsc::channel(INPUTS);
        let controls = Controls {
            session: Arc::clone(&self.leash.0),
            sizing: Arc::new(self.sizing),
            input,
            end: CancellationToken::new(),
            over: CancellationToken::new(),
        };
        let running = Running {
            leash: self.leash,
            master: self.master,
            inputs,
            ended: self.ended,
            end: controls.end.clone(),
            over: controls.over.clone().drop_guard(),
            output,
        };
        (controls, running)
    }
}

impl Controls {
    /// Asks the program to end, and kills it if it does not.
    pub(crate) fn end(&self) {
        self.end.cancel();
    }

    /// Returns when no process of the terminal runs any more.
    pub(crate) async fn ended(&self) {
        self.over.cancelled().await;
    }

    /// Kills the program and all its processes.
    pub(crate) fn kill(&self) {
        self.session.kill();
    }

    /// Changes the size, in characters.
    pub(crate) fn resize(&self, rows: u16, cols: u16) {
        // If the program has ended, the call fails and has no effect.
        let size = Winsize {
            ws_row: rows,
            ws_col: cols,
            ws_xpixel: 0,
            ws_ypixel: 0,
        };
        if let Err(error) = tcsetwinsize(&self.sizing, size) {
            tracing::debug!(%error, "a terminal keeps its size");
        }
    }

    /// Returns the sender of input. Sending fails once the program has ended.
    pub(crate) fn input(&self) -> mpsc::Sender<Bytes> {
        self.input.clone()
    }
}

impl Running {
    /// Transfers input and output until the program and all its processes have ended. Returns the
    /// exit status in the form of shells.
    pub(crate) async fn run(self) -> u32 {
        let Self {
            leash,
            master,
            inputs,
            mut ended,
            end,
            over: _over,
            output,
        } = self;
        let (mut reading, writing) = master.into_split();
        let mut decoder = Decoder::default();
        let talking = async {
            let heard = read_output(&mut reading, &output, &mut decoder, true);
            tokio::join!(heard, type_in(writing, inputs));
            // The program closed its terminal and continues to run.
            std::future::pending::<Infallible>().await
        };
        let code = tokio::select! {
            code = &mut ended => code,
            () = end.cancelled() => stop(&leash.0, ended).await,
            never = talking => match never {},
        };
        let last = read_output(&mut reading, &output, &mut decoder, false);
        // Later output comes from processes that left the session.
        let _ = tokio::time::timeout(LAST_OUTPUT, last).await;
        output.push(&decoder.finish());
        code.unwrap_or(1)
    }
}

async fn stop(
    session: &Arc<Session>,
    mut ended: oneshot::Receiver<u32>,
) -> Result<u32, oneshot::error::RecvError> {
    let asked = Arc::clone(session);
    // If the request fails, the program is killed after the timeout.
    let _ = opencode_log::spawn_blocking(move || asked.hang_up()).await;
    match tokio::time::timeout(HANG_UP, &mut ended).await {
        Ok(code) => code,
        Err(_) => {
            session.kill();
            ended.await
        }
    }
}

/// Reads output until the end.
async fn read_output(
    reading: &mut OwnedReadPty,
    output: &Output,
    decoder: &mut Decoder,
    politely: bool,
) {
    let mut chunk = vec![0; CHUNK];
    loop {
        if politely {
            output.room().await;
        }
        match reading.read(&mut chunk).await {
            Ok(0) => return,
            Ok(read) => output.push(&decoder.decode(&chunk[..read])),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            // No process has the terminal open any more.
            Err(_) => return,
        }
    }
}

/// Writes the input to the program.
async fn type_in(mut writing: OwnedWritePty, mut inputs: mpsc::Receiver<Bytes>) {
    while let Some(input) = inputs.recv().await {
        if writing.write_all(&input).await.is_err() {
            return;
        }
    }
}
