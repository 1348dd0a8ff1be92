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

/// Bytes of all ignore files that hold in one directory, its own and those above it. Their patterns are
/// compiled, which takes more than a hundred times as much memory.
const MAX_IGNORE_BYTES: u64 = 128 * 1024;

/// The largest file that says where a repository's Git directory is.
const MAX_POINTER_BYTES: u64 = 8192;

static WALKS: Semaphore = Semaphore::const_new(MAX_WALKS);

/// Waits until a walk may begin. The permit belongs to the work that blocks, not to who waits for it.
pub async fn permit() -> Option<SemaphorePermit<'static>> {
    WALKS.acquire().await.ok()
}

/// A walk over everything below `root`, an absolute path, that is neither hidden nor ignored, without `.git`.
pub fn below(root: &Path) -> io::Result<WalkBuilder> {
    let own = rules_bytes(root)
        .filter(|own| *own <= MAX_IGNORE_BYTES)
        .ok_or_else(|| {
            io::Error::other(
                "its ignore files, or those of its repository, are larger than 128 KiB, no regular files, or the open database",
            )
        })?;
    let above = root
        .ancestors()
        .skip(1)
        .map(rules_bytes)
        .sum::<Option<u64>>();
    let above = above.filter(|above| own + above <= MAX_IGNORE_BYTES);
    // What holds in the directories from the root to the newest one: a directory is entered before
    // the next one beside it is listed.
    let held = Mutex::new(vec![own + above.unwrap_or(0)]);
    let mut builder = WalkBuilder::new(root);
    builder
        .add_custom_ignore_filename(".rgignore")
        .git_global(false)
        .parents(above.is_some())
        .filter_entry(move |entry| {
            if entry.depth() == 0 {
                return true;
            }
            let is_directory = entry.file_type().is_some_and(|kind| kind.is_dir());
            entry.file_name() != ".git" && (!is_directory || has_room(&held, entry))
        });
    Ok(builder)
}

/// Whether the rules of a directory fit beside those above it, and notes them.
fn has_room(held: &Mutex<Vec<u64>>, directory: &DirEntry) -> bool {
    let Some(own) = rules_bytes(directory.path()) else {
        return false;
    };
    let mut held = held.lock().unwrap_or_else(PoisonError::into_inner);
    held.truncate(directory.depth());
    let all = own + held.last().copied().unwrap_or(0);
    held.push(all);
    all <= MAX_IGNORE_BYTES
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
    let threads = available_parallelism().map_or(1, usize::from);
    run_with(threads.min(MAX_THREADS) - 1, builder, root, cancel, visitor);
}

/// The same with so many other threads at most.
fn run_with<V>(
    others: usize,
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
    thread::scope(|scope| {
        for _ in 0..others {
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

/// Bytes of the ignore files of a directory; nothing if they cannot be read in bounded time. The walk
/// opens them without a look, and a FIFO of such a name would hold it for ever.
fn rules_bytes(directory: &Path) -> Option<u64> {
    let bytes_of = |path: PathBuf| match fs::metadata(path) {
        Ok(found) if found.is_file() => refuse_database(&found).ok().map(|()| found.len()),
        // To read a directory fails at once.
        Ok(found) => found.is_dir().then_some(0),
        Err(_) => Some(0),
    };
    let git = git_directory(&directory.join(".git")).ok()?;
    let exclude = git.map_or(Some(0), |git| bytes_of(git.join("info/exclude")))?;
    let names = [".gitignore", ".ignore", ".rgignore"];
    let files = names.map(|name| bytes_of(directory.join(name)));
    let files: u64 = files.into_iter().sum::<Option<u64>>()?;
    Some(files.saturating_add(exclude))
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
    fn a_walk_needs_no_other_thread() {
        let temp = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(temp.path()).unwrap();
        for number in 0..2 * MAX_WAITING {
            fs::write(root.join(number.to_string()), "").unwrap();
        }
        for others in 0..MAX_THREADS {
            let visited = AtomicUsize::new(0);
            let cancel = CancellationToken::new();
            run_with(others, &below(&root).unwrap(), &root, &cancel, || {
                |_: &Path, _| {
                    visited.fetch_add(1, Ordering::SeqCst);
                    WalkState::Continue
                }
            });
            assert_eq!(visited.into_inner(), 2 * MAX_WAITING, "{others}");
        }
    }

    #[test]
    fn ignore_files_above_one_another_are_bounded_together() {
        let temp = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(temp.path()).unwrap();
        let rules = "# nothing\n".repeat(5_000);
        let mut directory = root.clone();
        let mut deep = Vec::new();
        for depth in 0..5 {
            fs::write(directory.join(".gitignore"), &rules).unwrap();
            fs::write(directory.join("file"), "").unwrap();
            deep.push(directory.join("file"));
            let beside = directory.join("beside");
            fs::create_dir(&beside).unwrap();
            directory = directory.join(format!("d{depth}"));
            fs::create_dir(&directory).unwrap();
        }
        let walk = below(&root).unwrap().build().flatten();
        let mut found: Vec<_> = walk.map(DirEntry::into_path).collect();
        found.retain(|path| path.is_file());
        found.sort();
        deep.truncate(2);
        deep.sort();
        assert_eq!(found, deep);
    }

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
