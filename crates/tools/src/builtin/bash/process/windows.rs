//! A command is a job. All processes that it starts belong to the job and end when the last handle of
//! the job is closed. Only the host has a handle, so the processes also end when the host dies.

use std::io;

use process_wrap::tokio::{ChildWrapper, CommandWrap, JobObject, KillOnDrop};
use tokio::{process::Command, sync::oneshot};
use tokio_util::sync::{CancellationToken, DropGuard};

use super::{Order, Running};

/// The end of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum Exit {
    /// It exited with this code.
    Code(i32),
    /// The signal with this number ended it. This system has none.
    #[allow(dead_code, reason = "only other systems have signals")]
    Signal(i32),
}

/// All processes of a running command. Dropping it kills them.
pub(in super::super) struct Process {
    stop: DropGuard,
    /// Closes when all processes have ended.
    gone: oneshot::Receiver<()>,
}

impl Process {
    /// Kills all processes, because processes without a window cannot be asked to end.
    pub(in super::super) fn terminate(&mut self) {
        self.kill();
    }

    /// Kills all processes.
    pub(in super::super) fn kill(&mut self) {
        self.stop.token().cancel();
    }

    /// Kills the remaining processes and returns when they have ended.
    pub(in super::super) async fn end(mut self) {
        self.kill();
        let _ = self.gone.await;
    }
}

/// Starts a command.
pub(in super::super) async fn start(order: Order) -> io::Result<Running> {
    let mut child = command(&order).wrap(KillOnDrop).wrap(JobObject).spawn()?;
    let (out, err) = (child.stdout().take(), child.stderr().take());
    let (exit, exited) = oneshot::channel();
    let (held, gone) = oneshot::channel();
    let stop = CancellationToken::new();
    opencode_log::spawn(keep(child, exit, stop.clone(), held));
    Ok(Running {
        process: Process {
            stop: stop.drop_guard(),
            gone,
        },
        exited,
        out: out.expect("it is a pipe"),
        err: err.expect("it is a pipe"),
        not_started: None,
    })
}

fn command(order: &Order) -> CommandWrap {
    let program = order.shell.program();
    let mut command = Command::new(program);
    if program.to_ascii_lowercase().ends_with("cmd.exe") {
        // `cmd.exe` does not change the text between the outer quotes.
        command.raw_arg(format!("/d /s /c \"{}\"", order.command));
    } else {
        command.args(["-c", &order.command]);
    }
    command
        .env_clear()
        .envs(order.variables())
        .current_dir(&order.directory)
        .stdin(std::process::Stdio::null())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped());
    CommandWrap::from(command)
}

/// Waits for the shell to end, and then until the job is not needed any more.
async fn keep(
    mut child: Box<dyn ChildWrapper>,
    exit: oneshot::Sender<Option<Exit>>,
    stop: CancellationToken,
    _held: oneshot::Sender<()>,
) {
    tokio::select! {
        // Waits only for the shell; the job's own `wait` waits for all its processes.
        ended = child.inner_mut().wait() => {
            let _ = exit.send(ended.ok().and_then(|status| status.code()).map(Exit::Code));
            stop.cancelled().await;
        }
        () = stop.cancelled() => {}
    }
    let _ = child.start_kill();
    let _ = child.wait().await;
}
