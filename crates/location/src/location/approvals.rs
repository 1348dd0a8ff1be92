//! The places for which answers of `always` are saved.
//!
//! The clones and worktrees of a repository that the host trusts share their approvals. All other approvals belong to one
//! directory: any repository can claim the identity of another one, and directories without an identity have different
//! owners.

use std::path::Path;

use crate::project::{GLOBAL_ID, Project};

/// Separates the id of a project from the directory. A second one marks a project that the host trusts. No id of a project
/// contains this character.
const BOUND: char = '\u{1f}';

/// The place for which approvals count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ApprovalPlace<'a> {
    /// The id of the project.
    pub project: &'a str,
    /// The directory. `None` for all clones and worktrees of the project.
    pub directory: Option<&'a str>,
    /// True if they count while the host trusts the project.
    pub is_trusted: bool,
}

impl<'a> ApprovalPlace<'a> {
    /// Reads the name of a place. `None` if approvals with this name count nowhere: earlier versions shared those of all
    /// directories outside of repositories, and wrote a digest instead of the directory.
    pub fn of(name: &'a str) -> Option<Self> {
        let Some((project, rest)) = name.split_once(BOUND) else {
            return (name != GLOBAL_ID).then_some(Self {
                project: name,
                directory: None,
                is_trusted: true,
            });
        };
        let trusted = rest.strip_prefix(BOUND);
        let directory = trusted.unwrap_or(rest);
        Path::new(directory).is_absolute().then_some(Self {
            project,
            directory: Some(directory),
            is_trusted: trusted.is_some(),
        })
    }

    /// Returns the beginning of the names of all places of a project that are bound to a directory.
    pub fn bound_prefix(project: &str) -> String {
        format!("{project}{BOUND}")
    }
}

/// Returns the name under which answers of `always` are saved for a Location.
pub(super) fn approvals(
    project: &Project,
    directory: &str,
    home: &Path,
    is_trusted: bool,
) -> String {
    if is_trusted && project.id != GLOBAL_ID {
        return project.id.clone();
    }
    let mut name = ApprovalPlace::bound_prefix(&project.id);
    if is_trusted {
        name.push(BOUND);
    }
    let worktree = project.worktree(Path::new(directory), home);
    name.push_str(&worktree.to_string_lossy());
    name
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::project::Vcs;

    #[test]
    fn only_a_trusted_repository_with_an_identity_shares_its_approvals() {
        let project = |id: &str, is_git: bool| Project {
            id: id.to_owned(),
            directory: if is_git { "/projects/repo" } else { "/" }.to_owned(),
            vcs: is_git.then(|| Vcs::Git {
                store: "/projects/repo/.git".to_owned(),
            }),
        };
        for (id, is_git, is_trusted, expected) in [
            ("abc", true, true, None),
            ("abc", true, false, Some("/projects/repo")),
            (GLOBAL_ID, true, true, Some("/projects/repo")),
            (GLOBAL_ID, true, false, Some("/projects/repo")),
            (GLOBAL_ID, false, true, Some("/projects/repo/below")),
            (GLOBAL_ID, false, false, Some("/projects/repo/below")),
        ] {
            let name = approvals(
                &project(id, is_git),
                "/projects/repo/below",
                Path::new("/home/u"),
                is_trusted,
            );
            let place = ApprovalPlace {
                project: id,
                directory: expected,
                is_trusted,
            };
            assert_eq!(ApprovalPlace::of(&name), Some(place), "{name:?}");
        }
    }

    #[test]
    fn names_of_earlier_versions_count_nowhere() {
        for name in [GLOBAL_ID, "global\u{1f}0123abcd", "abc\u{1f}0123abcd"] {
            assert_eq!(ApprovalPlace::of(name), None, "{name:?}");
        }
    }
}
