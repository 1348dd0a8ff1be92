//! What can go wrong with terminals, as data.

use opencode_schema::id::PtyID;

/// Why an operation on terminals was refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TerminalError {
    /// There is no such terminal in that Location.
    #[error("PTY not found: {0}")]
    NotFound(PtyID),
    /// The program of the terminal has ended.
    #[error("The program of the terminal {0} has ended")]
    Exited(PtyID),
    /// The program cannot be run.
    #[error(
        "{command:?} cannot be started: {message}; name a program of the host's PATH or its absolute path"
    )]
    Command {
        /// What was to run.
        command: String,
        /// What the operating system says.
        message: String,
    },
    /// The program cannot begin in that directory.
    #[error(
        "A terminal cannot begin in {directory}, which is no directory; create it first or give another one"
    )]
    Directory {
        /// The directory, absolute.
        directory: String,
    },
    /// A variable that no environment can hold.
    #[error(
        "{name:?} cannot be a variable: a name is not empty and holds no '=', and neither name nor value holds a NUL"
    )]
    Variable {
        /// Its name.
        name: String,
    },
    /// As many programs run in terminals as may run.
    #[error("{limit} terminals run already, which is the most; remove one and try again")]
    TooMany {
        /// The bound.
        limit: usize,
    },
    /// The machine has no terminal or process to give.
    #[error("Terminals cannot be had: {0}")]
    Unavailable(String),
    /// The host is closing.
    #[error("the host is closed")]
    Closed,
}
