//! What a host tells the runtime about the machine.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

/// The roots and variables everything below reads instead of the process's own.
///
/// A host fills it once. Two hosts in one process may hold different ones, which is also what lets
/// tests run beside each other.
#[derive(Clone, Default)]
pub struct Environment {
    /// Home directory, for `~` and for `.opencode` there.
    pub home: PathBuf,
    /// Where durable data lives.
    pub data: PathBuf,
    /// The user-wide configuration directory.
    pub config: PathBuf,
    /// What may be deleted at any time.
    pub cache: PathBuf,
    /// Environment variables.
    pub variables: BTreeMap<String, String>,
}

impl Environment {
    /// The variable's value; an empty one counts as absent.
    pub fn variable(&self, name: &str) -> Option<&str> {
        self.variables
            .get(name)
            .map(String::as_str)
            .filter(|value| !value.is_empty())
    }

    /// Whether a switch is on: `1` or `true`, in any case.
    pub fn flag(&self, name: &str) -> bool {
        self.variable(name)
            .is_some_and(|value| value == "1" || value.eq_ignore_ascii_case("true"))
    }
}

/// Shows the names of the variables: their values are where API keys live.
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
    fn debug_hides_values() {
        let shown = format!("{:?}", environment("API_KEY", "sk-secret"));
        assert!(
            shown.contains("API_KEY") && !shown.contains("sk-secret"),
            "{shown}"
        );
    }
}
