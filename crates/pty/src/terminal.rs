//! One terminal whose program runs.

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

/// Lines and characters of a line until somebody says otherwise.
const SIZE: (u16, u16) = (24, 80);
/// Bytes of output that are taken at once.
const CHUNK: usize = 16 * 1024;
/// Inputs that may wait for the program; whoever has more waits.
const INPUTS: usize = 4;
/// How long a program may take to end when it is asked to.
const HANG_UP: Duration = Duration::from_millis(500);
/// How long output is waited for when all processes have ended: one that left the session may hold
/// the terminal open for ever.
const LAST_OUTPUT: Duration = Duration::from_millis(500);

/// What begins in a terminal.
pub(crate) struct Program {
    pub(crate) command: String,
    pub(crate) args: Vec<String>,
    pub(crate) directory: PathBuf,
    /// All of its environment.
    pub(crate) environment: Vec<(String, String)>,
}

/// Why a program did not begin.
pub(crate) enum StartError {
    /// There is no terminal, or no process, to be had.
    System(io::Error),
    /// The program cannot be run.
    Program(io::Error),
}

/// A program that began in a terminal.
pub(crate) struct Started {
    leash: KillOnDrop,
    master: Pty,
    /// The terminal once more, for its size alone.
    sizing: OwnedFd,
    ended: oneshot::Receiver<u32>,
}

/// Kills the session when it is dropped. Where that has ended, this does nothing.
struct KillOnDrop(Arc<Session>);

/// How a running terminal is reached.
#[derive(Clone)]
pub(crate) struct Controls {
    session: Arc<Session>,
    sizing: Arc<OwnedFd>,
    input: mpsc::Sender<Bytes>,
    end: CancellationToken,
    /// Cancelled when nothing runs any more.
    over: CancellationToken,
}

/// A terminal at work: what has to go on until its program has ended.
pub(crate) struct Running {
    leash: KillOnDrop,
    master: Pty,
    inputs: mpsc::Receiver<Bytes>,
    ended: oneshot::Receiver<u32>,
    end: CancellationToken,
    over: DropGuard,
    output: Arc<Output>,
}

/// Begins a program. It blocks for as long as the system needs, within an asynchronous runtime.
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

/// Whether it is the machine's fault or the program's.
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
    /// The number of the program's process.
    pub(crate) fn id(&self) -> u32 {
        self.leash.0.id()
    }

    /// How the terminal is reached, and what has to run for that.
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

    /// Done when nothing of it runs any more.
    pub(crate) async fn ended(&self) {
        self.over.cancelled().await;
    }

    /// Kills the program and all that belongs to it.
    pub(crate) fn kill(&self) {
        self.session.kill();
    }

    /// Changes the size, in characters.
    pub(crate) fn resize(&self, rows: u16, cols: u16) {
        // A terminal whose program has ended meanwhile has no size.
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

    /// Where input goes. It takes none any more once the program has ended.
    pub(crate) fn input(&self) -> mpsc::Sender<Bytes> {
        self.input.clone()
    }
}

impl Running {
    /// Carries input and output until the program has ended and all that belonged to it. Gives the
    /// exit status as shells tell it.
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
            let heard = hear(&mut reading, &output, &mut decoder, true);
            tokio::join!(heard, type_in(writing, inputs));
            // It closed its terminal and goes on all the same.
            std::future::pending::<Infallible>().await
        };
        let code = tokio::select! {
            code = &mut ended => code,
            () = end.cancelled() => stop(&leash.0, ended).await,
            never = talking => match never {},
        };
        let last = hear(&mut reading, &output, &mut decoder, false);
        // What comes later comes from processes that left the session.
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
    // One that cannot be asked is killed in the end.
    let _ = opencode_log::spawn_blocking(move || asked.hang_up()).await;
    match tokio::time::timeout(HANG_UP, &mut ended).await {
        Ok(code) => code,
        Err(_) => {
            session.kill();
            ended.await
        }
    }
}

/// Takes output until there is no more.
async fn hear(reading: &mut OwnedReadPty, output: &Output, decoder: &mut Decoder, politely: bool) {
    let mut chunk = vec![0; CHUNK];
    loop {
        if politely {
            output.room().await;
        }
        match reading.read(&mut chunk).await {
            Ok(0) => return,
            Ok(read) => output.push(&decoder.decode(&chunk[..read])),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            // Nobody has the terminal open any more.
            Err(_) => return,
        }
    }
}

/// Gives the program what is typed.
async fn type_in(mut writing: OwnedWritePty, mut inputs: mpsc::Receiver<Bytes>) {
    while let Some(input) = inputs.recv().await {
        if writing.write_all(&input).await.is_err() {
            return;
        }
    }
}
