//! The project of a directory: the repository that contains it, with an identity that all clones and
//! worktrees of that repository share.

mod git_config;
mod remote;
mod repository;
mod root_commit;

use std::path::{Component, Path, PathBuf};

use opencode_handles::read_text;
use opencode_schema::location::ProjectRef;

pub(crate) use remote::canonical as canonical_remote;

use crate::directory::lies_below;
use repository::Repository;
use root_commit::RootCommits;

/// The identity of all directories outside any repository, and of repositories without identifying data.
pub const GLOBAL_ID: &str = "global";

/// The root of the project for directories outside any repository.
const GLOBAL_DIRECTORY: &str = "/";

/// The project that contains a directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Project {
    /// Stable identity of the repository, or [`GLOBAL_ID`].
    pub id: String,
    /// The root of its worktree, or `/` outside any repository.
    pub directory: String,
    /// The version control system. `None` outside any repository.
    pub vcs: Option<Vcs>,
}

/// A version control system and the path of its data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Vcs {
    /// Git.
    Git {
        /// The git directory that all worktrees of the repository share.
        store: String,
    },
}

impl Project {
    /// The project of directories outside any repository.
    pub fn global() -> Self {
        Self {
            id: GLOBAL_ID.to_owned(),
            directory: GLOBAL_DIRECTORY.to_owned(),
            vcs: None,
        }
    }

    /// The path of `directory` relative to the project, with `/` between the names. Empty at its root.
    pub fn subpath(&self, directory: &str) -> String {
        let path = Path::new(directory);
        let below = match &self.vcs {
            Some(_) => path.strip_prefix(&self.directory).unwrap_or(Path::new("")),
            // Every path is below `/`, even if the root of its disk has a different name.
            None => path,
        };
        let names = below.components().filter_map(|component| match component {
            Component::Normal(name) => Some(name.to_string_lossy()),
            _ => None,
        });
        names.collect::<Vec<_>>().join("/")
    }

    /// True if an ancestor of one of the project's directories also belongs to the project.
    pub(crate) fn contains(&self, ancestor: &Path) -> bool {
        self.vcs.is_none() || ancestor.starts_with(&self.directory)
    }

    /// The directory that files of an untrusted project must not lead out of: the root of the
    /// repository. It is `directory` itself in two cases: outside any repository, because other users
    /// may have written the directories above, and in a repository that contains the home directory.
    pub(crate) fn worktree<'p>(&'p self, directory: &'p Path, home: &Path) -> &'p Path {
        let root = Path::new(&self.directory);
        let holds_home = !home.as_os_str().is_empty() && lies_below(home, root);
        match &self.vcs {
            Some(_) if !holds_home => root,
            _ => directory,
        }
    }
}

impl From<&Project> for ProjectRef {
    fn from(project: &Project) -> Self {
        Self {
            id: project.id.clone(),
            directory: project.directory.clone(),
        }
    }
}

/// Resolves directories to their projects.
#[derive(Default)]
pub struct Projects {
    root_commits: RootCommits,
}

impl Projects {
    /// Returns the project of a directory in normal form. The directory does not need to exist.
    ///
    /// Never fails: unreadable or malformed data counts as no repository or no identity.
    pub async fn resolve(&self, directory: &str) -> Project {
        let start = PathBuf::from(directory);
        let found = opencode_log::spawn_blocking(move || {
            let repository = repository::discover(&start)?;
            let id = recorded_id(&repository);
            Some((repository, id))
        });
        // The task fails only during shutdown of the runtime. The result is then not used.
        let Ok(Some((repository, id))) = found.await else {
            return Project::global();
        };
        let id = match id {
            Some(id) => Some(id),
            None => self.root_commits.get(&repository).await,
        };
        Project {
            id: id.unwrap_or_else(|| GLOBAL_ID.to_owned()),
            directory: repository.root,
            vcs: Some(Vcs::Git {
                store: repository.common_dir,
            }),
        }
    }
}

/// The identity from the repository's files: that of its remote, which clones share, or else the one
/// recorded in its git directory.
fn recorded_id(repository: &Repository) -> Option<String> {
    /// Much larger than any real configuration file.
    const MAX_CONFIG_BYTES: u64 = 1024 * 1024;
    let common = Path::new(&repository.common_dir);
    read_text(&common.join("config"), MAX_CONFIG_BYTES)
        .and_then(|text| git_config::origin_url(&text))
        .and_then(|url| remote::project_id(&url))
        .or_else(|| noted_id(common))
}

/// The identity in the file `opencode` of the git directory.
fn noted_id(common: &Path) -> Option<String> {
    /// An identity is a hash. A much longer file with this name has a different purpose.
    const MAX_ID_BYTES: u64 = 256;
    let text = read_text(&common.join("opencode"), MAX_ID_BYTES)?;
    let id = text.trim();
    let usable = !id.is_empty() && !id.chars().any(char::is_control);
    usable.then(|| id.to_owned())
}
