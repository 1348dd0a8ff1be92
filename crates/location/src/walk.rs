//! Walking over everything below a directory, by several threads, with the rules of ignore files.
//!
//! The rules are those of `ripgrep`: `.gitignore` within a repository, `.git/info/exclude`, `.ignore`
//! and `.rgignore`, those of the directories above included. The excludes of a user's Git
//! configuration do not count. Links are not followed.

use std::{
    fs,
    io::{self, Read},
    path::{Path, PathBuf},
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
        mpsc::{TrySendError, sync_channel},
    },
    thread::{self, available_parallelism},
};

use ignore::{DirEntry, WalkBuilder, WalkState};
use opencode_handles::{open_file, refuse_database};
use opencode_schema::file_system::FileSystemEntryType;
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio_util::sync::CancellationToken;

/// How many walks run at once in a process, each with its threads. Others wait.
const MAX_WALKS: usize = 8;

const MAX_THREADS: usize = 8;

/// Paths that wait for a thread.
const MAX_WAITING: usize = 256;

/// The largest ignore file that is read. Its patterns are compiled, which takes several hundred times
/// as much memory.
const MAX_IGNORE_BYTES: u64 = 64 * 1024;

/// The largest file that says where a repository's Git directory is.
const MAX_POINTER_BYTES: u64 = 8192;

static WALKS: Semaphore = Semaphore::const_new(MAX_WALKS);

/// Waits until a walk may begin. The permit belongs to the work that blocks, not to who waits for it.
pub async fn permit() -> Option<SemaphorePermit<'static>> {
    WALKS.acquire().await.ok()
}

/// A walk over everything below `root`, an absolute path, that is neither hidden nor ignored, without `.git`.
pub fn below(root: &Path) -> io::Result<WalkBuilder> {
    if !has_safe_rules(root) {
        return Err(io::Error::other(
            "its ignore files, or those of its repository, are larger than 64 KiB, no regular files, or the open database",
        ));
    }
    let mut builder = WalkBuilder::new(root);
    builder
        .add_custom_ignore_filename(".rgignore")
        .git_global(false)
        .parents(root.ancestors().skip(1).all(has_safe_rules))
        .filter_entry(|entry| {
            let is_directory = entry.file_type().is_some_and(|kind| kind.is_dir());
            if entry.depth() > 0 && entry.file_name() == ".git" {
                return false;
            }
            !is_directory || has_safe_rules(entry.path())
        });
    Ok(builder)
}

/// Walks, with a visitor for each thread, which is given paths relative to the root. Ends early when
/// a visitor quits or the walk is cancelled; what cannot be read is left out.
///
/// This thread lists the directories, and visits what it found when the other threads are busy. So
/// the walk ends also where the system gives it no other thread.
pub fn run<V>(
    builder: &WalkBuilder,
    root: &Path,
    cancel: &CancellationToken,
    visitor: impl Fn() -> V,
) where
    V: FnMut(&Path, FileSystemEntryType) -> WalkState + Send,
{
    let is_over = AtomicBool::new(false);
    let visit = |visit: &mut V, (path, kind): &Found| {
        let is_ended = is_over.load(Ordering::Relaxed) || cancel.is_cancelled();
        if !is_ended && visit(path, *kind) == WalkState::Quit {
            is_over.store(true, Ordering::Relaxed);
        }
    };
    let (sender, receiver) = sync_channel::<Found>(MAX_WAITING);
    let receiver = Mutex::new(receiver);
    let next = || {
        receiver
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .recv()
    };
    let threads = available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        for _ in 1..threads.min(MAX_THREADS) {
            let mut visitor = visitor();
            let work = move || {
                while let Ok(found) = next() {
                    visit(&mut visitor, &found);
                }
            };
            if let Err(error) = thread::Builder::new().spawn_scoped(scope, work) {
                tracing::debug!(%error, "a walk goes on with fewer threads");
                break;
            }
        }
        let mut own = visitor();
        // Owned, so that the other threads end with the list, also when a visitor panics.
        let sender = sender;
        for entry in builder.build() {
            if is_over.load(Ordering::Relaxed) || cancel.is_cancelled() {
                break;
            }
            if let Some(found) = found(entry, root)
                && let Err(TrySendError::Full(found)) = sender.try_send(found)
            {
                visit(&mut own, &found);
            }
        }
        drop(sender);
        while let Ok(found) = next() {
            visit(&mut own, &found);
        }
    });
}

/// A path relative to the root, and what is there.
type Found = (PathBuf, FileSystemEntryType);

fn found(entry: Result<DirEntry, ignore::Error>, root: &Path) -> Option<Found> {
    let entry = entry.ok()?;
    let kind = match entry.file_type()? {
        kind if kind.is_file() => FileSystemEntryType::File,
        kind if kind.is_dir() => FileSystemEntryType::Directory,
        _ => return None,
    };
    let relative = entry.path().strip_prefix(root).ok()?;
    let is_root = relative.as_os_str().is_empty();
    (!is_root).then(|| (relative.to_owned(), kind))
}

/// A relative path as bytes, with `/` between the names, which is what results are sorted by.
pub fn sort_key(relative: &Path) -> Vec<u8> {
    let bytes = relative.as_os_str().as_encoded_bytes();
    if cfg!(windows) {
        let separated = |byte: &u8| if *byte == b'\\' { b'/' } else { *byte };
        bytes.iter().map(separated).collect()
    } else {
        bytes.to_vec()
    }
}

/// Whether the ignore files of a directory can be read in bounded time. The walk opens them without a
/// look, and a FIFO of such a name would hold it for ever.
fn has_safe_rules(directory: &Path) -> bool {
    let is_safe = |path: PathBuf| match fs::metadata(path) {
        // To read a directory fails at once.
        Ok(found) if found.is_dir() => true,
        Ok(found) => {
            found.is_file() && found.len() <= MAX_IGNORE_BYTES && refuse_database(&found).is_ok()
        }
        Err(_) => true,
    };
    [".gitignore", ".ignore", ".rgignore"]
        .iter()
        .all(|name| is_safe(directory.join(name)))
        && git_directory(&directory.join(".git"))
            .is_ok_and(|git| git.is_none_or(|git| is_safe(git.join("info/exclude"))))
}

/// The Git directory of which the rules are read: in a linked worktree that of the main one.
fn git_directory(named: &Path) -> io::Result<Option<PathBuf>> {
    let Ok(found) = fs::metadata(named) else {
        return Ok(None);
    };
    if !found.is_file() {
        return Ok(Some(named.to_owned()));
    }
    let Some(linked) = first_line(named)? else {
        return Ok(None);
    };
    let Some(linked) = linked.strip_prefix("gitdir: ").map(PathBuf::from) else {
        return Ok(None);
    };
    let Some(common) = first_line(&linked.join("commondir"))? else {
        return Ok(None);
    };
    Ok(Some(linked.join(common)))
}

/// The first line of a small file; nothing if there is none. Fails where reading may not end.
fn first_line(path: &Path) -> io::Result<Option<String>> {
    match fs::metadata(path) {
        Ok(found) if found.is_file() && found.len() <= MAX_POINTER_BYTES => {}
        Ok(_) => return Err(io::Error::other("not a small file")),
        Err(_) => return Ok(None),
    }
    let mut text = String::new();
    match open_file(path)?
        .take(MAX_POINTER_BYTES)
        .read_to_string(&mut text)
    {
        Ok(_) => Ok(text.lines().next().map(str::to_owned)),
        Err(_) => Ok(None),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;

    use super::*;

    #[test]
    fn a_walk_ends_when_it_is_cancelled() {
        let temp = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(temp.path()).unwrap();
        for number in 0..500 {
            fs::write(root.join(number.to_string()), "").unwrap();
        }
        for (cancelled_after, expected) in [(0, 0..=0), (1, 1..=MAX_THREADS), (1000, 500..=500)] {
            let cancel = CancellationToken::new();
            let visited = AtomicUsize::new(0);
            if cancelled_after == 0 {
                cancel.cancel();
            }
            run(&below(&root).unwrap(), &root, &cancel, || {
                |_: &Path, _| {
                    if visited.fetch_add(1, Ordering::SeqCst) + 1 == cancelled_after {
                        cancel.cancel();
                    }
                    WalkState::Continue
                }
            });
            let visited = visited.into_inner();
            assert!(
                expected.contains(&visited),
                "{visited} after {cancelled_after}"
            );
        }
    }
}
