//! A server runs in its own session, and a guard ends the session if the host dies.

use std::io::{self, pipe};
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;

use nix::unistd::Pid;
use opencode_guard::{Guard, leader};
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
        exited: kept.exited,
        input: ChildStdin::from_std(kept.pipes.input.into())?,
        output: ChildStdout::from_std(kept.pipes.output.into())?,
        errors: ChildStderr::from_std(kept.pipes.errors.into())?,
    })
}

fn spawn(server: &LocalServer, guard: &Guard) -> io::Result<(Pid, Pipes)> {
    let (input_end, input) = pipe()?;
    let (output, output_end) = pipe()?;
    let (errors, errors_end) = pipe()?;
    let Some((program, rest)) = server.command.split_first() else {
        return Err(io::Error::other("the command is empty"));
    };
    if !server.directory.is_dir() {
        return Err(io::Error::other("its working directory does not exist"));
    }
    let mut arguments = vec![
        BECOME.as_bytes(),
        program.as_bytes(),
        server.directory.as_os_str().as_bytes(),
    ];
    arguments.extend(rest.iter().map(|argument| argument.as_bytes()));
    let variables = server.environment.iter();
    let variables: Vec<_> = variables
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    let files = [
        (input_end.as_raw_fd(), 0),
        (output_end.as_raw_fd(), 1),
        (errors_end.as_raw_fd(), 2),
        (guard.register(), 3),
    ];
    let number = leader(&arguments, &variables, &files)?;
    let pipes = Pipes {
        input: input.into(),
        output: output.into(),
        errors: errors.into(),
    };
    Ok((number, pipes))
}

/// Registers with the guard and then runs the program in the arguments.
const BECOME: &str = r#"
echo $$ >&3 && cd "$1" && shift && unset OLDPWD && exec "$0" "$@" 3>&-
"#;
