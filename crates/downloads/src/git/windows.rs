//! No guard runs on Windows, so no program that might outlive the host is started.

use std::io;

use super::{Ended, GitCommand};

pub(super) async fn run(command: GitCommand) -> io::Result<Ended> {
    drop(command);
    Err(io::Error::other("repositories are not cloned on Windows"))
}
