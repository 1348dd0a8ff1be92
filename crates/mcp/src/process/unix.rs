//! A server runs in its own session, and a guard ends the session if the host dies.

use std::io::{self, pipe};
use std::os::fd::{AsRawFd as _, OwnedFd};

use nix::unistd::Pid;
use opencode_guard::{Guard, program};
use tokio::process::{ChildStderr, ChildStdin, ChildStdout};

use super::Running;
use crate::config::LocalServer;

pub(super) use opencode_guard::Process;

/// The host's ends of the pipes of a server.
struct Pipes {
    input: OwnedFd,
    output: OwnedFd,
    errors: OwnedFd,
}

/// Starts a server.
pub(super) async fn start(server: LocalServer) -> io::Result<Running> {
    let spawn = move |guard: &Guard| spawn(&server, guard);
    let kept = opencode_guard::start("opencode-mcp", spawn).await?;
    Ok(Running {
        process: kept.process,
        exited: Box::pin(async move { kept.exited.await.ok().flatten()?.code() }),
        input: ChildStdin::from_std(kept.pipes.input.into())?,
        output: ChildStdout::from_std(kept.pipes.output.into())?,
        errors: ChildStderr::from_std(kept.pipes.errors.into())?,
    })
}

fn spawn(server: &LocalServer, guard: &Guard) -> io::Result<(Pid, Pipes)> {
    let (input_end, input) = pipe()?;
    let (output, output_end) = pipe()?;
    let (errors, errors_end) = pipe()?;
    if !server.directory.is_dir() {
        return Err(io::Error::other("its working directory does not exist"));
    }
    let files = [
        input_end.as_raw_fd(),
        output_end.as_raw_fd(),
        errors_end.as_raw_fd(),
    ];
    let number = program(
        &server.command,
        &server.directory,
        &server.environment,
        files,
        guard,
    )?;
    let pipes = Pipes {
        input: input.into(),
        output: output.into(),
        errors: errors.into(),
    };
    Ok((number, pipes))
}
