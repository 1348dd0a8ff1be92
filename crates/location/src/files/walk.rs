//! Walks everything below a directory with several threads, according to ignore files.
//!
//! The rules are those of `ripgrep`: `.gitignore` within a repository, `.git/info/exclude`, `.ignore`
//! and `.rgignore`, including those of the directories above. The excludes of a user's Git
//! configuration are not used. Links are not followed.

use std::{
    fs,
    io::{self, Read},
    path::{Path, PathBuf},
    sync::{
        atomic::{AtomicBool, Ordering},
        mpsc::{TrySendError, sync_channel},
    },
    thread::{self, available_parallelism},
};

use ignore::{DirEntry, WalkBuilder, WalkState};
use opencode_handles::{open_file, refuse_database};
use opencode_schema::file_system::FileSystemEntryType;
use parking_lot::Mutex;
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio_util::sync::CancellationToken;

/// Maximum number of concurrent walks in a process. Each has its own threads. Further walks wait.
const MAX_WALKS: usize = 8;

const MAX_THREADS: usize = 8;

/// Maximum number of paths in the queue of the threads.
const MAX_WAITING: usize = 256;

/// Maximum total size in bytes of the ignore files that apply in one directory, including those above
/// it. Their compiled patterns need more than a hundred times as much memory.
const MAX_IGNORE_BYTES: u64 = 128 * 1024;

/// Maximum size in bytes of a file that contains the path of a repository's Git directory.
const MAX_POINTER_BYTES: u64 = 8192;

/// Maximum number of braces inside of each other in a pattern. The library that reads patterns needs stack for each, and
/// the process would end without it.
pub const MAX_NESTED_BRACES: usize = 64;

static WALKS: Semaphore = Semaphore::const_new(MAX_WALKS);

/// Waits until a walk can start. The blocking work holds the permit, not the caller, because the work
/// can outlive the caller.
pub async fn permit() -> Option<SemaphorePermit<'static>> {
    WALKS.acquire().await.ok()
}

/// Prepares a walk over everything below the absolute path `root` that is neither hidden nor ignored, without `.git`.
pub fn below(root: &Path) -> io::Result<WalkBuilder> {
    below_where(root, |_, _| true)
}

/// Same as [`below`], only with what `admits` accepts: a path relative to the root, and if it is a directory. Nothing
/// below a directory that it does not accept is visited.
pub fn below_where(
    root: &Path,
    admits: impl Fn(&Path, bool) -> bool + Send + Sync + 'static,
) -> io::Result<WalkBuilder> {
    let own = rules_bytes(root)
        .filter(|own| *own <= MAX_IGNORE_BYTES)
        .ok_or_else(|| {
            io::Error::other(
                "its ignore files, or those of its repository, are larger than 128 KiB, nest more than 64 braces in a pattern, are no regular files, or the open database",
            )
        })?;
    let above = root
        .ancestors()
        .skip(1)
        .map(rules_bytes)
        .sum::<Option<u64>>();
    let above = above.filter(|above| own + above <= MAX_IGNORE_BYTES);
    // Sizes of the rules in effect for each directory from the root to the current one. The walk enters
    // a directory before it visits the next sibling.
    let held = Mutex::new(vec![own + above.unwrap_or(0)]);
    let mut builder = WalkBuilder::new(root);
    let within = root.to_owned();
    builder
        .add_custom_ignore_filename(".rgignore")
        .git_global(false)
        .parents(above.is_some())
        .filter_entry(move |entry| {
            if entry.depth() == 0 {
                return true;
            }
            let is_directory = entry.file_type().is_some_and(|kind| kind.is_dir());
            let relative = entry.path().strip_prefix(&within).unwrap_or(entry.path());
            entry.file_name() != ".git"
                && admits(relative, is_directory)
                && (!is_directory || has_room(&held, entry))
        });
    Ok(builder)
}

/// Adds the size of a directory's rules to that of the rules above it. True if the sum is within the limit.
fn has_room(held: &Mutex<Vec<u64>>, directory: &DirEntry) -> bool {
    let Some(own) = rules_bytes(directory.path()) else {
        return false;
    };
    let mut held = held.lock();
    held.truncate(directory.depth());
    let all = own + held.last().copied().unwrap_or(0);
    held.push(all);
    all <= MAX_IGNORE_BYTES
}

/// Runs a walk with one visitor per thread. Visitors receive paths relative to the root. Ends early if
/// a visitor quits or the walk is cancelled. Skips paths that cannot be read.
///
/// This thread lists the directories, and visits paths itself if the other threads are busy. Therefore
/// the walk also completes if the system provides no other thread.
pub fn run<V>(
    builder: &WalkBuilder,
    root: &Path,
    cancel: &CancellationToken,
    visitor: impl Fn() -> V,
) where
    V: FnMut(&Path, Entry) -> WalkState + Send,
{
    let threads = available_parallelism().map_or(1, usize::from);
    run_with(threads.min(MAX_THREADS) - 1, builder, root, cancel, visitor);
}

/// Same as [`run`], with at most `others` additional threads.
fn run_with<V>(
    others: usize,
    builder: &WalkBuilder,
    root: &Path,
    cancel: &CancellationToken,
    visitor: impl Fn() -> V,
) where
    V: FnMut(&Path, Entry) -> WalkState + Send,
{
    let is_over = AtomicBool::new(false);
    let visit = |visit: &mut V, (path, entry): &Found| {
        let is_ended = is_over.load(Ordering::Relaxed) || cancel.is_cancelled();
        if !is_ended && visit(path, *entry) == WalkState::Quit {
            is_over.store(true, Ordering::Relaxed);
        }
    };
    let (sender, receiver) = sync_channel::<Found>(MAX_WAITING);
    let receiver = Mutex::new(receiver);
    let next = || receiver.lock().recv();
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
        // Owned here, so that the other threads end when the list ends, even if a visitor panics.
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

/// A file or directory that a walk found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    /// Its kind.
    pub kind: FileSystemEntryType,
    /// Its inode number, if the system has one.
    pub inode: Option<u64>,
}

/// A path relative to the root, and its entry.
type Found = (PathBuf, Entry);

fn found(entry: Result<DirEntry, ignore::Error>, root: &Path) -> Option<Found> {
    let entry = entry.ok()?;
    let kind = match entry.file_type()? {
        kind if kind.is_file() => FileSystemEntryType::File,
        kind if kind.is_dir() => FileSystemEntryType::Directory,
        _ => return None,
    };
    let relative = entry.path().strip_prefix(root).ok()?;
    let is_root = relative.as_os_str().is_empty();
    #[cfg(unix)]
    let inode = entry.ino();
    #[cfg(not(unix))]
    let inode = None;
    (!is_root).then(|| (relative.to_owned(), Entry { kind, inode }))
}

/// A relative path as bytes, with `/` between the names. Results are sorted by this key.
pub fn sort_key(relative: &Path) -> Vec<u8> {
    let bytes = relative.as_os_str().as_encoded_bytes();
    if cfg!(windows) {
        let separated = |byte: &u8| if *byte == b'\\' { b'/' } else { *byte };
        bytes.iter().map(separated).collect()
    } else {
        bytes.to_vec()
    }
}

/// True if a text has more braces inside of each other than a pattern may have. Escaped braces count, too.
pub fn nests_too_deeply(text: &[u8]) -> bool {
    let mut depth = 0_usize;
    text.iter().any(|byte| {
        match byte {
            b'{' => depth += 1,
            b'}' => depth = depth.saturating_sub(1),
            b'\n' => depth = 0,
            _ => {}
        }
        depth > MAX_NESTED_BRACES
    })
}

/// Total size in bytes of the ignore files of a directory. `None` if the walk must not read them: it opens these files
/// without a check, and a FIFO with such a name would block it forever.
fn rules_bytes(directory: &Path) -> Option<u64> {
    let bytes_of = |path: PathBuf| match fs::metadata(&path) {
        Ok(found) if found.is_file() && found.len() <= MAX_IGNORE_BYTES => {
            refuse_database(&found).ok()?;
            let mut text = Vec::new();
            // The walk does not read a file that cannot be read either.
            if let Ok(file) = open_file(&path) {
                file.take(MAX_IGNORE_BYTES).read_to_end(&mut text).ok()?;
            }
            (!nests_too_deeply(&text)).then_some(found.len())
        }
        Ok(found) if found.is_file() => None,
        // Reading a directory fails immediately.
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

/// The Git directory whose rules apply. For a linked worktree, this is the directory of the main worktree.
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

/// Returns the first line of a small file, if there is one. Fails if reading might never end.
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
    fn a_walk_finishes_with_any_number_of_threads() {
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
    fn nested_ignore_files_share_one_limit() {
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
    fn deep_braces_in_ignore_files_do_not_end_the_process() {
        let nested = |depth: usize| format!("{}a{}\n", "{".repeat(depth), "}".repeat(depth));
        for (rules, is_walked) in [
            (nested(MAX_NESTED_BRACES), true),
            ("{a}{b}\n".repeat(100), true),
            ("{\n".repeat(100), true),
            (nested(MAX_NESTED_BRACES + 1), false),
            (nested(30_000), false),
            ("{a,".repeat(30_000), false),
        ] {
            let temp = tempfile::tempdir().unwrap();
            let root = fs::canonicalize(temp.path()).unwrap();
            fs::create_dir(root.join("below")).unwrap();
            fs::write(root.join("below/file"), "").unwrap();
            fs::write(root.join("below/.ignore"), &rules).unwrap();
            let found = below(&root).unwrap().build().flatten();
            let found = found.filter(|it| it.path().is_file()).count();
            assert_eq!(found, usize::from(is_walked));
            fs::write(root.join(".rgignore"), &rules).unwrap();
            assert_eq!(below(&root).is_ok(), is_walked);
        }
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
