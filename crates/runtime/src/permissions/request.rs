//! A permission request, with whom it is judged by.

use std::sync::Arc;

use opencode_location::location::Location;
use opencode_schema::event::Notice;
use opencode_schema::id::{PermissionID, SessionID};
use opencode_schema::location::LocationRef;
use opencode_schema::permission::{
    PermissionEffect, PermissionReplied, PermissionReply, PermissionRequest, PermissionRule,
    Ruleset, SavedPermission, decide,
};
use opencode_tools::PermissionError;

use super::rules::rules;
use crate::waiting::Request;

/// Whose rules hold.
#[derive(Clone)]
pub(crate) struct Judge {
    /// The Location as it was when the turn was sampled.
    pub(crate) location: Arc<Location>,
    /// The agent, whether or not there is such an agent.
    pub(crate) agent: String,
    /// The rules of the session itself.
    pub(crate) session: Arc<[PermissionRule]>,
}

impl Judge {
    /// The rules, in order.
    pub(crate) fn rules(&self) -> Ruleset<'_> {
        rules(&self.location, &self.agent, &self.session)
    }
}

/// A request that may have to wait.
pub(crate) struct Pending {
    pub(crate) request: PermissionRequest,
    /// Where the session was when it asked.
    pub(crate) location: LocationRef,
    pub(crate) judge: Judge,
}

impl Pending {
    /// What the rules say, with what the project has saved.
    pub(crate) fn decide(&self, saved: &[SavedPermission]) -> PermissionEffect {
        let PermissionRequest {
            action, resources, ..
        } = &self.request;
        decide(action, resources, &self.judge.rules(), saved)
    }

    /// The project, or the worktree of an untrusted one, whose saved permissions count.
    pub(crate) fn project(&self) -> &str {
        self.judge.location.approvals()
    }

    pub(crate) fn replied(&self, reply: PermissionReply) -> Notice {
        Notice::PermissionReplied(PermissionReplied {
            session_id: self.request.session_id.clone(),
            request_id: self.request.id.clone(),
            reply,
        })
    }
}

impl Request for Pending {
    type Id = PermissionID;
    type Answer = Result<(), PermissionError>;

    fn id(&self) -> &PermissionID {
        &self.request.id
    }

    fn session_id(&self) -> &SessionID {
        &self.request.session_id
    }

    fn location(&self) -> &LocationRef {
        &self.location
    }

    fn asked(&self) -> Notice {
        Notice::PermissionAsked(self.request.clone())
    }

    fn given_up(&self) -> Notice {
        self.replied(PermissionReply::Reject)
    }
}
