//! The environment of processes that an agent or a client starts: the environment of the host without
//! the variables that contain secrets.
//!
//! Only this module makes that decision. Commands and terminals use it. Any other code that starts
//! programs for a Location must use it too.

use std::collections::BTreeMap;

use opencode_schema::permission::matches;
use opencode_secrets::Redactor;

use super::Environment;

/// The variable with the password of listeners.
pub(crate) const LISTENER_PASSWORD: &str = "OPENCODE_SERVER_PASSWORD";

/// The variable with a complete configuration document, which may contain keys.
const CONTENT: &str = "OPENCODE_CONFIG_CONTENT";

/// Patterns for names of variables that usually contain secrets, in any case. `docs/secrets.md` lists them.
const SECRET_NAMES: [&str; 16] = [
    "*API_KEY",
    "*APIKEY",
    "*ACCESS_KEY",
    "*PRIVATE_KEY",
    "*SECRET_KEY",
    "*SECRET*",
    "*TOKEN",
    "*PASSWORD*",
    "*PASSWD",
    "*PASSPHRASE*",
    "*CREDENTIAL",
    "*CREDENTIALS",
    "*DATABASE_URL",
    "*CONNECTION_STRING",
    LISTENER_PASSWORD,
    CONTENT,
];

/// The embedding program's rules for the variables of processes: names in any case, in which `*` stands for any text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CommandEnvironment {
    /// Variables to remove in addition to those with secrets.
    pub omit: Vec<String>,
    /// Variables to keep, regardless of all other rules.
    pub keep: Vec<String>,
}

impl CommandEnvironment {
    /// Returns the variables for processes. `credentials` are the variables in which providers look for
    /// their keys. `secrets` finds configured secrets in the values of all other variables.
    pub(crate) fn variables<'a>(
        &self,
        environment: &Environment,
        credentials: impl Iterator<Item = &'a str>,
        secrets: &Redactor,
    ) -> BTreeMap<String, String> {
        let credentials: Vec<_> = credentials.map(str::to_uppercase).collect();
        let omitted = Patterns::new(SECRET_NAMES.into_iter().chain(texts(&self.omit)));
        let kept = Patterns::new(texts(&self.keep));
        let is_secret = |name: &str, value: &str| {
            credentials.iter().any(|known| known == name)
                || omitted.match_name(name)
                || secrets.finds(value)
        };
        let variables = environment.variables.iter().filter(|(name, value)| {
            let name = name.to_uppercase();
            kept.match_name(&name) || !is_secret(&name, value)
        });
        variables
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect()
    }
}

fn texts(patterns: &[String]) -> impl Iterator<Item = &str> {
    patterns.iter().map(String::as_str)
}

/// Patterns in upper case.
struct Patterns(Vec<String>);

impl Patterns {
    fn new<'a>(patterns: impl Iterator<Item = &'a str>) -> Self {
        Self(patterns.map(str::to_uppercase).collect())
    }

    fn match_name(&self, name: &str) -> bool {
        self.0.iter().any(|pattern| matches(pattern, name))
    }
}

#[cfg(test)]
mod tests {
    use opencode_secrets::Secrets;

    use super::*;

    fn names(rule: &CommandEnvironment, variables: &[(&str, &str)]) -> Vec<String> {
        let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        let environment = Environment {
            variables: variables.iter().map(owned).collect(),
            ..Environment::default()
        };
        let mut secrets = Secrets::default();
        secrets.learn_header("X-Tenant", "tenant-4711");
        let credentials = ["GATEWAY_ACCESS"].into_iter();
        let variables = rule.variables(&environment, credentials, &secrets.of_texts());
        variables.into_keys().collect()
    }

    fn rule(omit: &[&str], keep: &[&str]) -> CommandEnvironment {
        let owned = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
        CommandEnvironment {
            omit: owned(omit),
            keep: owned(keep),
        }
    }

    #[test]
    fn variables_with_secret_names_are_omitted_in_any_case() {
        let secret = [
            "ACME_API_KEY",
            "acme_api_key",
            "API_KEY",
            "GITHUB_TOKEN",
            "AWS_SECRET_ACCESS_KEY",
            "AWS_SESSION_TOKEN",
            "PGPASSWORD",
            "MY_PASSWORD_OLD",
            "CLIENT_SECRET",
            "GOOGLE_APPLICATION_CREDENTIALS",
            "DEPLOY_PRIVATE_KEY",
            "DATABASE_URL",
            "OPENCODE_SERVER_PASSWORD",
            "OPENCODE_CONFIG_CONTENT",
            "Gateway_Access",
        ];
        let plain = [
            "AWS_REGION",
            "HOME",
            "MAX_TOKENS",
            "MONKEY",
            "PATH",
            "SSH_AUTH_SOCK",
            "TOKENIZERS_PARALLELISM",
        ];
        let all: Vec<_> = secret
            .iter()
            .chain(&plain)
            .map(|name| (*name, "v"))
            .collect();
        assert_eq!(names(&rule(&[], &[]), &all), plain);
    }

    #[test]
    fn a_variable_with_a_configured_secret_is_omitted() {
        let variables = [
            ("A", "tenant-4711"),
            ("B", "curl -H tenant-4711"),
            ("C", "tenant-4712"),
        ];
        assert_eq!(names(&rule(&[], &[]), &variables), ["C"]);
    }

    #[test]
    fn the_program_omits_and_keeps_variables_by_pattern() {
        let variables = [
            ("A_TOKEN", "1"),
            ("B_TOKEN", "1"),
            ("INNER_A", "1"),
            ("PATH", "1"),
        ];
        let left = |omit: &[&str], keep: &[&str]| names(&rule(omit, keep), &variables);
        assert_eq!(left(&["inner_*"], &[]), ["PATH"]);
        assert_eq!(left(&["*"], &["path"]), ["PATH"]);
        assert_eq!(left(&[], &["b_token"]), ["B_TOKEN", "INNER_A", "PATH"]);
        assert_eq!(
            left(&["INNER_A"], &["*"]),
            ["A_TOKEN", "B_TOKEN", "INNER_A", "PATH"]
        );
    }
}
