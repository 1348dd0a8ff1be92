//! Runs a command of the host in the shell, outside of a tool call.

use std::{io, path::Path, sync::Arc, time::Duration};

use tokio_util::sync::CancellationToken;

use super::capture::Captured;
use super::process::Order;
use super::run::{End, run};
use crate::ports::shell::Shell;

/// A command to run. The caller has checked the permission.
pub struct ScriptRequest {
    /// The shell and the environment variables.
    pub shell: Arc<Shell>,
    /// The command line.
    pub command: String,
    /// The values of `$1`, `$2` and so on. They are never read as commands. Must be empty unless
    /// [`Shell::takes_arguments`].
    pub arguments: Vec<String>,
    /// The directory in which the command runs.
    pub directory: Arc<Path>,
    /// Maximum time of the command.
    pub limit: Duration,
}

/// The output of a command.
#[derive(Debug, PartialEq, Eq)]
pub struct ScriptOutput {
    /// Standard output and standard error, in the order of their arrival, at most one MiB.
    pub text: String,
    /// True if the command printed more.
    pub is_cut: bool,
    /// The reason why it ended.
    pub end: ScriptEnd,
}

/// The reason why a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScriptEnd {
    /// The shell exited with this code.
    Exited(i32),
    /// The signal with this number ended the shell.
    Signal(i32),
    /// The caller ended the command, or the system does not tell how it ended.
    Killed,
    /// The command reached its time limit.
    TimedOut,
}

/// Runs a command until it and all of its processes have ended. Dropping the future kills them.
pub async fn run_script(
    request: ScriptRequest,
    cancel: &CancellationToken,
) -> io::Result<ScriptOutput> {
    if !request.arguments.is_empty() && !request.shell.takes_arguments() {
        return Err(io::ErrorKind::Unsupported.into());
    }
    let order = Order {
        shell: request.shell,
        command: request.command,
        arguments: request.arguments,
        directory: request.directory,
    };
    let ended = run(order, request.limit, cancel).await?;
    let Captured { text, truncated } = ended.captured;
    Ok(ScriptOutput {
        text,
        is_cut: truncated,
        end: match ended.end {
            End::Exited(code) => ScriptEnd::Exited(code),
            End::Signal(number) => ScriptEnd::Signal(number),
            End::Unknown | End::Interrupted => ScriptEnd::Killed,
            End::TimedOut => ScriptEnd::TimedOut,
        },
    })
}
