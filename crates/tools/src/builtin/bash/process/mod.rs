//! The processes of one command.

#[cfg(unix)]
mod spawn;
#[cfg(unix)]
#[path = "unix.rs"]
mod system;
#[cfg(windows)]
#[path = "windows.rs"]
mod system;

use std::{path::Path, sync::Arc};

use tokio::{
    process::{ChildStderr, ChildStdout},
    sync::oneshot,
};

use crate::ports::shell::Shell;

pub(super) use system::{Exit, Process, start};

/// The command to run.
pub(super) struct Order {
    pub(super) shell: Arc<Shell>,
    pub(super) command: String,
    /// The positional parameters of the shell: `$1`, `$2` and so on. Only for a shell that takes them.
    pub(super) arguments: Vec<String>,
    /// An existing directory.
    pub(super) directory: Arc<Path>,
}

impl Order {
    /// Returns the variables of the command: those of the host, and variables that identify the caller
    /// to programs.
    fn variables(&self) -> impl Iterator<Item = (&str, &str)> {
        let variables = self.shell.variables().iter();
        let variables = variables.map(|(name, value)| (&**name, &**value));
        variables.chain([("AGENT", "1"), ("OPENCODE", "1")])
    }
}

/// A command that has started.
pub(super) struct Running {
    /// Ends all processes of the command. Dropping it kills them at once.
    pub(super) process: Process,
    /// The end of the shell; `None` if the system does not tell it.
    pub(super) exited: oneshot::Receiver<Option<Exit>>,
    pub(super) out: ChildStdout,
    pub(super) err: ChildStderr,
    /// The last line of the output if the shell could not be started. A command cannot know it.
    pub(super) not_started: Option<String>,
}
