//! Reads of stored data.

use opencode_location::directory::normalise;
use opencode_schema::clock::Millis;
use opencode_schema::id::{MessageID, SessionID};
use opencode_schema::message::SessionMessage;
use opencode_schema::session::SessionInfo;
use opencode_store::{
    Anchored, Order, Reader, Sequence, SessionFilter, SessionRow, StoreError, StoredEvent,
};

use super::Sessions;
use crate::error::RuntimeError;

/// Maximum total payload size in bytes of a page of events or messages, independent of its limit.
const PAGE_BYTES: usize = 32 * 1024 * 1024;

/// Maximum number of ancestors that are examined. Imported sessions may be ancestors of each other.
pub(crate) const MAX_ANCESTORS: usize = 1000;

/// Returns the root of the tree of a session: the ancestor without a parent. An import that names a session of this host
/// as its parent does not belong to the tree of that session.
pub(crate) fn root_of(reader: &Reader<'_>, session: &SessionRow) -> Result<SessionID, StoreError> {
    let is_imported = |key| reader.is_imported(key, Sequence::FIRST);
    let mut root = session.clone();
    for _ in 0..MAX_ANCESTORS {
        let Some(id) = &root.info.parent_id else {
            break;
        };
        let Some(parent) = reader.session(id)? else {
            break;
        };
        if is_imported(root.key)? && !is_imported(parent.key)? {
            break;
        }
        root = parent;
    }
    Ok(root.info.id)
}

impl Sessions {
    pub(crate) async fn list(
        &self,
        mut filter: SessionFilter,
        order: Order,
        anchor: Option<Anchored<(Millis, String)>>,
        limit: usize,
    ) -> Result<Vec<SessionInfo>, RuntimeError> {
        // Sessions store their directory in normal form. A directory without a normal form matches no session.
        let normal = filter.directory.as_deref().map(normalise);
        if let Some(Ok(directory)) = normal {
            filter.directory = Some(directory);
        }
        let rows = self
            .journal
            .store
            .read(move |reader| reader.sessions(&filter, order, anchor.as_ref(), limit))
            .await?;
        Ok(rows.into_iter().map(|session| session.info).collect())
    }

    pub(crate) async fn children(
        &self,
        parent: &SessionID,
    ) -> Result<Vec<SessionInfo>, RuntimeError> {
        let id = parent.clone();
        let children = self
            .journal
            .of_session(parent, move |reader, _| reader.children(&id))
            .await?;
        Ok(children.into_iter().map(|session| session.info).collect())
    }

    pub(crate) async fn messages(
        &self,
        id: &SessionID,
        order: Order,
        anchor: Option<Anchored<Sequence>>,
        limit: usize,
    ) -> Result<Vec<(Sequence, SessionMessage)>, RuntimeError> {
        self.journal
            .of_session(id, move |reader, key| {
                reader.messages_within(key, order, anchor.as_ref(), limit, PAGE_BYTES)
            })
            .await
    }

    pub(crate) async fn message(
        &self,
        id: &SessionID,
        message_id: &MessageID,
    ) -> Result<SessionMessage, RuntimeError> {
        let wanted = message_id.clone();
        let found = self
            .journal
            .of_session(id, move |reader, key| reader.message(key, &wanted))
            .await?;
        found.ok_or_else(|| RuntimeError::MessageNotFound {
            session_id: id.clone(),
            message_id: message_id.clone(),
        })
    }

    pub(crate) async fn context(
        &self,
        id: &SessionID,
    ) -> Result<Vec<SessionMessage>, RuntimeError> {
        let history = self
            .journal
            .of_session(id, |reader, key| reader.history(key))
            .await?;
        Ok(history.into_iter().map(|(_, message)| message).collect())
    }

    /// Returns a page of durable events, and true if there are more.
    pub(crate) async fn history(
        &self,
        id: &SessionID,
        after: Option<Sequence>,
        limit: usize,
    ) -> Result<(Vec<StoredEvent>, bool), RuntimeError> {
        self.journal
            .of_session(id, move |reader, key| {
                let events = reader.events_within(key, after, limit, PAGE_BYTES)?;
                let has_more = match events.last() {
                    Some(last) => !reader.events(key, Some(last.seq), 1)?.is_empty(),
                    None => false,
                };
                Ok((events, has_more))
            })
            .await
    }
}
