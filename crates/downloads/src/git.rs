//! Runs the Git program of the machine. It knows the credentials and the proxies of the user.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

#[cfg(unix)]
#[path = "git/unix.rs"]
mod system;
#[cfg(windows)]
#[path = "git/windows.rs"]
mod system;

/// Time limit of one command.
pub(crate) const TIME_LIMIT: Duration = Duration::from_secs(5 * 60);

/// Variables that would make Git work on another repository, or with other objects.
const FOREIGN: [&str; 8] = [
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_COMMON_DIR",
    "GIT_NAMESPACE",
    "GIT_CEILING_DIRECTORIES",
];

/// The protocols of every command. For any other one, Git would run a program of the name `git-remote-<protocol>`. This
/// variable has priority over the configuration of the user.
const PROTOCOLS: (&str, &str) = ("GIT_ALLOW_PROTOCOL", "https:http:ssh:git");

/// Settings of every command. No hook, no file system monitor and no maintenance runs, and nothing asks for
/// credentials.
const SETTINGS: [&str; 12] = [
    "-c",
    "core.hooksPath=/dev/null",
    "-c",
    "core.fsmonitor=false",
    "-c",
    "init.templateDir=",
    "-c",
    "credential.interactive=false",
    "-c",
    "gc.auto=0",
    "-c",
    "maintenance.auto=false",
];

/// A command of Git.
pub(crate) struct GitCommand {
    /// Arguments after the program and its settings.
    pub(crate) arguments: Vec<String>,
    /// The working directory.
    pub(crate) directory: PathBuf,
    /// All variables.
    variables: BTreeMap<String, String>,
}

impl GitCommand {
    pub(crate) fn new(
        arguments: &[&str],
        directory: &Path,
        variables: &BTreeMap<String, String>,
    ) -> Self {
        let arguments = SETTINGS.iter().chain(arguments);
        Self {
            arguments: arguments.map(|it| (*it).to_owned()).collect(),
            directory: directory.to_owned(),
            variables: quiet(variables.clone()),
        }
    }

    /// Runs the command, and returns its output.
    ///
    /// # Errors
    ///
    /// Returns the reason as a part of a sentence: the last line of the messages of Git.
    pub(crate) async fn run(self) -> Result<String, String> {
        let ended = tokio::time::timeout(TIME_LIMIT, system::run(self)).await;
        let limit = TIME_LIMIT.as_secs();
        let ended = ended.map_err(|_| format!("Git did not end within {limit} seconds"))?;
        let Ended {
            code,
            output,
            messages,
        } = ended.map_err(|error| format!("Git cannot be started: {error}"))?;
        match code {
            Some(0) => Ok(output),
            Some(126 | 127) => Err("the program git is not installed".to_owned()),
            _ => Err(reason(&messages)),
        }
    }
}

/// The result of a command.
pub(crate) struct Ended {
    /// `None` if a signal ended the program.
    pub(crate) code: Option<i32>,
    pub(crate) output: String,
    pub(crate) messages: String,
}

/// Returns the variables of a command that asks no user.
fn quiet(mut variables: BTreeMap<String, String>) -> BTreeMap<String, String> {
    variables.retain(|name, _| !FOREIGN.contains(&name.as_str()));
    for (name, value) in [
        PROTOCOLS,
        ("GIT_TERMINAL_PROMPT", "0"),
        ("GIT_ASKPASS", "false"),
        ("SSH_ASKPASS", "false"),
        ("SSH_ASKPASS_REQUIRE", "never"),
        ("GIT_LFS_SKIP_SMUDGE", "1"),
        ("LC_ALL", "C"),
    ] {
        variables.insert(name.to_owned(), value.to_owned());
    }
    let ssh = variables.entry("GIT_SSH_COMMAND".to_owned());
    ssh.or_insert_with(|| "ssh -o BatchMode=yes".to_owned());
    variables
}

/// Returns the reason of a failure: the first line that says it, else the last line. Advice follows the reason.
fn reason(messages: &str) -> String {
    let lines = messages.lines().map(str::trim);
    let mut lines = lines.filter(|line| !line.is_empty());
    let fatal = lines.clone().find_map(|line| line.strip_prefix("fatal: "));
    let reason = fatal.or_else(|| lines.next_back());
    let reason = reason.unwrap_or("Git failed without a message");
    reason.chars().take(300).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_lead_to_no_other_repository_and_to_no_question() {
        let given = [
            ("GIT_DIR", "/x"),
            ("PATH", "/bin"),
            ("GIT_ASKPASS", "ask"),
            ("LC_ALL", "de"),
            ("GIT_ALLOW_PROTOCOL", "ext"),
        ];
        let given = given.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let variables = quiet(BTreeMap::from(given));
        assert_eq!(variables.get("GIT_DIR"), None);
        let value = |name: &str| variables[name].as_str();
        assert_eq!((value("PATH"), value("GIT_ASKPASS")), ("/bin", "false"));
        assert_eq!(value("GIT_SSH_COMMAND"), "ssh -o BatchMode=yes");
        assert_eq!(value("GIT_ALLOW_PROTOCOL"), "https:http:ssh:git");
    }

    #[test]
    fn the_reason_of_a_failure_is_found_before_advice() {
        for (messages, expected) in [
            (
                "Cloning\nfatal: not found\n\nPlease check it.\n",
                "not found",
            ),
            ("error: broken", "error: broken"),
            ("", "Git failed without a message"),
        ] {
            assert_eq!(reason(messages), expected);
        }
    }
}
