//! Errors of terminals.

use opencode_schema::id::PtyID;

/// The reason that an operation on terminals failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TerminalError {
    /// The Location has no terminal with this id.
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
        /// Name or path of the program.
        command: String,
        /// Error of the operating system.
        message: String,
    },
    /// The program cannot start in that directory.
    #[error(
        "A terminal cannot begin in {directory}, which is no directory; create it first or give another one"
    )]
    Directory {
        /// Absolute path of the directory.
        directory: String,
    },
    /// The variable is not valid in an environment.
    #[error(
        "{name:?} cannot be a variable: a name is not empty and holds no '=', and neither name nor value holds a NUL"
    )]
    Variable {
        /// Name of the variable.
        name: String,
    },
    /// The maximum number of terminal programs is running.
    #[error("{limit} terminals run already, which is the most; remove one and try again")]
    TooMany {
        /// Maximum number of running programs.
        limit: usize,
    },
    /// The system cannot provide a terminal or a process.
    #[error("Terminals are not available: {0}")]
    Unavailable(String),
    /// The host is closing.
    #[error("the host is closed")]
    Closed,
}
