//! The directory for the clone of a git repository.

use std::path::PathBuf;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use url::Url;

use crate::project::canonical_remote;
use crate::secret::shown_address;

/// The host of a repository that is named only by owner and name.
const USUAL_HOST: &str = "github.com";

/// The schemes of addresses. For any other one, Git would run a program of the machine that has its name.
const SCHEMES: [&str; 4] = ["https", "http", "ssh", "git"];

/// The characters of a branch that are escaped in the name of a directory.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'_')
    .remove(b'.')
    .remove(b'~');

/// Returns the directory of a clone, relative to the directory of all clones: `host/path`, with
/// `@branch` unless it is the default branch.
///
/// A repository is named `owner/name` or `github:owner/name`, `host/path`, `user@host:path`, or by a
/// URL. Fails for a local repository, which already has a directory.
pub(super) fn directory(repository: &str, branch: Option<&str>) -> Result<PathBuf, &'static str> {
    let address = Url::parse(repository.trim()).ok();
    if address.is_some_and(|it| it.has_host() && !SCHEMES.contains(&it.scheme())) {
        return Err("its address must begin with https://, http://, ssh:// or git://");
    }
    let place = place(repository.trim()).ok_or(
        "its repository must be named as owner/name, host/path, user@host:path or by an address",
    )?;
    let (host, path) = place.split_once('/').unwrap_or((&place, ""));
    let is_host_name = |it: char| it.is_ascii_alphanumeric() || ".-_".contains(it);
    let is_name = |segment: &str| {
        !matches!(segment, "" | "." | "..")
            && !segment.contains(['\\', ':'])
            && !segment.contains(char::is_control)
    };
    let is_safe = is_name(host) && host.chars().all(is_host_name) && path.split('/').all(is_name);
    if !is_safe {
        return Err("its repository has a host or a path that cannot be names of directories");
    }
    match branch {
        None => Ok(PathBuf::from(place)),
        Some("") => Err("its branch is empty; leave it out to have the default one"),
        Some(branch) => {
            let branch = utf8_percent_encode(branch, ESCAPED);
            Ok(PathBuf::from(format!("{place}@{branch}")))
        }
    }
}

/// Returns the address of a repository, in a form that Git understands.
pub(super) fn address(repository: &str) -> String {
    let repository = repository.trim();
    if let Some(path) = repository.strip_prefix("github:") {
        return format!("https://{USUAL_HOST}/{path}");
    }
    let first = repository.split('/').next().unwrap_or_default();
    if repository.contains(':') {
        repository.to_owned()
    } else if is_host(first) {
        format!("https://{repository}")
    } else {
        format!("https://{USUAL_HOST}/{repository}")
    }
}

/// The name of the repository, or its URL without the parts that may be secret.
pub(super) fn shown(repository: &str) -> String {
    match Url::parse(repository) {
        Ok(url) if url.has_host() => shown_address(&url),
        _ => repository.to_owned(),
    }
}

/// Returns `host/path` of a repository.
fn place(repository: &str) -> Option<String> {
    if let Some(path) = repository.strip_prefix("github:") {
        return canonical_remote(&format!("https://{USUAL_HOST}/{path}"));
    }
    if repository.contains(':') {
        return canonical_remote(repository);
    }
    let (first, rest) = repository.split_once('/')?;
    if is_host(first) {
        return canonical_remote(&format!("https://{repository}"));
    }
    let name = rest.trim_end_matches('/');
    let is_owner_and_name = !name.is_empty() && !name.contains('/');
    is_owner_and_name
        .then(|| canonical_remote(&format!("https://{USUAL_HOST}/{first}/{name}")))
        .flatten()
}

/// True if a name without a scheme begins with a host. Names of owners contain no dots.
fn is_host(name: &str) -> bool {
    name.contains('.') || name == "localhost"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_without_an_address_has_one_over_https() {
        for (name, expected) in [
            ("owner/Repo", "https://github.com/owner/Repo"),
            ("github:owner/Repo", "https://github.com/owner/Repo"),
            ("gitlab.com/a/b/c", "https://gitlab.com/a/b/c"),
            (
                "git@github.com:owner/Repo.git",
                "git@github.com:owner/Repo.git",
            ),
            ("ssh://git@h.example/a", "ssh://git@h.example/a"),
        ] {
            assert_eq!(address(name), expected);
        }
    }

    #[test]
    fn all_names_of_a_repository_give_the_same_directory() {
        for name in [
            "owner/Repo",
            "owner/Repo.git",
            " owner/Repo/ ",
            "github:owner/Repo",
            "github.com/owner/Repo",
            "GitHub.com/owner/Repo.git",
            "git@github.com:owner/Repo.git",
            "https://github.com/owner/Repo",
            "https://user:token@github.com:8443/owner/Repo.git?a#b",
            "ssh://git@github.com/owner/Repo",
            "git://github.com/owner/Repo",
        ] {
            let expected = Ok(PathBuf::from("github.com/owner/Repo"));
            assert_eq!(directory(name, None), expected, "{name}");
        }
    }

    #[test]
    fn hosts_paths_and_branches_are_separate() {
        for (name, branch, expected) in [
            ("gitlab.com/a/b/c", None, "gitlab.com/a/b/c"),
            ("localhost/a/b", None, "localhost/a/b"),
            ("a@h.example:~b/c", None, "h.example/~b/c"),
            ("a/b", Some("main"), "github.com/a/b@main"),
            ("a/b", Some("feature/x y"), "github.com/a/b@feature%2Fx%20y"),
            ("a/b", Some("../../x"), "github.com/a/b@..%2F..%2Fx"),
            ("a/b", Some("ä\n"), "github.com/a/b@%C3%A4%0A"),
        ] {
            assert_eq!(directory(name, branch), Ok(PathBuf::from(expected)));
        }
    }

    #[test]
    fn secrets_of_addresses_are_not_shown() {
        for (name, shown) in [
            ("https://u:sk-1@h.example/a", "https://h.example/a"),
            ("https://sk-1@h.example/a", "https://h.example/a"),
            ("https://h.example/a?token=sk-1#sk-2", "https://h.example/a"),
            ("ssh://git:sk-1@h.example/a", "ssh://git@h.example/a"),
            ("git@h.example:a/b", "git@h.example:a/b"),
            ("h.example/a/b", "h.example/a/b"),
            ("a/b", "a/b"),
        ] {
            assert_eq!(super::shown(name), shown);
        }
    }

    #[test]
    fn a_text_that_is_no_remote_repository_is_refused() {
        let form = "its repository must be named as owner/name, host/path, user@host:path or by an address";
        let unsafe_name = "its repository has a host or a path that cannot be names of directories";
        for (name, expected) in [
            ("", form),
            ("repo", form),
            ("a/b/c", form),
            ("/a/b", form),
            ("file:///a/b", form),
            ("C:/a/b", form),
            ("a/", form),
            ("../b", unsafe_name),
            ("a/..", form),
            ("a/%2e%2e", form),
            ("github:", form),
            ("ext::sh -c x", form),
            ("own::h.example/a", form),
            ("git@h.example:../../etc", unsafe_name),
            ("git@h.example:a//b", unsafe_name),
            ("git@h.example:a\\b", unsafe_name),
            ("git@h.example:a\nb", unsafe_name),
            ("git@..:a/b", unsafe_name),
            ("https://[::1]/a/b", unsafe_name),
        ] {
            assert_eq!(directory(name, None), Err(expected), "{name:?}");
        }
        for name in [
            "ext://h.example/a",
            "file://h.example/a",
            "ftp://h.example/a/b",
            "git+ssh://h.example/a",
            "own://h.example/a",
        ] {
            let expected = "its address must begin with https://, http://, ssh:// or git://";
            assert_eq!(directory(name, None), Err(expected), "{name}");
        }
        let branch = "its branch is empty; leave it out to have the default one";
        assert_eq!(directory("a/b", Some("")), Err(branch));
    }
}
