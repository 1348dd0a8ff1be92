//! Permissions: decides if an action is allowed, denied, or needs a user's answer.
//!
//! A tool call is judged by the rules of the agent of its Provider Turn and by the rules of its session, then by the
//! permissions that answers of `always` saved in the project. If none of them decides, the request waits. The rules of
//! now count as well (`now`), and once more right before an allowed call begins.

#[cfg(test)]
#[cfg(unix)]
mod fuzz;
mod givers;
mod many;
mod now;
mod protected;
mod request;
mod rules;
mod saved;
mod tool_names;
mod turn;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use futures::{Stream, StreamExt};
use opencode_location::location::Locations;
use opencode_schema::Record;
use opencode_schema::id::{PermissionID, SessionID};
use opencode_schema::location::LocationRef;
use opencode_schema::permission::{
    PermissionEffect, PermissionReply, PermissionRequest, PermissionSource,
};
use opencode_store::SessionRow;
use opencode_tools::PermissionError;

use self::request::{AllowedBy, Pending};
use crate::agents::agent_of;
use crate::asks::notice::RequestNotice;
use crate::asks::unanswered::{AnswerTimeout, Unanswered};
use crate::asks::waiting::{NotAsked, Waiting};
use crate::error::{RuntimeError, check_new_id};
use crate::journal::Journal;
use crate::json::json_bytes;

pub(crate) use self::givers::{Giver, TaskGivers};
pub(crate) use self::request::RuleScope;
pub(crate) use self::rules::limits;
pub use self::saved::SavedScope;
pub(crate) use self::tool_names::{NamesOfNow, ToolNames};
pub(crate) use self::turn::TurnPermissions;

/// Maximum size in bytes of a request or an answer from a client. Both are sent to all subscribers.
pub(crate) const MAX_REQUEST_BYTES: usize = 1024 * 1024;

/// The permission requests of a host.
pub(crate) struct Permissions {
    journal: Arc<Journal>,
    locations: Arc<Locations>,
    timeout: AnswerTimeout,
    givers: TaskGivers,
    waiting: Arc<Waiting<Pending>>,
    /// Number of saves so far. Detects saves that happened after the saved permissions were read.
    saved: AtomicU64,
}

/// Asks if an action is allowed, on behalf of a session.
#[derive(Debug, Clone)]
pub struct AskPermission {
    /// The session.
    pub session_id: SessionID,
    /// The id of the request, chosen by the caller.
    pub id: Option<PermissionID>,
    /// The action.
    pub action: String,
    /// The resources of the action. An empty list means every resource.
    pub resources: Vec<String>,
    /// The patterns to save if the answer is `always`.
    pub save: Option<Vec<String>>,
    /// Data that helps to decide.
    pub metadata: Option<Record>,
    /// The source of the request.
    pub source: Option<PermissionSource>,
    /// The agent whose rules apply; `None` means the agent of the session.
    pub agent: Option<String>,
}

/// The immediate decision about a permission.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PermissionDecided {
    /// The request. It waits if the effect is `ask`.
    pub id: PermissionID,
    /// The current decision.
    pub effect: PermissionEffect,
}

impl Permissions {
    pub(crate) fn new(
        journal: Arc<Journal>,
        locations: Arc<Locations>,
        timeout: AnswerTimeout,
        givers: TaskGivers,
    ) -> Self {
        let waiting = Arc::new(Waiting::new(Arc::clone(&journal.announcer)));
        Self {
            journal,
            locations,
            timeout,
            givers,
            waiting,
            saved: AtomicU64::new(0),
        }
    }

    /// Gives up all waiting requests and refuses all later ones.
    pub(crate) fn end(&self) {
        self.waiting.end();
    }

    /// Gives up the waiting requests of a session.
    pub(crate) fn withdraw(&self, session: &SessionID) {
        self.waiting.withdraw(session);
    }

    /// Returns the waiting requests, then new ones, each once, and the end of each of them.
    pub(crate) fn attend(
        &self,
    ) -> impl Stream<Item = RequestNotice<PermissionRequest, PermissionID>> + Send + use<> {
        self.waiting.attend().map(|notice| match notice {
            RequestNotice::Asked(asked) => RequestNotice::Asked(asked.shown()),
            RequestNotice::Ended(ended) => RequestNotice::Ended(ended.request.id.clone()),
        })
    }

    /// Returns the waiting requests of a session.
    pub(crate) fn of_session(&self, session: &SessionID) -> Vec<PermissionRequest> {
        self.shown(|pending| pending.request.session_id == *session)
    }

    /// Returns the waiting requests that came from a Location, of all sessions.
    pub(crate) fn of_location(&self, location: &LocationRef) -> Vec<PermissionRequest> {
        self.shown(|pending| pending.location == *location)
    }

    fn shown(&self, fits: impl Fn(&Pending) -> bool) -> Vec<PermissionRequest> {
        let waiting = self.waiting.list(fits);
        waiting.iter().map(|it| it.shown()).collect()
    }
}

impl Permissions {
    pub(crate) async fn permission(
        &self,
        session: &SessionID,
        id: &PermissionID,
    ) -> Result<PermissionRequest, RuntimeError> {
        self.journal.session(session).await?;
        let of_session = self.of_session(session);
        let found = of_session.into_iter().find(|request| request.id == *id);
        found.ok_or_else(|| RuntimeError::PermissionNotFound(id.clone()))
    }

    /// Decides at once, or announces a waiting request. The caller does not wait for the answer.
    pub(crate) async fn ask_permission(
        &self,
        ask: AskPermission,
    ) -> Result<PermissionDecided, RuntimeError> {
        let SessionRow {
            info: session,
            permission,
            ..
        } = self.journal.session(&ask.session_id).await?;
        let location = self.locations.get(&session.location.directory).await?;
        if let Some(id) = &ask.id {
            check_new_id(id.as_str())?;
        }
        let follows_session = ask.agent.is_none();
        let agent = ask.agent.unwrap_or_else(|| agent_of(&session, &location));
        let id = ask
            .id
            .unwrap_or_else(|| PermissionID::generate(&self.journal.ids));
        // A client that names `*` means every resource, as an empty text does.
        let named = |resource: String| match resource.as_str() {
            "*" => String::new(),
            _ => resource,
        };
        let request = PermissionRequest {
            id: id.clone(),
            session_id: ask.session_id,
            action: ask.action,
            resources: ask.resources.into_iter().map(named).collect(),
            save: ask.save,
            metadata: ask.metadata,
            source: ask.source,
        };
        let rule_scope = RuleScope::new(location, agent, permission.into());
        let mut pending = Pending::new(request, BTreeMap::new(), session.location, rule_scope);
        pending.follows_session = follows_session;
        check_size(&pending.request)?;
        pending.rule_scope.resolve_links().await;
        let before = self.times_saved();
        let effect = match self.decide(&pending).await? {
            PermissionEffect::Ask if self.timeout.unanswered == Unanswered::Deny => {
                PermissionEffect::Deny
            }
            PermissionEffect::Ask => {
                self.ask_in_background(pending, before).await?;
                PermissionEffect::Ask
            }
            decided => decided,
        };
        Ok(PermissionDecided { id, effect })
    }

    async fn ask_in_background(&self, pending: Pending, before: u64) -> Result<(), RuntimeError> {
        let id = pending.request.id.clone();
        let location = pending.location.clone();
        let timeout = self.timeout.wait();
        match self.waiting.ask(pending) {
            Ok(asked) if self.timeout.unanswered == Unanswered::Wait => asked.keep_waiting(),
            Ok(asked) => drop(opencode_log::spawn(asked.answer(timeout))),
            Err(NotAsked::Taken) => return Err(RuntimeError::PermissionConflict(id)),
            Err(NotAsked::Ended) => return Err(RuntimeError::Closed),
            Err(NotAsked::Full) => {
                return Err(RuntimeError::Unavailable {
                    service: "session.permission.create",
                    message: "Too many permission requests wait in this session; answer some first"
                        .to_owned(),
                });
            }
        }
        self.catch_up(before, &location).await;
        Ok(())
    }

    /// Answers a request. Publishes the event before the effect.
    pub(crate) async fn reply_permission(
        &self,
        session: &SessionID,
        id: &PermissionID,
        reply: PermissionReply,
        message: Option<String>,
    ) -> Result<(), RuntimeError> {
        self.journal.session(session).await?;
        check_size(&message)?;
        let waiting = &self.waiting;
        let Some(claim) = waiting.claim(session, id) else {
            return Err(RuntimeError::PermissionNotFound(id.clone()));
        };
        match reply {
            PermissionReply::Once => {
                let notice = claim.request().replied(reply);
                claim.answer(notice, Ok(AllowedBy::User));
            }
            PermissionReply::Always => {
                self.save(claim.request()).await?;
                let location = claim.request().location.clone();
                let notice = claim.request().replied(reply);
                claim.answer(notice, Ok(AllowedBy::User));
                self.resolve_decided(&location).await;
            }
            PermissionReply::Reject => {
                let refusal = match message.filter(|message| !message.is_empty()) {
                    Some(feedback) => PermissionError::Corrected { feedback },
                    None => PermissionError::Declined,
                };
                let notice = claim.request().replied(reply);
                claim.answer(notice, Err(refusal));
                self.decline_all(session);
            }
        }
        Ok(())
    }

    /// Declines all other waiting requests of a session.
    fn decline_all(&self, session: &SessionID) {
        let waiting = &self.waiting;
        for pending in waiting.list(|pending| pending.request.session_id == *session) {
            if let Some(claim) = waiting.claim(session, &pending.request.id) {
                let notice = pending.replied(PermissionReply::Reject);
                claim.answer(notice, Err(PermissionError::Declined));
            }
        }
    }

    /// Answers the waiting requests of a Location, of all sessions, that are allowed now, and refuses those that are
    /// denied now.
    async fn resolve_decided(&self, location: &LocationRef) {
        let waiting = &self.waiting;
        for pending in waiting.list(|pending| pending.location == *location) {
            let (reply, answer) = match self.decide(&pending).await {
                Ok(PermissionEffect::Allow) => (PermissionReply::Always, Ok(AllowedBy::Approval)),
                Ok(PermissionEffect::Deny) => {
                    let refusal = self.check_now(&pending).await.err();
                    let refusal = refusal.unwrap_or(PermissionError::Blocked);
                    (PermissionReply::Reject, Err(refusal))
                }
                Ok(PermissionEffect::Ask) => continue,
                Err(error) => {
                    tracing::warn!(%error, "a waiting permission cannot be decided");
                    continue;
                }
            };
            let request = &pending.request;
            if let Some(claim) = waiting.claim(&request.session_id, &request.id) {
                claim.answer(pending.replied(reply), answer);
            }
        }
    }

    /// Answers requests that started to wait during a save, because the save did not see them. `before` is the number
    /// of saves when the request was judged.
    async fn catch_up(&self, before: u64, location: &LocationRef) {
        if self.times_saved() != before {
            self.resolve_decided(location).await;
        }
    }

    /// Returns the number of saves so far.
    fn times_saved(&self) -> u64 {
        self.saved.load(Ordering::SeqCst)
    }
}

/// Refuses values that are too large for an event to all subscribers.
pub(crate) fn check_size(value: &impl serde::Serialize) -> Result<(), RuntimeError> {
    let (bytes, limit) = (json_bytes(value), MAX_REQUEST_BYTES);
    if bytes > limit {
        return Err(RuntimeError::RequestTooLarge { bytes, limit });
    }
    Ok(())
}
