//! Entries of a directory.

use std::ffi::OsString;

use crate::stamp::Kind;

/// An entry of a directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Child {
    /// Name of the entry.
    pub name: OsString,
    /// Kind of the entry. A directory listing does not distinguish executable files.
    pub kind: Kind,
}
