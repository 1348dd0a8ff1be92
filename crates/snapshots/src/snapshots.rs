//! The way in: operations that may be awaited.

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
use crate::engine::looks::Looks;
use crate::entry::{Capture, Entry, Swept};
use crate::error::SnapshotError;
use crate::options::SnapshotOptions;
use crate::sweep;

/// Snapshots of a Git worktree. Clones share everything, and do one thing at a time.
///
/// Everything here blocks on the disk and therefore runs where `tokio` has blocking work; what has
/// begun ends, even if nobody waits for it any more.
#[derive(Clone)]
pub struct Snapshots(Arc<Shared>);

struct Shared {
    engine: Mutex<Engine>,
    /// Since when it works, while it does.
    began: Mutex<Option<Instant>>,
    /// How many wait for the engine. What nobody waits for ends then.
    waiting: AtomicUsize,
    /// Set when the host closes.
    ended: Arc<AtomicBool>,
}

impl Snapshots {
    /// Touches nothing yet.
    pub fn new(options: SnapshotOptions) -> Self {
        let ended = Arc::<AtomicBool>::default();
        Self(Arc::new(Shared {
            engine: Mutex::new(Engine::new(options, Arc::clone(&ended))),
            began: Mutex::default(),
            waiting: AtomicUsize::new(0),
            ended,
        }))
    }

    /// Stops the capture that is under way, and refuses further ones with [`SnapshotError::Ended`].
    /// Returns once nothing is written any more.
    pub async fn end(&self) {
        self.0.ended.store(true, Ordering::Relaxed);
        let shared = Arc::clone(&self.0);
        // An error means that the runtime ends, and its threads with it.
        let _ = opencode_log::spawn_blocking(move || {
            drop(shared.engine.lock());
        })
        .await;
    }

    /// How long the work that is under way takes already; zero when there is none. What is asked for
    /// now begins after it.
    pub fn busy_for(&self) -> Duration {
        let began = self.0.began.lock();
        began.map_or(Duration::ZERO, |began| began.elapsed())
    }

    /// Captures all files of the scope that no rule ignores. What did not change since the last time
    /// is not read again.
    pub async fn capture(&self) -> Result<Capture, SnapshotError> {
        let capture = |engine: &mut Engine| Ok((engine.capture()?, engine.is_review_due()));
        let (capture, is_review_due) = self.run(capture).await?;
        if is_review_due {
            self.review();
        }
        Ok(capture)
    }

    /// Looks at everything while nobody waits, so that the next capture has what nobody tells.
    fn review(&self) {
        let shared = Arc::clone(&self.0);
        // What it finds is noted as it goes, and it stops for whoever comes.
        drop(opencode_log::spawn_blocking(move || {
            if let Some(mut engine) = shared.engine.try_lock() {
                let is_ended = || shared.ended.load(Ordering::Relaxed);
                engine.review(|| is_ended() || shared.waiting.load(Ordering::Relaxed) > 0);
            }
        }));
    }

    /// The paths of files that differ between two snapshots, relative to the worktree, in the order
    /// of their bytes. Those that are ignored now are left out.
    pub async fn files(&self, from: &str, to: &str) -> Result<Vec<String>, SnapshotError> {
        let (from, to) = (from.to_owned(), to.to_owned());
        self.run(move |engine| engine.files(&from, &to)).await
    }

    /// What became of those of `paths` that differ between two snapshots, in the order of their bytes,
    /// each with the text `git diff` has for it. A binary file has no text and no counts.
    ///
    /// All texts together have `most` bytes at most. One that does not fit is left out, and its file
    /// has its counts alone.
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

    /// Gives each path the content and the mode it has in a snapshot, and removes those that are not
    /// in theirs, together with directories that are empty then.
    ///
    /// Nothing outside of the worktree is touched, whatever links are put in place meanwhile. A
    /// directory that still holds something is never removed, and what is in the way is left and
    /// reported; all other paths are put back then, too. What the rules ignore is not removed.
    ///
    /// A path that `seen` names has to be what [`currents`](Self::currents) said of it: one that somebody
    /// changed since is left and reported, too.
    pub async fn restore(
        &self,
        plan: &BTreeMap<String, String>,
        seen: &BTreeMap<String, Option<Entry>>,
    ) -> Result<(), SnapshotError> {
        let (plan, seen) = (plan.clone(), seen.clone());
        self.run(move |engine| engine.restore(&plan, &seen)).await
    }

    /// The files that a snapshot has at these paths; nothing where there is none.
    pub async fn contents(&self, tree: &str, paths: &[String]) -> Result<Looks, SnapshotError> {
        let (tree, paths) = (tree.to_owned(), paths.to_vec());
        let contents = move |engine: &mut Engine| engine.contents(&tree, &paths);
        self.run(contents).await
    }

    /// The files that the worktree has at these paths at this moment; nothing where there is none. One
    /// that no snapshot can hold, because it is over 64 MiB or may not be read, has the id of zeros.
    pub async fn currents(&self, paths: &[String]) -> Result<Looks, SnapshotError> {
        let paths = paths.to_vec();
        self.run(move |engine| engine.currents(&paths)).await
    }

    /// The file that a snapshot has at one path.
    pub async fn content(&self, tree: &str, path: &str) -> Result<Option<Entry>, SnapshotError> {
        only(self.contents(tree, &[path.to_owned()]).await?)
    }

    /// The file that the worktree has at one path.
    pub async fn current(&self, path: &str) -> Result<Option<Entry>, SnapshotError> {
        only(self.currents(&[path.to_owned()]).await?)
    }

    /// Removes from a store what nobody captured or used again for `older_than`, but for what belongs
    /// to the snapshots in `keep`. To be called about once an hour; one call removes 50,000 objects at
    /// most, and captures go on meanwhile.
    ///
    /// `older_than` has to be two days at least: whoever captures looks after the objects at hand once
    /// a day only. A store whose worktree is gone is emptied in time, as all others are.
    pub async fn sweep(
        store: &Path,
        older_than: Duration,
        keep: &[String],
    ) -> Result<Swept, SnapshotError> {
        let (store, keep) = (store.to_owned(), keep.to_vec());
        blocking(move || sweep::sweep(&store, older_than, &keep)).await
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
                engine.doubt();
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

fn only(mut looks: Looks) -> Result<Option<Entry>, SnapshotError> {
    looks.pop().unwrap_or(Ok(None))
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
    async fn it_is_busy_while_it_works() {
        let snapshots = Snapshots::new(SnapshotOptions {
            store: PathBuf::new(),
            worktree: PathBuf::new(),
            scope: PathBuf::new(),
            private: Vec::new(),
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
