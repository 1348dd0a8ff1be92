//! The identity of a repository that has a remote.

use std::fmt::Write as _;

use sha1::{Digest, Sha1};
use url::Url;

/// The identity of all clones of this remote. `None` if the remote is on the local disk or is not a valid address.
///
/// The transport does not matter: `https`, `ssh` and the `user@host:path` form of one repository give
/// the same identity.
pub(super) fn project_id(url: &str) -> Option<String> {
    let name = canonical(url)?;
    let digest = Sha1::digest(format!("git-remote:{name}"));
    Some(digest.iter().fold(String::new(), |mut hex, byte| {
        let _ = write!(hex, "{byte:02x}");
        hex
    }))
}

/// Returns `host/path` of a remote: the host in lower case without user and port, and the path without
/// leading and trailing slashes and without `.git`.
pub(crate) fn canonical(url: &str) -> Option<String> {
    let url = url.trim();
    match Url::parse(url) {
        Ok(parsed) if parsed.scheme() == "file" => None,
        Ok(parsed) if parsed.has_host() => join(parsed.host_str()?, parsed.path()),
        // `host:path` without a user parses as a URL with the host as its scheme.
        Ok(_) | Err(_) => scp(url),
    }
}

/// Parses the form `[user@]host:path`.
fn scp(url: &str) -> Option<String> {
    let (authority, path) = url.split_once(':')?;
    let host = authority
        .split_once('@')
        .map_or(authority, |(_user, host)| host);
    // A single letter before the colon is a drive. A slash before the colon means a path that contains
    // a colon. A second colon names one of git's transport programs.
    let plausible = host.len() > 1
        && !authority.contains('/')
        && !host.contains('@')
        && !path.starts_with(':')
        && !path.starts_with("//");
    plausible.then(|| join(host, path)).flatten()
}

fn join(host: &str, path: &str) -> Option<String> {
    let path = path.trim_start_matches('/');
    let path = path
        .strip_suffix(".git")
        .or_else(|| path.strip_suffix(".git/"))
        .unwrap_or(path)
        .trim_end_matches('/');
    (!host.is_empty() && !path.is_empty()).then(|| format!("{}/{path}", host.to_lowercase()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_remote_has_one_canonical_name() {
        for url in [
            "https://github.com/Owner/Repo.git",
            "https://github.com/Owner/Repo",
            "https://github.com/Owner/Repo/",
            "https://github.com/Owner/Repo.git/",
            "https://github.com//Owner/Repo",
            "https://GitHub.COM/Owner/Repo.git",
            "https://user:token@github.com:8443/Owner/Repo.git",
            "https://github.com/Owner/Repo.git?x=1#y",
            "http://github.com/Owner/Repo",
            "git://github.com/Owner/Repo.git",
            "ssh://git@github.com/Owner/Repo.git",
            "ssh://git@GITHUB.com:22/Owner/Repo.git",
            "git@github.com:Owner/Repo.git",
            "git@GitHub.com:/Owner/Repo.git",
            "github.com:Owner/Repo.git",
            "  git@github.com:Owner/Repo.git\n",
        ] {
            assert_eq!(
                canonical(url).as_deref(),
                Some("github.com/Owner/Repo"),
                "{url}"
            );
        }
    }

    #[test]
    fn paths_keep_case_depth_and_escapes() {
        for (url, name) in [
            ("https://h.example/a/B/c.git", "h.example/a/B/c"),
            ("https://h.example/a%20b", "h.example/a%20b"),
            ("https://h.example/a.git.git", "h.example/a.git"),
            ("https://h.example/~user/r", "h.example/~user/r"),
            ("git@h.example:~user/r.git", "h.example/~user/r"),
            ("git@h.example:22/r", "h.example/22/r"),
            ("ssh://git@[::1]:22/r", "[::1]/r"),
        ] {
            assert_eq!(canonical(url).as_deref(), Some(name), "{url}");
        }
    }

    #[test]
    fn local_and_meaningless_remotes_give_no_identity() {
        for url in [
            "",
            " ",
            "/srv/repo.git",
            "../repo",
            "repo",
            "file:///srv/repo.git",
            "file://host/srv/repo.git",
            "C:\\repo",
            "C:/repo",
            "https://github.com",
            "https://github.com/",
            "https://github.com/.git",
            "git@github.com:",
            "git@:path",
            ":path",
            "a/b:c",
            "https://",
            "ext::sh -c whatever",
        ] {
            assert_eq!(canonical(url), None, "{url:?}");
        }
    }

    #[test]
    fn the_identity_is_the_hash_of_the_name() {
        assert_eq!(
            project_id("git@github.com:Owner/Repo.git").as_deref(),
            Some("11f3c80b242022192a49fbe6fa3d06af97909468")
        );
        assert_ne!(
            project_id("https://h.example/A"),
            project_id("https://h.example/a")
        );
    }
}
