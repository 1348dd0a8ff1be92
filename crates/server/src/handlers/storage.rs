//! Operations on old sessions and the use of the database.

use opencode_protocol::operations as op;
use opencode_runtime::PruneSessions;
use opencode_schema::storage::{PrunedSessions, StorageCompaction, StorageUse};

use crate::router::answer::Answered;
use crate::router::operation::Call;

/// Number of the largest sessions if the request has no limit.
const DEFAULT_LIMIT: u32 = 20;

pub(crate) async fn prune(call: Call<op::SessionPrune>) -> Answered<PrunedSessions> {
    let request = PruneSessions {
        older_than: call.payload.older_than,
        keep_last: call.payload.keep_last,
        archived: call.payload.archived,
    };
    Ok(call.runtime.prune_sessions(request).await?)
}

pub(crate) async fn stats(call: Call<op::StorageStatsGet>) -> Answered<StorageUse> {
    let limit = call.query.limit.unwrap_or(DEFAULT_LIMIT);
    Ok(call.runtime.storage_stats(limit as usize).await?)
}

pub(crate) async fn compact(call: Call<op::StorageCompact>) -> Answered<StorageCompaction> {
    Ok(call.runtime.compact_storage().await?)
}
