//! Clones of Git repositories: shallow, without tags and submodules.

use std::path::{Path, PathBuf};
use std::time::Duration;
use std::{fs, io};

use sha1::{Digest, Sha1};
use tokio::time::{MissedTickBehavior, interval};
use url::Url;

use crate::copy::{Access, Copy, Made};
use crate::folder::Unfinished;
use crate::git::GitCommand;

/// Number of commits that a clone contains.
const DEPTH: &str = "100";

/// Maximum size of the received objects of a clone, in bytes.
const MAX_BYTES: u64 = 1024 * 1024 * 1024;

/// Time between two checks of the size.
const CHECK_INTERVAL: Duration = Duration::from_secs(1);

/// Makes a clone, or replaces it if the branch has a new commit.
///
/// A directory that the host did not clone itself is left alone: a user may have put it there. A clone is never
/// updated in place: its configuration could make Git run programs, and a model may have changed it.
///
/// # Errors
///
/// Returns the reason as a part of a sentence without secrets.
pub(crate) async fn update(
    access: &Access,
    address: &str,
    branch: Option<&str>,
    copy: &Copy,
) -> Result<Made, String> {
    let Copy {
        directory, work, ..
    } = copy.clone();
    let record = Record::of(&work, &directory);
    let recorded = record.read();
    if directory.exists() && recorded.is_none() {
        return Ok(Made::Kept);
    }
    let shown = |reason: String| without_secret(&reason, address);
    let newest = newest(access, address, branch, &work)
        .await
        .map_err(shown)?;
    if directory.exists() && recorded.as_deref() == Some(&*newest) {
        return Ok(Made::Kept);
    }
    let unfinished = Unfinished::create(&work).map_err(|error| error.to_string())?;
    clone(access, address, branch, unfinished.path())
        .await
        .map_err(shown)?;
    // A record without a commit says that the directory belongs to the host, and that its content may be old.
    let put = move || {
        record.write("")?;
        unfinished.put(CLONE, &work, &directory)?;
        record.write(&newest)
    };
    let put = opencode_log::spawn_blocking(put).await;
    put.map_err(io::Error::other)
        .flatten()
        .map_err(|error| format!("its directory cannot be replaced: {error}"))?;
    Ok(Made::Replaced)
}

/// Name of a new clone in its temporary folder.
const CLONE: &str = "clone";

/// Returns the newest commit of a branch.
async fn newest(
    access: &Access,
    address: &str,
    branch: Option<&str>,
    work: &Path,
) -> Result<String, String> {
    let wanted = branch.unwrap_or("HEAD");
    let arguments = ["ls-remote", "--exit-code", "--", address, wanted];
    fs::create_dir_all(work).map_err(|error| error.to_string())?;
    let command = GitCommand::new(&arguments, work, &access.variables);
    let listed = command.run().await?;
    let commit = listed.split_whitespace().next().unwrap_or_default();
    if commit.len() < 40 || !commit.bytes().all(|it| it.is_ascii_hexdigit()) {
        return Err("it has no such branch".to_owned());
    }
    Ok(commit.to_owned())
}

async fn clone(
    access: &Access,
    address: &str,
    branch: Option<&str>,
    folder: &Path,
) -> Result<(), String> {
    let mut arguments = vec![
        "clone",
        "--quiet",
        "--no-tags",
        "--single-branch",
        "--depth",
        DEPTH,
    ];
    if let Some(branch) = branch {
        arguments.extend(["--branch", branch]);
    }
    arguments.extend(["--", address, CLONE]);
    let command = GitCommand::new(&arguments, folder, &access.variables);
    tokio::select! {
        cloned = command.run() => cloned.map(drop),
        reason = exceeds(folder.join(CLONE)) => Err(reason),
    }
}

/// Returns when the objects of a clone are larger than the limit.
async fn exceeds(clone: PathBuf) -> String {
    let packs = clone.join(".git/objects/pack");
    let mut checks = interval(CHECK_INTERVAL);
    checks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        checks.tick().await;
        let packs = packs.clone();
        let bytes = opencode_log::spawn_blocking(move || size(&packs)).await;
        if bytes.is_ok_and(|bytes| bytes > MAX_BYTES) {
            return format!("it has more than {MAX_BYTES} bytes");
        }
    }
}

fn size(folder: &Path) -> u64 {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .filter_map(|entry| Some(entry.metadata().ok()?.len()))
        .sum()
}

/// The file that names the commit of a clone. It is outside of the clone, which a model may change.
struct Record(PathBuf);

impl Record {
    fn of(work: &Path, directory: &Path) -> Self {
        let hash = Sha1::digest(directory.as_os_str().as_encoded_bytes());
        Self(work.join(format!("{hash:x}.commit")))
    }

    fn read(&self) -> Option<String> {
        fs::read_to_string(&self.0).ok()
    }

    fn write(&self, commit: &str) -> io::Result<()> {
        fs::write(&self.0, commit)
    }
}

/// Replaces an address with a secret in a message.
fn without_secret(message: &str, address: &str) -> String {
    let Ok(mut shown) = Url::parse(address) else {
        return message.to_owned();
    };
    let mut secrets = vec![address.to_owned(), shown.as_str().to_owned()];
    secrets.extend(shown.password().map(str::to_owned));
    let _ = shown.set_password(None);
    if matches!(shown.scheme(), "http" | "https") {
        let _ = shown.set_username("");
    }
    shown.set_query(None);
    shown.set_fragment(None);
    let mut text = message.to_owned();
    for secret in &secrets[..2] {
        text = text.replace(secret.as_str(), shown.as_str());
    }
    for secret in secrets[2..].iter().filter(|it| !it.is_empty()) {
        text = text.replace(secret.as_str(), "***");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_contain_no_secret_of_an_address() {
        for (address, message, expected) in [
            (
                "https://u:key@h.test/a",
                "at 'https://u:key@h.test/a' no",
                "at 'https://h.test/a' no",
            ),
            (
                "https://key@h.test/a",
                "at https://key@h.test/a",
                "at https://h.test/a",
            ),
            (
                "https://u:key@h.test/a",
                "key was refused",
                "*** was refused",
            ),
            (
                "git@h.test:a/b",
                "git@h.test:a/b is gone",
                "git@h.test:a/b is gone",
            ),
        ] {
            assert_eq!(without_secret(message, address), expected);
        }
    }
}
