//! The default program of a terminal.

use std::collections::BTreeMap;
use std::path::Path;

/// Shells that read the user's profile if they are started as login shells.
const LOGIN: [&str; 6] = ["bash", "dash", "fish", "ksh", "sh", "zsh"];
/// Search path if the environment has no `PATH`.
const USUAL_PATH: &str = "/usr/local/bin:/bin:/usr/bin";

/// Returns the shell: the configured one, or `SHELL` of the environment, or `bash` in its `PATH`,
/// or `/bin/sh`.
pub fn default_shell(configured: Option<&str>, environment: &BTreeMap<String, String>) -> String {
    let variable = |name: &str| environment.get(name).filter(|it| !it.is_empty());
    let given = configured.filter(|it| !it.is_empty());
    if let Some(shell) = given.or_else(|| variable("SHELL").map(String::as_str)) {
        return shell.to_owned();
    }
    let path = variable("PATH").map_or(USUAL_PATH, String::as_str);
    let bash = path.split(':').map(|it| Path::new(it).join("bash"));
    let found = bash.filter(|it| it.is_absolute()).find(|it| it.is_file());
    match found {
        Some(bash) => bash.to_string_lossy().into_owned(),
        None => "/bin/sh".to_owned(),
    }
}

/// Returns the arguments of a program. Shells get an extra argument that makes them read the
/// profile.
pub(crate) fn arguments(command: &str, mut given: Vec<String>) -> Vec<String> {
    let name = Path::new(command).file_name();
    if name.is_some_and(|name| LOGIN.iter().any(|it| name == *it)) {
        given.push("-l".to_owned());
    }
    given
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_configured_shell_is_used() {
        let environment = |pairs: &[(&str, &str)]| {
            let owned = |(name, value): &(&str, &str)| (String::from(*name), String::from(*value));
            pairs.iter().map(owned).collect::<BTreeMap<_, _>>()
        };
        let folder = tempfile::tempdir().unwrap();
        let bash = folder.path().join("bash");
        std::fs::write(&bash, "").unwrap();
        let folder = folder.path().to_str().unwrap();
        let path = format!("relative:/nowhere:{folder}");
        for (configured, variables, shell) in [
            (Some("/bin/x"), vec![("SHELL", "/bin/zsh")], "/bin/x"),
            (Some(""), vec![("SHELL", "/bin/zsh")], "/bin/zsh"),
            (None, vec![("SHELL", "/bin/zsh")], "/bin/zsh"),
            (
                None,
                vec![("SHELL", ""), ("PATH", &path)],
                bash.to_str().unwrap(),
            ),
            (None, vec![("PATH", "/nowhere:/either")], "/bin/sh"),
        ] {
            let found = default_shell(configured, &environment(&variables));
            assert_eq!(found, shell, "{configured:?} {variables:?}");
        }
    }

    #[test]
    fn shells_read_the_profile() {
        for (command, given, all) in [
            ("/bin/bash", vec![], vec!["-l"]),
            ("zsh", vec!["-c", "ls"], vec!["-c", "ls", "-l"]),
            ("/usr/bin/python3", vec!["-i"], vec!["-i"]),
            ("/opt/bash/run", vec![], vec![]),
            ("bash5", vec![], vec![]),
        ] {
            let given = given.into_iter().map(String::from).collect();
            assert_eq!(arguments(command, given), all, "{command}");
        }
    }
}
