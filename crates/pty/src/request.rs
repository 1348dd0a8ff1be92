//! What begins in terminals.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use opencode_schema::id::PtyID;
use opencode_schema::location::LocationRef;
use opencode_schema::pty::{Pty, PtyStatus};

use crate::error::TerminalError;
use crate::shell;
use crate::terminal::{self, Program, StartError, Started};

/// Variables of an environment.
pub type Environment = BTreeMap<String, String>;

/// What begins in a terminal.
#[derive(Debug, Clone)]
pub struct CreateTerminal {
    /// The Location it belongs to, its directory in normal form.
    pub place: LocationRef,
    /// The program.
    pub command: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// The directory it begins in, relative to that of the Location.
    pub directory: Option<String>,
    /// Title; made from the id unless given.
    pub title: Option<String>,
    /// Its whole environment, beside what a terminal must say of itself.
    pub environment: Environment,
}

/// What of a terminal changes.
#[derive(Debug, Clone, Default)]
pub struct UpdateTerminal {
    /// Another title.
    pub title: Option<String>,
    /// Another size: lines, and characters of a line.
    pub size: Option<(u16, u16)>,
}

impl CreateTerminal {
    /// The directory it begins in, absolute.
    pub fn cwd(&self) -> PathBuf {
        let base = Path::new(&self.place.directory);
        match &self.directory {
            Some(directory) if !directory.is_empty() => base.join(directory),
            _ => base.to_owned(),
        }
    }

    /// Begins it, and describes the terminal. It blocks for as long as the system needs.
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

/// Refuses variables that no environment can hold.
///
/// # Errors
///
/// `Variable` names the first of them.
pub fn check_variables(variables: &Environment) -> Result<(), TerminalError> {
    let unfit = |(name, value): &(&String, &String)| {
        name.is_empty() || name.contains(['=', '\0']) || value.contains('\0')
    };
    match variables.iter().find(unfit) {
        Some((name, _)) => Err(TerminalError::Variable { name: name.clone() }),
        None => Ok(()),
    }
}

/// The variables that programs find, with what a terminal says of itself.
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
