//! The shell for commands.

use std::{collections::BTreeMap, sync::Arc};

/// The shell of a Location, and the environment variables of commands.
#[derive(Clone, Debug)]
pub struct Shell {
    program: String,
    variables: Arc<BTreeMap<String, String>>,
}

impl Shell {
    /// Uses the configured shell. The default is `/bin/sh`; on Windows it is the program in `COMSPEC`,
    /// or `cmd.exe`. The login shell of the user is not used.
    #[must_use]
    pub fn new(configured: Option<&str>, variables: Arc<BTreeMap<String, String>>) -> Self {
        let program = match configured {
            Some(program) => program,
            None if cfg!(windows) => match variables.get("COMSPEC").map(String::as_str) {
                None | Some("") => "cmd.exe",
                Some(program) => program,
            },
            None => "/bin/sh",
        };
        Self {
            program: program.to_owned(),
            variables,
        }
    }

    /// Returns a path, or a name to find in the `PATH` of the variables.
    pub(crate) fn program(&self) -> &str {
        &self.program
    }

    /// Returns the variables of commands. The variables of the host process are not used.
    pub(crate) fn variables(&self) -> &BTreeMap<String, String> {
        &self.variables
    }
}
