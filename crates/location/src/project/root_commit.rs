//! The identity of a repository without a remote: its first root commit.

use std::collections::HashMap;
use std::io;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::io::AsyncReadExt as _;
use tokio::process::Command;

use super::repository::Repository;
use crate::environment::Environment;

/// Time limit for git to walk the history. A repository that needs more time has no identity of its own
/// until the next attempt.
const TIME_LIMIT: Duration = Duration::from_secs(10);

/// Maximum output of git in bytes. It holds more than ten thousand root commits; real histories have only a few.
const MAX_OUTPUT_BYTES: u64 = 1024 * 1024;

/// Maximum number of cached repositories. A dropped entry only costs another walk of its history.
const MAX_REMEMBERED: usize = 256;

/// Root commits by git directory. A root commit never changes, and finding it requires a walk of the
/// whole history.
#[derive(Default)]
pub(super) struct RootCommits {
    /// Locked for a lookup or an insertion, never while git runs.
    known: Mutex<HashMap<String, String>>,
}

impl RootCommits {
    /// The lexicographically first root commit of HEAD. `None` for a repository without commits, or if
    /// git is missing, fails or exceeds the time limit.
    pub(super) async fn get(
        &self,
        repository: &Repository,
        environment: &Environment,
    ) -> Option<String> {
        if let Some(id) = self.known.lock().get(&repository.common_dir) {
            return Some(id.clone());
        }
        if !has_regular_files(repository).await {
            tracing::warn!(
                directory = repository.root,
                "the git directory holds something else than files; the project gets no identity of its own"
            );
            return None;
        }
        let commits = match tokio::time::timeout(TIME_LIMIT, run(repository, environment)).await {
            Ok(Ok(commits)) => commits,
            Ok(Err(error)) => {
                tracing::warn!(directory = repository.root, %error, "git could not be asked for the root commit; the project gets no identity of its own");
                return None;
            }
            Err(_) => {
                tracing::warn!(directory = repository.root, limit = ?TIME_LIMIT, "git took too long to find the root commit; the project gets no identity of its own");
                return None;
            }
        };
        let id = first(&commits)?;
        let mut known = self.known.lock();
        if known.len() >= MAX_REMEMBERED {
            known.clear();
        }
        known.insert(repository.common_dir.clone(), id.clone());
        Some(id)
    }
}

/// True if everything that git reads first is a regular file. Git would block while reading a pipe.
async fn has_regular_files(repository: &Repository) -> bool {
    let common = PathBuf::from(&repository.common_dir);
    let own = PathBuf::from(&repository.root).join(".git");
    let files = ["HEAD", "config", "packed-refs", "shallow"];
    let check = move || {
        let names = files
            .iter()
            .flat_map(|name| [common.join(name), own.join(name)]);
        let is_other = |file: &PathBuf| std::fs::metadata(file).is_ok_and(|it| !it.is_file());
        !names.into_iter().any(|file| is_other(&file))
    };
    opencode_log::spawn_blocking(check).await.unwrap_or(false)
}

/// The lexicographically first hash in the output of git.
fn first(commits: &str) -> Option<String> {
    let is_hash = |line: &&str| {
        matches!(line.len(), 40 | 64) && line.bytes().all(|byte| byte.is_ascii_hexdigit())
    };
    commits.lines().filter(is_hash).min().map(str::to_owned)
}

/// Runs git to list the commits without parents.
async fn run(repository: &Repository, environment: &Environment) -> io::Result<String> {
    let mut command = Command::new("git");
    command
        .arg("-C")
        .arg(&repository.root)
        .args(["rev-list", "--max-parents=0", "HEAD"])
        .env_clear()
        .envs(inherited(environment))
        .env("HOME", &environment.home)
        .env("LC_ALL", "C")
        .env("GIT_TERMINAL_PROMPT", "0")
        .env("GIT_OPTIONAL_LOCKS", "0")
        // The identification of a partial clone must not start a download of its history.
        .env("GIT_NO_LAZY_FETCH", "1")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .kill_on_drop(true);
    // Starting a process blocks until the system has created it.
    let started = opencode_log::spawn_blocking(move || command.spawn()).await;
    let mut child = started.map_err(io::Error::other)??;
    let output = child.stdout.take().expect("the output was asked for");
    let mut bytes = Vec::new();
    output
        .take(MAX_OUTPUT_BYTES + 1)
        .read_to_end(&mut bytes)
        .await?;
    if bytes.len() as u64 > MAX_OUTPUT_BYTES {
        return Err(io::Error::other("it listed too many root commits"));
    }
    // Git fails if there are no commits, which is a valid result. A list that git could not complete
    // counts as empty too.
    if !child.wait().await?.success() {
        return Ok(String::new());
    }
    String::from_utf8(bytes).map_err(io::Error::other)
}

/// The variables that git needs to start and to find the user's configuration. Git receives no other
/// variables: some would point it at another repository or at programs, and some contain secrets.
const INHERITED: [&str; 11] = [
    "APPDATA",
    "LD_LIBRARY_PATH",
    "PATH",
    "PATHEXT",
    "PROGRAMDATA",
    "SYSTEMROOT",
    "TEMP",
    "TMP",
    "TMPDIR",
    "USERPROFILE",
    "XDG_CONFIG_HOME",
];

fn inherited(environment: &Environment) -> impl Iterator<Item = (&String, &String)> {
    environment.variables.iter().filter(|(name, _)| {
        let mut inherited = INHERITED.iter();
        inherited.any(|inherited| name.eq_ignore_ascii_case(inherited))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_hash_in_text_order_is_chosen() {
        let (a, b) = ("a".repeat(40), "b".repeat(40));
        for (output, expected) in [
            (format!("{b}\n{a}\n"), Some(a.clone())),
            (format!("{b}\r\nwarning: x\n"), Some(b.clone())),
            ("0".repeat(64), Some("0".repeat(64))),
            ("HEAD".to_owned(), None),
            (String::new(), None),
        ] {
            assert_eq!(first(&output), expected, "{output:?}");
        }
    }

    #[test]
    fn git_gets_only_the_variables_that_it_needs() {
        let variables = [
            "GIT_DIR",
            "git_work_tree",
            "PATH",
            "Path",
            "PROD_KEY",
            "GIT",
            "é",
        ];
        let environment = Environment {
            variables: variables
                .map(|name| (name.to_owned(), String::new()))
                .into(),
            ..Environment::default()
        };
        let names: Vec<_> = inherited(&environment).map(|(name, _)| name).collect();
        assert_eq!(names, ["PATH", "Path"]);
    }
}
