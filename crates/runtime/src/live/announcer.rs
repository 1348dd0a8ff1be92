//! Events for connected clients.

use std::sync::Arc;

use opencode_schema::clock::Clock;
use opencode_schema::envelope;
use opencode_schema::event::{
    LiveEvent, NamedError, NamedErrorData, NamedErrorTag, Notice, SessionError, SessionIdle,
    SessionRecord, SessionStatus, SessionStatusChanged,
};
use opencode_schema::id::{EventID, IdSource, SessionID};
use opencode_schema::location::LocationRef;
use opencode_schema::message::ErrorCause;
use opencode_store::Committed;

use crate::redaction::Redaction;

use super::{LiveEvents, LiveSubscription, Selection, Topic};

/// Name of the last event of a host.
const DISPOSED: &str = "global.disposed";

/// Publishes events on the live stream of a host.
pub(crate) struct Announcer {
    live: Arc<LiveEvents>,
    ids: Arc<IdSource>,
    clock: Arc<dyn Clock>,
    redaction: Redaction,
}

impl Announcer {
    pub(crate) fn new(ids: Arc<IdSource>, clock: Arc<dyn Clock>, redaction: Redaction) -> Self {
        let live = Arc::default();
        Self {
            live,
            ids,
            clock,
            redaction,
        }
    }

    /// Removes known secrets from texts.
    pub(crate) fn redaction(&self) -> &Redaction {
        &self.redaction
    }

    /// Delivers the selected events from now on to one client.
    pub(crate) fn subscribe(&self, selection: Selection) -> LiveSubscription {
        self.live.subscribe(selection)
    }

    /// The text of an event about the host itself, with a new id.
    pub(crate) fn host_event(&self, name: &str) -> String {
        envelope::host_text(&EventID::generate(&self.ids), name)
    }

    /// Publishes that the host closes, and ends all subscriptions.
    pub(crate) fn end(&self) {
        let topic = Topic {
            name: DISPOSED,
            session: None,
        };
        self.live.publish(topic, || self.host_event(DISPOSED));
        self.live.end();
    }

    /// Publishes entries that were committed, each followed by the changed session, if the entry changed it, by its
    /// live events, and by the announcements that the store derived from it.
    pub(crate) fn announce_committed(&self, committed: &[Committed]) {
        for entry in committed {
            let session = Some(&entry.event.session_id);
            let location = entry.location.as_ref();
            let name = entry.event.payload.name();
            self.live.publish(Topic { name, session }, || {
                envelope::durable_text(&entry.event, location)
            });
            if let Some(updated) = &entry.updated {
                let name = "session.updated";
                self.live.publish(Topic { name, session }, || {
                    let id = EventID::generate(&self.ids);
                    envelope::updated_text(&id, &updated.location, &updated.info)
                });
            }
            for event in &entry.followed_by {
                self.announce(&entry.event.session_id, location, event);
            }
            for notice in &entry.derived {
                self.notify(location, notice);
            }
        }
    }

    /// Publishes the whole record of a session after a change that is not in its log.
    pub(crate) fn announce_updated(&self, location: &LocationRef, info: &SessionRecord) {
        let topic = Topic {
            name: "session.updated",
            session: Some(&info.id),
        };
        self.live.publish(topic, || {
            envelope::updated_text(&EventID::generate(&self.ids), location, info)
        });
    }

    /// True if a subscriber selects this event of the session.
    pub(crate) fn is_selected(&self, name: &str, session: &SessionID) -> bool {
        let session = Some(session);
        self.live.is_selected(Topic { name, session })
    }

    /// Publishes a live event that is never stored.
    pub(crate) fn announce(
        &self,
        session: &SessionID,
        location: Option<&LocationRef>,
        event: &LiveEvent,
    ) {
        let topic = Topic {
            name: event.name(),
            session: Some(session),
        };
        self.live.publish(topic, || {
            let id = EventID::generate(&self.ids);
            let cleaned = self.redaction.live(event);
            let event = cleaned.as_ref().unwrap_or(event);
            envelope::live_text(&id, session, self.clock.now(), location, event)
        });
    }

    /// Notifies connected clients of the reason why a session did not run.
    pub(crate) fn announce_failure(
        &self,
        session: &SessionID,
        location: Option<&LocationRef>,
        message: String,
        cause: ErrorCause,
    ) {
        let error = NamedError {
            name: NamedErrorTag::UnknownError,
            data: NamedErrorData { message },
            cause: Some(cause),
        };
        let failure = Notice::SessionError(SessionError {
            session_id: session.clone(),
            error,
        });
        self.notify(location, &failure);
    }

    /// Notifies connected clients that a session became busy or idle.
    pub(crate) fn announce_status(&self, session: &SessionID, active: bool) {
        let status = if active {
            SessionStatus::Busy { silent_ms: None }
        } else {
            SessionStatus::Idle
        };
        self.announce_status_change(session, status);
        if !active {
            let session_id = session.clone();
            self.notify(None, &Notice::SessionIdle(SessionIdle { session_id }));
        }
    }

    /// Notifies connected clients of the status of a session.
    pub(crate) fn announce_status_change(&self, session: &SessionID, status: SessionStatus) {
        let session_id = session.clone();
        let changed = SessionStatusChanged { session_id, status };
        self.notify(None, &Notice::SessionStatusChanged(changed));
    }

    /// Sends connected clients a notice that is never stored.
    pub(crate) fn notify(&self, location: Option<&LocationRef>, notice: &Notice) {
        let topic = Topic {
            name: notice.name(),
            session: notice.session_id(),
        };
        self.live.publish(topic, || {
            let (id, name) = (EventID::generate(&self.ids), notice.name());
            envelope::announcement_text(&id, location, name, &self.redaction.notice(notice))
        });
    }
}
