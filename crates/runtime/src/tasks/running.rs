//! The number of running tasks per session.

use std::collections::HashMap;
use std::sync::Arc;

use opencode_schema::id::SessionID;
use opencode_tools::TaskError;
use parking_lot::Mutex;

/// The running tasks of a host, counted per parent session.
#[derive(Clone, Default)]
pub(crate) struct RunningTasks {
    /// Contains no count of 0. Locked to count, never across an await.
    counts: Arc<Mutex<HashMap<SessionID, usize>>>,
}

/// One running task.
pub(crate) struct Place {
    running: RunningTasks,
    parent: SessionID,
}

impl RunningTasks {
    /// Counts one more task of a session until the result is dropped. Fails at the limit.
    pub(crate) fn enter(&self, parent: &SessionID, limit: usize) -> Result<Place, TaskError> {
        let mut counts = self.counts.lock();
        let count = counts.get(parent).copied().unwrap_or_default();
        if count >= limit {
            return Err(TaskError::TooMany { limit });
        }
        counts.insert(parent.clone(), count + 1);
        Ok(Place {
            running: self.clone(),
            parent: parent.clone(),
        })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut counts = self.running.counts.lock();
        let left = counts.get(&self.parent).map_or(0, |count| count - 1);
        if left == 0 {
            counts.remove(&self.parent);
        } else {
            counts.insert(self.parent.clone(), left);
        }
    }
}
