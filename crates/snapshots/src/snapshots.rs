//! The asynchronous interface of snapshots.

use std::{
    collections::BTreeMap,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use opencode_schema::session::FileDiff;
use parking_lot::Mutex;

use crate::engine::Engine;
use crate::engine::contents::FileEntries;
use crate::entry::{Capture, Entry, SweepResult};
use crate::erase::{Erased, Erasure};
use crate::error::SnapshotError;
use crate::options::SnapshotOptions;
use crate::{erase, sweep};

/// Snapshots of a Git worktree. Clones share all state and run one operation at a time.
///
/// All operations block on the disk, so they run on the blocking threads of `tokio`. An operation
/// that has begun runs to its end, even if the caller drops the future.
#[derive(Clone)]
pub struct Snapshots(Arc<Shared>);

struct Shared {
    engine: Mutex<Engine>,
    /// Start time of the running operation.
    began: Mutex<Option<Instant>>,
    /// Number of operations that wait for the engine. A review stops when it is not zero.
    waiting: AtomicUsize,
    /// Set when the host closes.
    ended: Arc<AtomicBool>,
}

impl Snapshots {
    /// Creates the object without access to any file.
    pub fn new(options: SnapshotOptions) -> Self {
        let ended = Arc::<AtomicBool>::default();
        Self(Arc::new(Shared {
            engine: Mutex::new(Engine::new(options, Arc::clone(&ended))),
            began: Mutex::default(),
            waiting: AtomicUsize::new(0),
            ended,
        }))
    }

    /// Stops the running capture and refuses later ones with [`SnapshotError::Ended`]. Returns when
    /// all writes have ended.
    pub async fn end(&self) {
        self.0.ended.store(true, Ordering::Relaxed);
        let shared = Arc::clone(&self.0);
        // An error means that the runtime is shutting down and has already ended its threads.
        let _ = opencode_log::spawn_blocking(move || {
            let engine = shared.engine.lock();
            if !engine.options.owner.is_lasting {
                engine.options.owner.remove_mark(&engine.options.store);
            }
        })
        .await;
    }

    /// Returns the duration of the running operation so far, or zero if none is running. New
    /// operations begin after it.
    pub fn busy_for(&self) -> Duration {
        let began = self.0.began.lock();
        began.map_or(Duration::ZERO, |began| began.elapsed())
    }

    /// Captures all files of the scope that no rule ignores. Does not read unchanged files again.
    pub async fn capture(&self) -> Result<Capture, SnapshotError> {
        let capture = |engine: &mut Engine| Ok((engine.capture()?, engine.is_review_due()));
        let (capture, is_review_due) = self.run(capture).await?;
        if is_review_due {
            self.review();
        }
        Ok(capture)
    }

    /// Checks all files in the background, so that the next capture has the changes that the watch
    /// does not report.
    fn review(&self) {
        let shared = Arc::clone(&self.0);
        // The review records its results as it runs, and stops when an operation waits.
        drop(opencode_log::spawn_blocking(move || {
            if let Some(mut engine) = shared.engine.try_lock() {
                let is_ended = || shared.ended.load(Ordering::Relaxed);
                engine.review(|| is_ended() || shared.waiting.load(Ordering::Relaxed) > 0);
            }
        }));
    }

    /// Returns the paths of files that differ between two snapshots, relative to the worktree and
    /// sorted by bytes. Omits files that are ignored now.
    pub async fn files(&self, from: &str, to: &str) -> Result<Vec<String>, SnapshotError> {
        let (from, to) = (from.to_owned(), to.to_owned());
        self.run(move |engine| engine.files(&from, &to)).await
    }

    /// Returns the differences of those `paths` that differ between two snapshots, sorted by bytes,
    /// each with the text of `git diff`. A binary file has no text and zero counts.
    ///
    /// All texts together have at most `most` bytes. If a text does not fit, it is omitted and its
    /// file has only its counts.
    pub async fn diff(
        &self,
        from: &str,
        to: &str,
        paths: &[String],
        most: usize,
    ) -> Result<Vec<FileDiff>, SnapshotError> {
        let (from, to, paths) = (from.to_owned(), to.to_owned(), paths.to_vec());
        self.run(move |engine| engine.diff(&from, &to, &paths, most))
            .await
    }

    /// Gives each path the content and the mode that it has in its snapshot. Removes paths that are
    /// not in their snapshot, and directories that become empty.
    ///
    /// Changes nothing outside the worktree, even if links are created at the same time. Never
    /// removes a directory that is not empty. An obstructed path stays unchanged and is reported;
    /// all other paths are still restored. Ignored files are not removed.
    ///
    /// A path in `seen` must have the value that [`currents`](Self::currents) returned. If it has
    /// changed since, it stays unchanged and is reported.
    pub async fn restore(
        &self,
        plan: &BTreeMap<String, String>,
        seen: &BTreeMap<String, Option<Entry>>,
    ) -> Result<(), SnapshotError> {
        let (plan, seen) = (plan.clone(), seen.clone());
        self.run(move |engine| engine.restore(&plan, &seen)).await
    }

    /// Returns the files of a snapshot at these paths, with `None` for each path without a file.
    pub async fn contents(
        &self,
        tree: &str,
        paths: &[String],
    ) -> Result<FileEntries, SnapshotError> {
        let (tree, paths) = (tree.to_owned(), paths.to_vec());
        let contents = move |engine: &mut Engine| engine.contents(&tree, &paths);
        self.run(contents).await
    }

    /// Returns the current files of the worktree at these paths, with `None` for each path without
    /// a file. A file that no snapshot can contain, because it is over 64 MiB or unreadable, has
    /// the id zero.
    pub async fn currents(&self, paths: &[String]) -> Result<FileEntries, SnapshotError> {
        let paths = paths.to_vec();
        self.run(move |engine| engine.currents(&paths)).await
    }

    /// Returns the file of a snapshot at one path.
    pub async fn content(&self, tree: &str, path: &str) -> Result<Option<Entry>, SnapshotError> {
        only(self.contents(tree, &[path.to_owned()]).await?)
    }

    /// Returns the current file of the worktree at one path.
    pub async fn current(&self, path: &str) -> Result<Option<Entry>, SnapshotError> {
        only(self.currents(&[path.to_owned()]).await?)
    }

    /// Removes objects that were not captured or reused for `older_than` and that do not belong to
    /// the snapshots in `keep`. Call it about once an hour. One call removes at most 50,000 files,
    /// and captures continue meanwhile.
    ///
    /// `older_than` must be at least two days, because captures renew their objects only once a
    /// day. The store of a deleted worktree is emptied in the same way.
    pub async fn sweep(
        store: &Path,
        older_than: Duration,
        keep: &[String],
    ) -> Result<SweepResult, SnapshotError> {
        let (store, keep) = (store.to_owned(), keep.to_vec());
        blocking(move || sweep::sweep(&store, older_than, &keep)).await
    }

    /// Removes all objects that no snapshot needs that the erasure names, of any age. Captures wait only for one folder
    /// of the store at a time.
    ///
    /// # Errors
    ///
    /// `Busy` if a capture of another process takes long. An object that cannot be removed.
    pub async fn erase(store: &Path, erasure: Arc<Erasure>) -> Result<Erased, SnapshotError> {
        let store = store.to_owned();
        blocking(move || erase::erase(&store, &erasure)).await
    }

    async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Engine) -> Result<T, SnapshotError> + Send + 'static,
    ) -> Result<T, SnapshotError> {
        let shared = Arc::clone(&self.0);
        blocking(move || {
            shared.waiting.fetch_add(1, Ordering::Relaxed);
            let mut engine = shared.engine.lock();
            shared.waiting.fetch_sub(1, Ordering::Relaxed);
            shared.begin(Some(Instant::now()));
            let result = work(&mut engine);
            shared.begin(None);
            if matches!(result, Err(SnapshotError::Missing(_))) {
                engine.recheck_objects();
            }
            result
        })
        .await
    }
}

impl Shared {
    fn begin(&self, began: Option<Instant>) {
        *self.began.lock() = began;
    }
}

fn only(mut contents: FileEntries) -> Result<Option<Entry>, SnapshotError> {
    contents.pop().unwrap_or(Ok(None))
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, SnapshotError> + Send + 'static,
) -> Result<T, SnapshotError> {
    match opencode_log::spawn_blocking(work).await {
        Ok(result) => result,
        Err(error) => Err(SnapshotError::GivenUp(error.to_string())),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]
mod tests {
    use std::sync::mpsc;

    use std::path::PathBuf;

    use super::*;

    #[tokio::test(flavor = "multi_thread")]
    async fn snapshots_report_how_long_they_are_busy() {
        let snapshots = Snapshots::new(SnapshotOptions {
            store: PathBuf::new(),
            worktree: PathBuf::new(),
            scope: PathBuf::new(),
            private: Vec::new(),
            owner: crate::Owner {
                name: "a".to_owned(),
                is_lasting: true,
            },
            held: crate::HeldTrees::default(),
        });
        assert_eq!(snapshots.busy_for(), Duration::ZERO);
        let (begun, begins) = mpsc::channel();
        let (end, ends) = mpsc::channel::<()>();
        let working = snapshots.clone();
        let work = opencode_log::spawn(async move {
            let wait = move |_: &mut Engine| {
                begun.send(()).unwrap();
                ends.recv().unwrap();
                Ok(())
            };
            working.run(wait).await.unwrap();
        });
        begins.recv().unwrap();
        let early = snapshots.busy_for();
        assert!(snapshots.busy_for() > early, "{early:?}");
        end.send(()).unwrap();
        work.await.unwrap();
        assert_eq!(snapshots.busy_for(), Duration::ZERO);
    }
}
