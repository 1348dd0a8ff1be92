//! Loose objects: one compressed file each.

use std::{
    io::{self, BufRead, BufReader, Read},
    path::{Path, PathBuf},
};

use flate2::bufread::ZlibDecoder;
use gix_hash::oid;
use gix_object::Kind;
use opencode_handles::{is_absent, open_file};

use crate::object::{Object, damaged, too_large};

/// Maximum size of the header: a kind, a size and the separators.
const MAX_HEADER_BYTES: u64 = 32;

/// Returns the path of an object in an object directory.
pub(crate) fn path(directory: &Path, id: &oid) -> PathBuf {
    let id = id.to_string();
    let (folder, name) = id.split_at(2);
    directory.join(folder).join(name)
}

/// Returns an object of at most `max` bytes, or `None` if the directory does not have it.
pub(crate) fn read(directory: &Path, id: &oid, max: u64) -> io::Result<Option<Object>> {
    let file = match open_file(&path(directory, id)) {
        Err(error) if is_absent(&error) => return Ok(None),
        file => BufReader::new(file?),
    };
    let mut bytes = BufReader::new(ZlibDecoder::new(file));
    let mut header = Vec::new();
    (&mut bytes)
        .take(MAX_HEADER_BYTES)
        .read_until(0, &mut header)?;
    let (kind, size) = parse(&header).ok_or_else(|| damaged("an object has no header"))?;
    if size > max {
        return Err(too_large(max));
    }
    let mut content = Vec::new();
    bytes.take(size + 1).read_to_end(&mut content)?;
    if content.len() as u64 != size {
        return Err(damaged("an object has another size than its header says"));
    }
    Ok(Some(Object { kind, content }))
}

fn parse(header: &[u8]) -> Option<(Kind, u64)> {
    let header = std::str::from_utf8(header.strip_suffix(b"\0")?).ok()?;
    let (kind, size) = header.split_once(' ')?;
    Some((Kind::from_bytes(kind.as_bytes()).ok()?, size.parse().ok()?))
}
