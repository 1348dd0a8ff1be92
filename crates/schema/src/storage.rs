//! The use of the database, and the removal of old sessions.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::id::SessionID;

/// The use of the database by its sessions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StorageUse {
    /// Size of the database in bytes, without its write-ahead log.
    pub total: u64,
    /// Bytes of it that hold no data. Later data use them, and `storage.compact` gives them back.
    pub free: u64,
    /// Size of the write-ahead log in bytes. The host empties it regularly. 0 for a database in memory.
    pub log: u64,
    /// Number of sessions.
    pub sessions: u64,
    /// The largest sessions, largest first.
    pub largest: Vec<SessionStorage>,
}

/// The use of the database by one session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SessionStorage {
    /// Id of the session.
    #[serde(rename = "sessionID")]
    pub session_id: SessionID,
    /// Bytes of its events as they are stored. Indexes and files are not counted.
    pub bytes: u64,
}

/// The result of erasing removed sessions and giving free parts of the database back to the file system.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StorageCompaction {
    /// Size of the database in bytes before.
    pub before: u64,
    /// Size of the database in bytes after. The file has this size at the latest when the host is closed.
    pub after: u64,
    /// False if the file cannot shrink, because a version before 0.1.0 created it. Its free parts are used for later
    /// data.
    pub shrinks: bool,
    /// True if no file of the host has a text of a removed session any more. False if something stays for now: a session
    /// was removed meanwhile, a file cannot be deleted, another database in the same data folder uses the snapshots, or
    /// the host closes. The log of the host names the reason, and the next call tries again.
    pub erased: bool,
}

/// The sessions that a prune removed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PrunedSessions {
    /// Number of removed sessions.
    pub removed: u64,
    /// Their ids, each after its parent.
    #[serde(rename = "sessionIDs")]
    pub session_ids: Vec<SessionID>,
    /// True if more sessions fit the conditions. Call it again to remove them.
    #[serde(rename = "hasMore")]
    pub has_more: bool,
}
