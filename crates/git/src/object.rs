//! An object, and the error for one that cannot be used.

use std::io::{self, ErrorKind};

use gix_object::Kind;

/// An object of a repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Object {
    /// Kind of the object: a commit, a tree, a content or a tag.
    pub kind: Kind,
    /// Its bytes without the header.
    pub content: Vec<u8>,
}

/// Returns the error for data that Git does not write.
pub(crate) fn damaged(reason: impl ToString) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, reason.to_string())
}

/// Returns the error for an object that is larger than the caller allows.
pub(crate) fn too_large(max: u64) -> io::Error {
    let message = format!("an object is larger than {max} bytes");
    io::Error::new(ErrorKind::FileTooLarge, message)
}
