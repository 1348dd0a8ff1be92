//! What commands run in.

use std::{collections::BTreeMap, sync::Arc};

/// The shell of a Location, and the variables that commands see.
#[derive(Clone, Debug)]
pub struct Shell {
    program: String,
    variables: Arc<BTreeMap<String, String>>,
}

impl Shell {
    /// The configured shell. Without one it is `/bin/sh`, on Windows the program that `COMSPEC`
    /// names, or `cmd.exe`. The shell that a person types in is of no account.
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

    /// A path, or a name that is looked up in the `PATH` of the variables.
    pub(crate) fn program(&self) -> &str {
        &self.program
    }

    /// The variables of commands; those of the process count for nothing.
    pub(crate) fn variables(&self) -> &BTreeMap<String, String> {
        &self.variables
    }
}
