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

pub(super) use system::{Process, start};

/// What to run.
pub(super) struct Order {
    pub(super) shell: Arc<Shell>,
    pub(super) command: String,
    /// An existing directory.
    pub(super) directory: Arc<Path>,
}

impl Order {
    /// The variables of the command, in which the host's are joined by those that tell programs
    /// who runs them.
    fn variables(&self) -> impl Iterator<Item = (&str, &str)> {
        let variables = self.shell.variables().iter();
        let variables = variables.map(|(name, value)| (&**name, &**value));
        variables.chain([("AGENT", "1"), ("OPENCODE", "1")])
    }
}

/// A command that has started.
pub(super) struct Running {
    /// Ends everything the command started; dropped, it kills at once.
    pub(super) process: Process,
    /// The code of the shell; none where a signal ended it.
    pub(super) exited: oneshot::Receiver<Option<i32>>,
    pub(super) out: ChildStdout,
    pub(super) err: ChildStderr,
}
