//! Exclusive access to a session and all its descendants.

use std::collections::{HashMap, HashSet};

use opencode_schema::id::SessionID;

use super::Lifecycle;
use crate::coordinator::SessionHold;
use crate::error::RuntimeError;

/// Number of times that a session is interrupted before it counts as busy. Each prompt that arrives during an
/// interruption starts it again.
const INTERRUPTIONS: u32 = 16;

/// The holds of a session and its descendants. No drain of them runs until this is dropped.
pub(crate) struct HeldTree(HashMap<SessionID, SessionHold>);

impl HeldTree {
    /// Returns the ids of the held sessions.
    pub(crate) fn ids(&self) -> HashSet<SessionID> {
        self.0.keys().cloned().collect()
    }
}

impl Lifecycle {
    /// Holds a session and all its descendants. With `interrupt`, stops their work first.
    ///
    /// # Errors
    ///
    /// `SessionNotFound`; `SessionBusy` with the session that runs.
    pub(super) async fn hold_tree(
        &self,
        root: &SessionID,
        interrupt: bool,
    ) -> Result<HeldTree, RuntimeError> {
        let mut held = HeldTree(HashMap::new());
        // The parent is held before its descendants, so that its drain creates no more of them.
        let mut wanted = vec![root.clone()];
        loop {
            for id in wanted {
                let hold = self.hold(&id, interrupt).await?;
                held.0.insert(id, hold);
            }
            let tree = self.tree(root).await?;
            let missing = tree.into_iter().filter(|id| !held.0.contains_key(id));
            wanted = missing.collect();
            if wanted.is_empty() {
                return Ok(held);
            }
        }
    }

    async fn tree(&self, root: &SessionID) -> Result<Vec<SessionID>, RuntimeError> {
        let id = root.clone();
        let tree = self.journal.store.read(move |db| db.with_descendants(&id));
        let tree = tree.await?;
        if tree.is_empty() {
            return Err(RuntimeError::SessionNotFound(root.clone()));
        }
        Ok(tree)
    }

    async fn hold(&self, id: &SessionID, interrupt: bool) -> Result<SessionHold, RuntimeError> {
        if !interrupt && self.commands.has(id) {
            return Err(RuntimeError::SessionBusy(id.clone()));
        }
        for _ in 0..INTERRUPTIONS {
            self.commands.stop(id).await;
            if let Some(hold) = self.coordinator.hold(id) {
                return Ok(hold);
            }
            if !interrupt {
                break;
            }
            self.coordinator.interrupt(id).await;
        }
        Err(RuntimeError::SessionBusy(id.clone()))
    }
}
