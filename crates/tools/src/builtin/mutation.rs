//! Changes files, one change at a time for each file.

use std::{
    collections::BTreeSet,
    hash::{DefaultHasher, Hash, Hasher},
    io,
    path::{Path, PathBuf},
    sync::{Arc, LazyLock},
};

use tokio::sync::{Mutex, OwnedMutexGuard};

use super::blocking::blocking;
use crate::contract::tool::ToolContext;
use crate::failure::ToolFailure;

/// Locks that files share by a hash of their path, so that no lock must be removed. If two files share
/// a lock, the only effect is a wait.
static TURNS: LazyLock<[Arc<Mutex<()>>; 64]> =
    LazyLock::new(|| std::array::from_fn(|_| Arc::default()));

/// Runs `work` on a thread that may block, as the only change of these files in the process. After it
/// has started it runs to its end, even if the call is interrupted. A change of a file that decides what the host does is
/// noted first.
pub(crate) async fn change<'a, T: Send + 'static>(
    context: &ToolContext,
    files: impl Iterator<Item = &'a Path>,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, ToolFailure> {
    let files: Vec<PathBuf> = files.map(Path::to_owned).collect();
    let turns = turns(files.iter().map(PathBuf::as_path)).await;
    context.begin_change()?;
    let guarded = Arc::clone(&context.files.guarded);
    let changed = blocking(move || {
        let _turns = turns;
        for file in &files {
            guarded.note_change(file)?;
        }
        Ok(work())
    });
    let changed: io::Result<T> = changed.await?;
    changed.map_err(|error| {
        ToolFailure::new(format!(
            "Nothing was changed: the host cannot note the change of a file that decides what it does: {error}"
        ))
    })
}

/// Waits for the locks of all files. Every call locks in the same order, so there is no deadlock.
async fn turns<'a>(files: impl Iterator<Item = &'a Path>) -> Vec<OwnedMutexGuard<()>> {
    let shared: BTreeSet<usize> = files.map(share).collect();
    let mut turns = Vec::new();
    for share in shared {
        turns.push(Arc::clone(&TURNS[share]).lock_owned().await);
    }
    turns
}

fn share(file: &Path) -> usize {
    let mut hasher = DefaultHasher::new();
    file.hash(&mut hasher);
    (hasher.finish() % TURNS.len() as u64) as usize
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;

    use super::*;

    fn now(files: &[&str]) -> Option<Vec<OwnedMutexGuard<()>>> {
        turns(files.iter().map(Path::new)).now_or_never()
    }

    #[test]
    fn one_change_of_a_file_runs_at_a_time() {
        // If two files shared a lock, the test would wait forever, so this is checked first.
        let [a, b] = ["/mutation/a", "/mutation/b"];
        assert_ne!(share(Path::new(a)), share(Path::new(b)));
        let first = now(&[a, a]).expect("no other change runs");
        assert!(now(&[a]).is_none());
        assert!(now(&[b, a]).is_none());
        let second = now(&[b]).expect("no change waits for it");
        assert!(now(&[b, a]).is_none());
        drop((first, second));
        assert!(now(&[b, a]).is_some());
    }
}
