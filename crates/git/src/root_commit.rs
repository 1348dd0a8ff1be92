//! The first root commit of a repository.

use std::{
    collections::HashSet,
    io::{self, ErrorKind},
    path::Path,
    time::Instant,
};

use gix_hash::{Kind as Hash, ObjectId};
use gix_object::Kind;
use opencode_handles::read_file;

use crate::head;
use crate::object::damaged;
use crate::objects::Objects;

/// Maximum number of commits. Very large histories have half of it.
const MAX_COMMITS: usize = 2_000_000;

/// Maximum size of a commit in bytes.
const MAX_COMMIT_BYTES: u64 = 1024 * 1024;

/// Maximum size in bytes of the list of commits at which a shallow clone ends.
const MAX_SHALLOW_BYTES: u64 = 4 * 1024 * 1024;

/// The first bytes of an id. They suffice to tell commits apart, and a set of them is smaller.
type Key = [u8; 20];

/// Returns the id of the first commit, in the order of text, among the commits without parents that
/// HEAD descends from. Returns `None` if there are no commits.
///
/// The end of a shallow clone counts as commits without parents, as in Git. Grafts and replacements
/// are ignored: they belong to one clone, and the result should be the same for all.
///
/// Blocks on the disk.
///
/// # Errors
///
/// Fails if a commit is missing or damaged, at the `deadline`, and for a history that is too large.
pub fn first_root_commit(
    git_dir: &Path,
    common_dir: &Path,
    deadline: Instant,
) -> io::Result<Option<ObjectId>> {
    let Some(head) = head::commit(git_dir, common_dir)? else {
        return Ok(None);
    };
    let objects = Objects::open(&common_dir.join("objects"), head.kind())?;
    let shallow = shallow(common_dir)?;
    let mut seen = HashSet::from([key(&head)]);
    let mut waiting = vec![head];
    let mut first = None;
    while let Some(id) = waiting.pop() {
        if Instant::now() >= deadline {
            return Err(ErrorKind::TimedOut.into());
        }
        let parents = match shallow.contains(&id) {
            true => Vec::new(),
            false => parents(&objects, &id)?,
        };
        if parents.is_empty() {
            first = first.filter(|first| *first < id).or(Some(id));
        }
        waiting.extend(parents.into_iter().filter(|id| seen.insert(key(id))));
        if seen.len() > MAX_COMMITS {
            return Err(damaged("the history has too many commits"));
        }
    }
    Ok(first)
}

fn key(id: &ObjectId) -> Key {
    let mut key = Key::default();
    key.copy_from_slice(&id.as_slice()[..size_of::<Key>()]);
    key
}

/// Returns the commits at which a shallow clone ends.
fn shallow(common_dir: &Path) -> io::Result<HashSet<ObjectId>> {
    let list = read_file(&common_dir.join("shallow"), MAX_SHALLOW_BYTES)?.unwrap_or_default();
    let lines = list.trim_ascii().split(|byte| *byte == b'\n');
    let ids = lines
        .filter(|line| !line.is_empty())
        .map(ObjectId::from_hex);
    ids.collect::<Result<_, _>>().map_err(damaged)
}

fn parents(objects: &Objects, id: &ObjectId) -> io::Result<Vec<ObjectId>> {
    let read = objects.read(id, MAX_COMMIT_BYTES);
    let object = read
        .and_then(|object| object.ok_or_else(|| io::Error::other("it is missing")))
        .and_then(|object| match object.kind {
            Kind::Commit => Ok(object),
            _ => Err(damaged("it is not a commit")),
        })
        .and_then(|object| parse(&object.content, id.kind()));
    object.map_err(|error| io::Error::new(error.kind(), format!("commit {id}: {error}")))
}

/// Returns the parents of a commit. Their lines follow the line of its tree.
fn parse(commit: &[u8], hash: Hash) -> io::Result<Vec<ObjectId>> {
    let mut lines = commit.split(|byte| *byte == b'\n');
    if !lines.next().is_some_and(|line| line.starts_with(b"tree ")) {
        return Err(damaged("it has no tree"));
    }
    let parents = lines.map_while(|line| line.strip_prefix(b"parent "));
    let parents: Result<Vec<_>, _> = parents.map(ObjectId::from_hex).collect();
    let parents = parents.map_err(damaged)?;
    match parents.iter().all(|parent| parent.kind() == hash) {
        true => Ok(parents),
        false => Err(damaged("it has ids of several kinds")),
    }
}
