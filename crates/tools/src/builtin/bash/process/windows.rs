//! A command is a job: everything it starts belongs to the job, and ends when the last handle of it
//! is closed, which only the host has. Nothing else is needed for the death of the host.

use std::io;

use process_wrap::tokio::{ChildWrapper, CommandWrap, JobObject, KillOnDrop};
use tokio::{process::Command, sync::oneshot};
use tokio_util::sync::{CancellationToken, DropGuard};

use super::{Order, Running};

/// Everything that belongs to a running command. Dropped, it kills.
pub(in super::super) struct Process {
    stop: DropGuard,
    /// Ends when everything is gone.
    gone: oneshot::Receiver<()>,
}

impl Process {
    /// Ends everything: processes without a window cannot be asked.
    pub(in super::super) fn terminate(&mut self) {
        self.kill();
    }

    /// Ends everything.
    pub(in super::super) fn kill(&mut self) {
        self.stop.token().cancel();
    }

    /// Ends what is left, and returns when it is gone.
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
    })
}

fn command(order: &Order) -> CommandWrap {
    let program = order.shell.program();
    let mut command = Command::new(program);
    if program.to_ascii_lowercase().ends_with("cmd.exe") {
        // It takes what is between the outer quotes as it is.
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

/// Waits for the shell, then for nobody to need the job any more.
async fn keep(
    mut child: Box<dyn ChildWrapper>,
    exit: oneshot::Sender<Option<i32>>,
    stop: CancellationToken,
    _held: oneshot::Sender<()>,
) {
    tokio::select! {
        // The shell alone: the job's own wait is for everything in it.
        ended = child.inner_mut().wait() => {
            let _ = exit.send(ended.ok().and_then(|status| status.code()));
            stop.cancelled().await;
        }
        () = stop.cancelled() => {}
    }
    let _ = child.start_kill();
    let _ = child.wait().await;
}
