//! Removal of a session with its descendants.
//!
//! One transaction hides all of them from every read. Their rows and files are deleted afterwards, also if a crash
//! interrupts that: see [`super::purge`].

use std::sync::Arc;

use opencode_schema::clock::Millis;
use opencode_schema::id::SessionID;
use opencode_schema::session::SessionInfo;
use opencode_store::{Abort, StoreError};

use super::Lifecycle;
use super::held::HeldTree;
use crate::error::RuntimeError;
use crate::sessions::root_of;

/// Number of times that a removal starts again because a descendant was created meanwhile.
const ATTEMPTS: u32 = 8;

/// The sessions that a removal has hidden.
#[derive(Default)]
struct Removed {
    /// All of them, each after its parent.
    ids: Vec<SessionID>,
    /// Those with a shared copy.
    shared: Vec<SessionInfo>,
}

impl Lifecycle {
    /// Removes a session and its descendants. Returns their ids, each after its parent, when no read finds them any more.
    pub(crate) async fn remove(
        self: &Arc<Self>,
        id: &SessionID,
        interrupt: bool,
    ) -> Result<Vec<SessionID>, RuntimeError> {
        self.remove_tree(id, interrupt, Millis::MAX).await
    }

    /// Removes a session and its descendants, unless one of them works or was active after that time.
    pub(super) async fn remove_unless_active(
        self: &Arc<Self>,
        id: &SessionID,
        since: Millis,
    ) -> Result<Vec<SessionID>, RuntimeError> {
        self.remove_tree(id, false, since).await
    }

    async fn remove_tree(
        self: &Arc<Self>,
        id: &SessionID,
        interrupt: bool,
        active_until: Millis,
    ) -> Result<Vec<SessionID>, RuntimeError> {
        for _ in 0..ATTEMPTS {
            let held = self.hold_tree(id, interrupt).await?;
            let hidden = self.hide(id, &held, active_until).await?;
            drop(held);
            if let Some(removed) = hidden {
                self.unshare_in_background(removed.shared);
                self.purge_in_background();
                return Ok(removed.ids);
            }
        }
        Err(RuntimeError::SessionBusy(id.clone()))
    }

    /// Hides the sessions. Returns `None` without a change if a descendant is not held, and
    /// no session if one was active after that time.
    async fn hide(
        &self,
        root: &SessionID,
        held: &HeldTree,
        active_until: Millis,
    ) -> Result<Option<Removed>, RuntimeError> {
        let (id, now) = (root.clone(), self.journal.now());
        let may_go = held.ids();
        let hidden = self.journal.store.write(move |transaction| {
            let tree = transaction.reader().with_descendants(&id)?;
            if tree.is_empty() {
                return Err(Abort::Refused(RuntimeError::SessionNotFound(id)));
            }
            if !tree.iter().all(|id| may_go.contains(id)) {
                return Ok(None);
            }
            let reader = transaction.reader();
            let (mut sessions, mut unreadable) = (Vec::new(), Vec::new());
            for id in &tree {
                let found = reader.session(id).and_then(|session| {
                    let active = session.as_ref().map(|it| reader.last_active(it));
                    Ok((session, active.transpose()?))
                });
                match found {
                    Ok((_, Some(active))) if active > active_until => {
                        return Ok(Some(Removed::default()));
                    }
                    Ok((session, _)) => sessions.extend(session),
                    Err(StoreError::Corrupt { .. }) => unreadable.push(id),
                    Err(error) => return Err(error.into()),
                }
            }
            for session in &sessions {
                if root_of(&transaction.reader(), session)? == session.info.id {
                    transaction.remove_files_of_tree(&session.info.id)?;
                }
                match transaction.hide(session, now) {
                    // Nothing of it is hidden yet.
                    Err(StoreError::Corrupt { .. }) => {
                        transaction.hide_unreadable(&session.info.id)?;
                    }
                    hidden => hidden?,
                }
            }
            for id in unreadable {
                transaction.remove_files_of_tree(id)?;
                transaction.hide_unreadable(id)?;
            }
            let sessions = sessions.into_iter().map(|it| it.info);
            Ok(Some(Removed {
                ids: tree,
                shared: sessions.filter(|it| it.share.is_some()).collect(),
            }))
        });
        let removed: Option<Removed> = hidden.await?;
        for id in removed.iter().flat_map(|it| &it.ids) {
            self.forget(id);
            // A command that began after the hold finds no session, or is stopped here.
            self.commands.stop(id).await;
        }
        Ok(removed)
    }

    /// Removes the shared copies of removed sessions. The service of the program may take its time, and its failure
    /// changes nothing.
    fn unshare_in_background(&self, shared: Vec<SessionInfo>) {
        if shared.is_empty() {
            return;
        }
        let sharing = Arc::clone(&self.sharing);
        let unsharing = async move {
            for session in &shared {
                sharing.unshare_removed(session).await;
            }
        };
        drop(opencode_log::spawn_tracked(&self.tasks, unsharing));
    }

    /// Drops what this host holds in memory about a removed session. A later session may get its id.
    fn forget(&self, id: &SessionID) {
        self.permissions.withdraw(id);
        self.questions.withdraw(id);
        self.unknown_agents.note(id, false);
        self.shared.forget(id);
    }
}
