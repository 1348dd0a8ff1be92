//! Systems without timely change notifications.

use std::collections::HashSet;

use opencode_handles::Directory;

/// A watch that never exists.
pub(crate) enum Watch {}

impl Watch {
    pub(crate) fn new(_root: &Directory) -> Option<Self> {
        None
    }

    pub(crate) fn is_broken(&self) -> bool {
        match *self {}
    }

    pub(crate) fn add(&mut self, _held: &Directory, _path: &str) -> Option<i32> {
        match *self {}
    }

    pub(crate) fn remove(&mut self, _number: i32, _path: &str) {
        match *self {}
    }

    pub(crate) fn changes(&mut self) -> Option<HashSet<String>> {
        match *self {}
    }
}
