//! Entries of a directory.

use std::ffi::OsString;

use crate::stamp::Kind;

/// What stands directly in a directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Child {
    /// Its name.
    pub name: OsString,
    /// What it is. Whether a file may be executed a directory does not tell.
    pub kind: Kind,
}
