//! Options of new and changed terminals.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use opencode_schema::id::PtyID;
use opencode_schema::location::LocationRef;
use opencode_schema::pty::{Pty, PtyStatus};

use crate::error::TerminalError;
use crate::shell;
use crate::terminal::{self, Program, StartError, Started};

/// Environment variables by name.
pub type Environment = BTreeMap<String, String>;

/// The options of a new terminal.
#[derive(Debug, Clone)]
pub struct CreateTerminal {
    /// Location of the terminal, with a normalised directory.
    pub place: LocationRef,
    /// Program to run.
    pub command: String,
    /// Arguments of the program.
    pub args: Vec<String>,
    /// Initial working directory, relative to the directory of the Location. Absent means the
    /// latter.
    pub directory: Option<String>,
    /// Title. By default derived from the id.
    pub title: Option<String>,
    /// Complete environment, to which only the variables of the terminal itself are added.
    pub environment: Environment,
}

/// The changes of a terminal.
#[derive(Debug, Clone, Default)]
pub struct UpdateTerminal {
    /// New title.
    pub title: Option<String>,
    /// New size as (rows, columns), in characters.
    pub size: Option<(u16, u16)>,
}

impl CreateTerminal {
    /// Returns the absolute path of the initial working directory.
    pub fn cwd(&self) -> PathBuf {
        let base = Path::new(&self.place.directory);
        match &self.directory {
            Some(directory) if !directory.is_empty() => base.join(directory),
            _ => base.to_owned(),
        }
    }

    /// Starts the program and returns the terminal. Blocks until the system has started it.
    pub(crate) fn begin(self, id: PtyID) -> Result<(Pty, Started), TerminalError> {
        let directory = self.cwd();
        let cwd = directory.to_string_lossy().into_owned();
        if !directory.is_dir() {
            return Err(TerminalError::Directory { directory: cwd });
        }
        let args = shell::arguments(&self.command, self.args);
        let started = terminal::start(Program {
            command: self.command.clone(),
            args: args.clone(),
            environment: environment(self.environment)?,
            directory,
        });
        let started = started.map_err(|error| refused(self.command.clone(), &error))?;
        let info = Pty {
            title: self.title.unwrap_or_else(|| default_title(&id)),
            id,
            command: self.command,
            args,
            cwd,
            status: PtyStatus::Running,
            pid: started.id(),
            exit_code: None,
        };
        Ok((info, started))
    }
}

fn default_title(id: &PtyID) -> String {
    let id = id.as_str();
    let last = id.char_indices().rev().nth(3).map_or(0, |(at, _)| at);
    format!("Terminal {}", &id[last..])
}

/// Checks that an environment can contain the variables.
///
/// # Errors
///
/// Fails with `Variable` for the first invalid variable.
pub fn check_variables(variables: &Environment) -> Result<(), TerminalError> {
    let unfit = |(name, value): &(&String, &String)| {
        name.is_empty() || name.contains(['=', '\0']) || value.contains('\0')
    };
    match variables.iter().find(unfit) {
        Some((name, _)) => Err(TerminalError::Variable { name: name.clone() }),
        None => Ok(()),
    }
}

/// Returns the environment of the program, including the variables of the terminal itself.
fn environment(mut variables: Environment) -> Result<Vec<(String, String)>, TerminalError> {
    check_variables(&variables)?;
    let forced = [("TERM", "xterm-256color"), ("OPENCODE_TERMINAL", "1")];
    variables.extend(forced.map(|(name, value)| (name.to_owned(), value.to_owned())));
    Ok(variables.into_iter().collect())
}

fn refused(command: String, error: &StartError) -> TerminalError {
    match error {
        StartError::System(error) => TerminalError::Unavailable(error.to_string()),
        StartError::Program(error) => TerminalError::Command {
            command,
            message: error.to_string(),
        },
    }
}
