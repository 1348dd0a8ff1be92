//! The shell for commands.

use std::{collections::BTreeMap, path::Path, sync::Arc};

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

    /// Returns a shell with one more environment variable.
    #[must_use]
    pub fn with_variable(&self, name: &str, value: &str) -> Self {
        let mut variables = BTreeMap::clone(&self.variables);
        variables.insert(name.to_owned(), value.to_owned());
        Self {
            program: self.program.clone(),
            variables: Arc::new(variables),
        }
    }

    /// True if the shell gives positional parameters to a command, as POSIX defines them, and does not read their values
    /// as commands.
    #[must_use]
    pub fn takes_arguments(&self) -> bool {
        const SHELLS: [&str; 7] = ["sh", "bash", "dash", "ash", "zsh", "ksh", "mksh"];
        let name = Path::new(&self.program).file_stem();
        cfg!(unix) && name.is_some_and(|name| SHELLS.iter().any(|shell| name == *shell))
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
