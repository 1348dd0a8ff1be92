//! One file per group of operations. A handler calls the runtime and returns its answer.

pub(crate) mod catalogue;
pub(crate) mod copies;
pub(crate) mod definitions;
pub(crate) mod document;
pub(crate) mod files;
pub(crate) mod host;
pub(crate) mod inbox;
pub(crate) mod inspection;
pub(crate) mod integrations;
pub(crate) mod location;
pub(crate) mod mcp;
pub(crate) mod messages;
pub(crate) mod permissions;
pub(crate) mod ptys;
pub(crate) mod questions;
pub(crate) mod recovery;
pub(crate) mod revert;
pub(crate) mod sessions;
pub(crate) mod storage;
pub(crate) mod transfer;
