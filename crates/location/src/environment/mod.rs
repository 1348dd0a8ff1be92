//! The host's description of the machine, and the environment of the processes that run for a Location.

mod command;

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

pub use command::CommandEnvironment;
pub(crate) use command::LISTENER_PASSWORD;

/// The directories and variables that the runtime uses instead of those of the process.
///
/// A host fills this in once. Two hosts in one process can use different values, which also allows
/// tests to run in parallel.
#[derive(Clone, Default)]
pub struct Environment {
    /// Home directory, used for `~` and for `.opencode` in it.
    pub home: PathBuf,
    /// Directory for durable data.
    pub data: PathBuf,
    /// Configuration directory of the user.
    pub config: PathBuf,
    /// Directory for data that can be deleted at any time.
    pub cache: PathBuf,
    /// Environment variables.
    pub variables: BTreeMap<String, String>,
}

impl Environment {
    /// Returns the value of a variable. An empty value counts as absent.
    pub fn variable(&self, name: &str) -> Option<&str> {
        self.variables
            .get(name)
            .map(String::as_str)
            .filter(|value| !value.is_empty())
    }

    /// Expands a path in a text: `~` and `~/…` start in the home directory, a relative path starts at `base`.
    pub fn expand(&self, base: &Path, text: &str) -> PathBuf {
        match text.strip_prefix('~') {
            Some("") => self.home.clone(),
            Some(below) if below.starts_with('/') => self.home.join(below.trim_start_matches('/')),
            _ => base.join(text),
        }
    }

    /// The directory of the clones of repositories, which all projects share.
    pub fn clones(&self) -> PathBuf {
        self.data.join("repos")
    }

    /// The directory of the copies of skills behind addresses, which all projects share.
    pub fn skill_copies(&self) -> PathBuf {
        self.cache.join("skills")
    }

    /// The directory with the databases of hosts and what belongs to them.
    pub fn embedded(&self) -> PathBuf {
        self.data.join("embedded")
    }

    /// The directory for temporary files, according to the variables of the system.
    pub fn temporary(&self) -> PathBuf {
        let (names, usual) = if cfg!(windows) {
            (["TEMP", "TMP", "TMPDIR"], r"C:\Windows\Temp")
        } else {
            (["TMPDIR", "TMP", "TEMP"], "/tmp")
        };
        let named = names.iter().find_map(|name| self.variable(name));
        PathBuf::from(named.unwrap_or(usual))
    }

    /// True if configuration and instructions of projects are read. `OPENCODE_DISABLE_PROJECT_CONFIG` turns them off.
    pub fn reads_projects(&self) -> bool {
        !self.flag("OPENCODE_DISABLE_PROJECT_CONFIG")
    }

    /// True if a switch is on: `1` or `true`, in any case.
    pub fn flag(&self, name: &str) -> bool {
        self.variable(name)
            .is_some_and(|value| value == "1" || value.eq_ignore_ascii_case("true"))
    }
}

/// Shows only the names of the variables, because their values may contain API keys.
impl fmt::Debug for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Environment")
            .field("home", &self.home)
            .field("data", &self.data)
            .field("config", &self.config)
            .field("cache", &self.cache)
            .field("variables", &self.variables.keys())
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(name: &str, value: &str) -> Environment {
        Environment {
            variables: BTreeMap::from([(name.to_owned(), value.to_owned())]),
            ..Environment::default()
        }
    }

    #[test]
    fn a_flag_is_one_or_true() {
        let on = ["1", "true", "TRUE"].map(|value| environment("F", value).flag("F"));
        let off = ["", "0", "false", "yes"].map(|value| environment("F", value).flag("F"));
        assert_eq!((on, off), ([true; 3], [false; 4]));
        assert!(!Environment::default().flag("F"));
    }

    #[test]
    fn an_empty_variable_is_absent() {
        assert_eq!(environment("A", "").variable("A"), None);
        assert_eq!(environment("A", "b").variable("A"), Some("b"));
    }

    #[test]
    #[cfg(unix)]
    fn variables_determine_the_folder_for_temporary_files() {
        let named = |name: &str| environment(name, "/x").temporary();
        for name in ["TMPDIR", "TMP", "TEMP"] {
            assert_eq!(named(name), Path::new("/x"));
        }
        assert_eq!(named("OTHER"), Path::new("/tmp"));
        assert_eq!(environment("TMPDIR", "").temporary(), Path::new("/tmp"));
    }

    #[test]
    fn debug_hides_values() {
        let shown = format!("{:?}", environment("API_KEY", "sk-secret"));
        assert!(
            shown.contains("API_KEY") && !shown.contains("sk-secret"),
            "{shown}"
        );
    }
}
