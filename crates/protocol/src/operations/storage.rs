//! Old sessions, and the use of the database.

use opencode_schema::storage::{PrunedSessions, StorageCompaction, StorageUse};

use crate::input::{SessionPrunePayload, StorageQuery};
use crate::operation::operations;

operations! {
    /// Removes old sessions of all projects, oldest first. At least one condition must be given.
    ///
    /// A session without a parent is removed with all its descendants, and all of them decide about its age. A session that
    /// works, or whose descendant works, stays. A call removes at most 1,000 sessions without a parent.
    SessionPrune = "v2.session.prune" => "sessions.prune" {
        Post "/api/session/prune",
        payload: SessionPrunePayload,
        success: value(PrunedSessions),
        errors: [],
        middleware: [Authorization],
        extension: true,
    }

    /// Returns the use of the database.
    StorageStatsGet = "v2.storage.stats" => "storage.stats" {
        Get "/api/storage",
        query: StorageQuery,
        success: value(StorageUse),
        errors: [],
        middleware: [Authorization],
        extension: true,
    }

    /// Erases what removed sessions left in files, and gives the free parts of the database back to the file system.
    ///
    /// Waits until the data of removed sessions is deleted. Writes of other sessions wait while the database is built
    /// again.
    StorageCompact = "v2.storage.compact" => "storage.compact" {
        Post "/api/storage/compact",
        success: value(StorageCompaction),
        errors: [],
        middleware: [Authorization],
        extension: true,
    }
}
