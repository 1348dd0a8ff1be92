//! A server is a job. All processes that it starts belong to the job and end when the last handle of the
//! job is closed. Only the host has a handle, so the processes also end when the host dies.

use std::io;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use process_wrap::tokio::{ChildWrapper, CommandWrap, JobObject, KillOnDrop};
use tokio::process::Command;
use tokio::sync::oneshot;
use tokio_util::sync::{CancellationToken, DropGuard};

use super::Running;
use crate::config::LocalServer;

/// All processes of a server. Dropping it kills them.
pub(super) struct Process {
    stop: DropGuard,
    /// Closes when all processes have ended.
    gone: oneshot::Receiver<()>,
}

impl Process {
    /// Kills all processes, because processes without a window cannot be asked to end.
    pub(super) fn terminate(&mut self) {
        self.kill();
    }

    /// Kills all processes.
    pub(super) fn kill(&mut self) {
        self.stop.token().cancel();
    }

    /// Kills the remaining processes and returns when they have ended.
    pub(super) async fn end(mut self) {
        self.kill();
        let _ = (&mut self.gone).await;
    }
}

/// Starts a server.
pub(super) async fn start(server: LocalServer) -> io::Result<Running> {
    let mut child = command(&server)?.wrap(KillOnDrop).wrap(JobObject).spawn()?;
    let (input, output, errors) = (
        child.stdin().take(),
        child.stdout().take(),
        child.stderr().take(),
    );
    let (exit, exited) = oneshot::channel();
    let (held, gone) = oneshot::channel();
    let stop = CancellationToken::new();
    opencode_log::spawn(keep(child, exit, stop.clone(), held));
    Ok(Running {
        process: Process {
            stop: stop.drop_guard(),
            gone,
        },
        exited: Box::pin(async move { exited.await.ok().flatten() }),
        input: input.expect("it is a pipe"),
        output: output.expect("it is a pipe"),
        errors: errors.expect("it is a pipe"),
    })
}

fn command(server: &LocalServer) -> io::Result<CommandWrap> {
    let Some((program, arguments)) = server.command.split_first() else {
        return Err(io::Error::other("the command is empty"));
    };
    let mut command = Command::new(find(program, server));
    command
        .args(arguments)
        .env_clear()
        .envs(&server.environment)
        .current_dir(&server.directory)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    Ok(CommandWrap::from(command))
}

/// Returns the file of a program. Scripts such as `npx.cmd` are found, too, which the system would not
/// find by their bare names.
fn find(program: &str, server: &LocalServer) -> PathBuf {
    if Path::new(program).components().count() > 1 || Path::new(program).extension().is_some() {
        return PathBuf::from(program);
    }
    let is_path = |name: &&String| name.eq_ignore_ascii_case("path");
    let path = server.environment.keys().find(is_path);
    let path = path.map_or("", |name| server.environment[name].as_str());
    std::env::split_paths(path)
        .flat_map(|folder| {
            ["exe", "cmd", "bat"].map(|extension| folder.join(program).with_extension(extension))
        })
        .find(|file| file.is_file())
        .unwrap_or_else(|| PathBuf::from(program))
}

/// Waits for the main process to end, and then until the job is not needed any more.
async fn keep(
    mut child: Box<dyn ChildWrapper>,
    exit: oneshot::Sender<Option<i32>>,
    stop: CancellationToken,
    _held: oneshot::Sender<()>,
) {
    tokio::select! {
        // Waits only for the main process; the job's own `wait` waits for all its processes.
        ended = child.inner_mut().wait() => {
            let _ = exit.send(ended.ok().and_then(|status| status.code()));
            stop.cancelled().await;
        }
        () = stop.cancelled() => {}
    }
    let _ = child.start_kill();
    let _ = child.wait().await;
}
