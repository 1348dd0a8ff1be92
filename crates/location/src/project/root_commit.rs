//! The identity of a repository without a remote: its first root commit.

use std::collections::HashMap;
use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

use opencode_git::first_root_commit;
use parking_lot::Mutex;

use super::repository::Repository;

/// Time limit for the walk through the history. A repository that needs more time has no identity of
/// its own until the next attempt.
const TIME_LIMIT: Duration = Duration::from_secs(10);

/// Maximum number of cached repositories. A dropped entry only costs another walk of its history.
const MAX_REMEMBERED: usize = 256;

/// Root commits by git directory. A root commit never changes, and finding it requires a walk of the
/// whole history.
#[derive(Default)]
pub(super) struct RootCommits {
    /// Locked for a lookup or an insertion, never during a walk.
    known: Mutex<HashMap<String, String>>,
}

impl RootCommits {
    /// The lexicographically first root commit of HEAD. `None` for a repository without commits, or if
    /// its history cannot be read within the time limit.
    pub(super) async fn get(&self, repository: &Repository) -> Option<String> {
        if let Some(id) = self.known.lock().get(&repository.common_dir) {
            return Some(id.clone());
        }
        let id = match find(repository.clone()).await {
            Ok(id) => id?,
            Err(error) => {
                tracing::warn!(directory = repository.root, %error, "the history of the repository could not be read; the project gets no identity of its own");
                return None;
            }
        };
        let mut known = self.known.lock();
        if known.len() >= MAX_REMEMBERED {
            known.clear();
        }
        known.insert(repository.common_dir.clone(), id.clone());
        Some(id)
    }
}

async fn find(repository: Repository) -> io::Result<Option<String>> {
    let deadline = Instant::now() + TIME_LIMIT;
    let find = move || {
        let common_dir = Path::new(&repository.common_dir);
        first_root_commit(&repository.git_dir, common_dir, deadline)
    };
    let found = opencode_log::spawn_blocking(find).await;
    let id = found.map_err(io::Error::other)??;
    Ok(id.map(|id| id.to_string()))
}
