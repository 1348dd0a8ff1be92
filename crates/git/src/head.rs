//! The commit of HEAD.

use std::{
    io::{self, BufRead, BufReader, ErrorKind, Read},
    path::{Component, Path},
};

use gix_hash::ObjectId;
use opencode_handles::{is_absent, open_file, read_file};

use crate::object::damaged;

/// Maximum number of references that refer to each other. Git has the same limit.
const MAX_DEPTH: usize = 5;

/// Maximum size of a file with one reference, in bytes.
const MAX_REFERENCE_BYTES: u64 = 8192;

/// Maximum size of the file with packed references, in bytes. It holds a million of them.
const MAX_PACKED_BYTES: u64 = 128 * 1024 * 1024;

/// The branch in HEAD of a repository whose references are in tables.
const IN_TABLES: &str = "refs/heads/.invalid";

/// The value of a reference.
enum Value {
    Id(ObjectId),
    /// The name of another reference.
    Name(String),
}

/// Returns the commit of HEAD in a git directory, or `None` if its branch has no commit.
/// References that all worktrees share are in `common`.
///
/// # Errors
///
/// Fails if a reference cannot be read or is invalid.
pub(crate) fn commit(git_dir: &Path, common: &Path) -> io::Result<Option<ObjectId>> {
    let head = read_file(&git_dir.join("HEAD"), MAX_REFERENCE_BYTES)?;
    let mut value = head.map(|text| parse(&text)).transpose()?;
    for _ in 0..MAX_DEPTH {
        match value {
            None => return Ok(None),
            Some(Value::Id(id)) => return Ok(Some(id)),
            Some(Value::Name(name)) => value = look_up(&name, git_dir, common)?,
        }
    }
    Err(damaged("too many references refer to each other"))
}

fn look_up(name: &str, git_dir: &Path, common: &Path) -> io::Result<Option<Value>> {
    // Some references belong to one worktree.
    for directory in [git_dir, common] {
        let path = directory.join(name);
        // A directory remains if references below it were packed.
        if path.is_dir() {
            continue;
        }
        if let Some(text) = read_file(&path, MAX_REFERENCE_BYTES)? {
            return parse(&text).map(Some);
        }
    }
    packed(name, common)
}

/// Looks up a reference in the file with packed references.
fn packed(name: &str, common: &Path) -> io::Result<Option<Value>> {
    let file = match open_file(&common.join("packed-refs")) {
        Err(error) if is_absent(&error) => return Ok(None),
        file => file?,
    };
    if file.metadata()?.len() > MAX_PACKED_BYTES {
        return Err(damaged("the file of packed references is too large"));
    }
    for line in BufReader::new(file.take(MAX_PACKED_BYTES)).split(b'\n') {
        let line = line?;
        let id = line.strip_suffix(name.as_bytes());
        if let Some(id) = id.and_then(|rest| rest.strip_suffix(b" ")) {
            return parse(id).map(Some);
        }
    }
    Ok(None)
}

fn parse(text: &[u8]) -> io::Result<Value> {
    let text = text.trim_ascii();
    let Some(name) = text.strip_prefix(b"ref:") else {
        return Ok(Value::Id(ObjectId::from_hex(text).map_err(damaged)?));
    };
    let name = std::str::from_utf8(name.trim_ascii()).map_err(damaged)?;
    if name == IN_TABLES {
        let message = "references in tables are not supported";
        return Err(io::Error::new(ErrorKind::Unsupported, message));
    }
    let mut components = Path::new(name).components();
    let is_below = components.all(|it| matches!(it, Component::Normal(_)));
    if !name.starts_with("refs/") || !is_below {
        return Err(damaged("a reference has an invalid name"));
    }
    Ok(Value::Name(name.to_owned()))
}
