//! Restores files to their content in snapshots.
//!
//! The order matters if a step exchanged files and directories or changed ignore rules: first the
//! ignore files, because ignored files are not removed; then the removals, deepest first; then all
//! other files.

use std::{collections::BTreeMap, io};

use git2::{ObjectType, Oid};
use opencode_handles::{Directory, Kind, is_absent};

use crate::engine::ignored::Ignored;
use crate::engine::{self, Engine};
use crate::entry::{Entry, Mode};
use crate::error::SnapshotError;
use crate::objects::Objects;
use crate::path;
use crate::rules::IGNORE_FILE;
use crate::tree::{self, Item, Trees};

/// The change of a path.
enum Change {
    Put(Mode, Oid),
    Remove,
}

type Changes<'a> = Vec<(&'a str, Change)>;

/// The files as the caller saw them.
type Seen = BTreeMap<String, Option<Entry>>;

impl Engine {
    pub(crate) fn restore(
        &mut self,
        plan: &BTreeMap<String, String>,
        seen: &Seen,
    ) -> Result<(), SnapshotError> {
        let repository = self.repository()?;
        let objects = self.objects(&repository);
        let changes = changes(&objects, plan)?;
        let root = self.root()?;
        let mut failed = Vec::new();
        let mut put = |path: &str, mode, id| match write(&root, &objects, seen, path, mode, id) {
            Ok(()) => Ok(()),
            Err(Unwritten::Missing(error)) => Err(error),
            Err(Unwritten::Io(error)) => {
                failed.push((path.to_owned(), error));
                Ok(())
            }
        };
        let (rules, others) = changes
            .iter()
            .partition::<Vec<_>, _>(|(path, _)| path::split(path).1 == IGNORE_FILE);
        for (path, change) in rules {
            if let Change::Put(mode, id) = change {
                put(path, *mode, *id)?;
            }
        }
        let mut ignored = Ignored::new(&root, &repository);
        let mut unremoved = Vec::new();
        for (path, _) in changes
            .iter()
            .rev()
            .filter(|(_, change)| matches!(change, Change::Remove))
        {
            if ignored.ignores(path) {
                continue;
            }
            if let Err(error) = remove(&root, seen, path, &self.scope()?) {
                unremoved.push(((*path).to_owned(), error));
            }
        }
        for (path, change) in others {
            if let Change::Put(mode, id) = change {
                put(path, *mode, *id)?;
            }
        }
        failed.extend(unremoved);
        failed.sort_by(|left, right| left.0.cmp(&right.0));
        if failed.is_empty() {
            Ok(())
        } else {
            Err(SnapshotError::Restore(failed))
        }
    }
}

/// Fails if a file has changed since the caller saw it.
fn check(now: Option<(Mode, Oid)>, seen: &Seen, path: &str) -> io::Result<()> {
    let now = now.and_then(|(mode, id)| Item::File(mode, id).file());
    match seen.get(path) {
        Some(seen) if *seen != now => Err(blocked("it was changed just now")),
        _ => Ok(()),
    }
}

/// Looks up all objects before any change, so that a missing snapshot changes nothing.
fn changes<'a>(
    objects: &Objects,
    plan: &'a BTreeMap<String, String>,
) -> Result<Changes<'a>, SnapshotError> {
    let mut changes = Vec::new();
    let mut trees = Trees::new(objects);
    for (path, tree) in plan {
        path::check(path)?;
        let change = match trees.find(tree::id(tree)?, path)? {
            Some(Item::File(mode, id)) => {
                if !objects.has(id) {
                    return Err(SnapshotError::Missing(id.to_string()));
                }
                Change::Put(mode, id)
            }
            Some(Item::Tree(_)) | None => Change::Remove,
        };
        changes.push((path.as_str(), change));
    }
    Ok(changes)
}

/// Returns the error for a path that another file or directory obstructs.
fn blocked(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::AlreadyExists, what.to_owned())
}

enum Unwritten {
    Missing(SnapshotError),
    Io(io::Error),
}

impl From<io::Error> for Unwritten {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

fn write(
    root: &Directory,
    objects: &Objects,
    seen: &Seen,
    path: &str,
    mode: Mode,
    id: Oid,
) -> Result<(), Unwritten> {
    // An unreadable file is overwritten, unless the caller has stated its expected content.
    let now = match engine::current(root, path) {
        Err(error) if seen.contains_key(path) => return Err(error.into()),
        now => now.unwrap_or_default(),
    };
    // A correct file stays unchanged, including its times.
    if now == Some((mode, id)) {
        return Ok(());
    }
    check(now, seen, path)?;
    let content = objects
        .read(id, ObjectType::Blob)
        .map_err(Unwritten::Missing)?;
    let (directory, name) = path::split(path);
    let held = root.prepare_below(directory).map_err(|error| {
        if is_absent(&error) {
            blocked("a file or a link is where a directory was")
        } else {
            error
        }
    })?;
    match held.stat(name)?.map(|stamp| stamp.kind) {
        Some(Kind::Directory) => {
            // Git does not track empty directories.
            let not_empty = |_| blocked("a directory that is not empty is in the way");
            held.remove_directory(name).map_err(not_empty)?;
        }
        Some(Kind::Other) => {
            return Err(blocked("something that is no file is in the way").into());
        }
        Some(Kind::File | Kind::Executable | Kind::Link) | None => {}
    }
    match mode {
        Mode::Link => held.put_link(name, &content)?,
        Mode::File | Mode::Executable => {
            held.put_file(name, &content, mode == Mode::Executable)?;
        }
    }
    Ok(())
}

/// Removes a file or a link and its empty parent directories, but never the scope itself.
fn remove(root: &Directory, seen: &Seen, path: &str, scope: &str) -> io::Result<()> {
    let (mut directory, mut name) = path::split(path);
    let held = match root.below(directory) {
        Err(error) if is_absent(&error) => return Ok(()),
        held => held?,
    };
    match held.stat(name)?.map(|stamp| stamp.kind) {
        Some(Kind::File | Kind::Executable | Kind::Link) => {
            if seen.contains_key(path) {
                check(engine::current(root, path)?, seen, path)?;
            }
            held.remove(name)?;
        }
        // The path is not a file any more, so the snapshot has no file to remove there.
        Some(Kind::Directory | Kind::Other) | None => return Ok(()),
    }
    while !directory.is_empty() && directory != scope {
        (directory, name) = path::split(directory);
        let emptied = root
            .below(directory)
            .and_then(|held| held.remove_directory(name));
        if emptied.is_err() {
            break;
        }
    }
    Ok(())
}
