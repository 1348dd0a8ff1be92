//! The operations, with a file for each group. One entry declares one operation completely.

mod copies;
mod files;
mod host;
mod inbox;
mod inspection;
mod integrations;
mod location;
mod mcp;
mod messages;
mod permissions;
mod ptys;
mod questions;
mod recovery;
mod revert;
mod sessions;
mod storage;

pub use copies::*;
pub use files::*;
pub use host::*;
pub use inbox::*;
pub use inspection::*;
pub use integrations::*;
pub use location::*;
pub use mcp::*;
pub use messages::*;
pub use permissions::*;
pub use ptys::*;
pub use questions::*;
pub use recovery::*;
pub use revert::*;
pub use sessions::*;
pub use storage::*;

use crate::operation::Spec;

/// The groups, in the order of the documentation.
const GROUPS: &[&[Spec]] = &[
    host::OPERATIONS,
    location::OPERATIONS,
    sessions::OPERATIONS,
    messages::OPERATIONS,
    inbox::OPERATIONS,
    recovery::OPERATIONS,
    inspection::OPERATIONS,
    revert::OPERATIONS,
    copies::OPERATIONS,
    permissions::OPERATIONS,
    questions::OPERATIONS,
    files::OPERATIONS,
    ptys::OPERATIONS,
    integrations::OPERATIONS,
    mcp::OPERATIONS,
    storage::OPERATIONS,
];

/// Every operation.
pub const OPERATIONS: &[Spec] = &joined::<{ count(GROUPS) }>(GROUPS);

const fn count(groups: &[&[Spec]]) -> usize {
    let (mut group, mut count) = (0, 0);
    while group < groups.len() {
        count += groups[group].len();
        group += 1;
    }
    count
}

const fn joined<const COUNT: usize>(groups: &[&[Spec]]) -> [Spec; COUNT] {
    let mut all = [groups[0][0]; COUNT];
    let (mut group, mut at, mut place) = (0, 0, 0);
    while place < COUNT {
        if at == groups[group].len() {
            group += 1;
            at = 0;
            continue;
        }
        all[place] = groups[group][at];
        at += 1;
        place += 1;
    }
    all
}
