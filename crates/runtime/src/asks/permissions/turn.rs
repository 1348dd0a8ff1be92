//! Permission checks for the calls of one Provider Turn. They use the agent and the Location that the turn was sampled
//! with, even if the session changes them in the meantime, and the rules of now in addition.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use futures::future::BoxFuture;
use opencode_schema::id::{PermissionID, SessionID};
use opencode_schema::location::LocationRef;
use opencode_schema::permission::{PermissionEffect, PermissionRequest, PermissionSource};
use opencode_tools::{self as tools, CallSource, PermissionError};
use parking_lot::Mutex;

use super::Permissions;
use super::protected::Protected;
use super::request::{AllowedBy, Pending, RuleScope};
use super::tool_names::NamesOfNow;
use crate::asks::unanswered::Unanswered;
use crate::error::RuntimeError;

/// Maximum number of permissions of one turn that are checked once more. Only a call of a tool of the program asks for
/// more than a few.
const MAX_GRANTED: usize = 1_000;

/// Answers the permission requests of the tools of one turn.
pub(crate) struct TurnPermissions {
    pub(crate) permissions: Arc<Permissions>,
    /// The Location of the session.
    pub(crate) place: LocationRef,
    /// The agent, Location and session whose rules apply.
    pub(crate) rule_scope: RuleScope,
    tool_names: Option<NamesOfNow>,
    /// The permissions that calls have, in the order of their requests.
    granted: Mutex<VecDeque<Arc<Pending>>>,
}

impl tools::Permissions for TurnPermissions {
    fn assert(
        &self,
        request: tools::PermissionRequest,
    ) -> BoxFuture<'_, Result<(), PermissionError>> {
        let pending = self.of_call(request);
        Box::pin(self.grant(pending))
    }

    fn denies(&self, request: tools::PermissionRequest) -> BoxFuture<'_, bool> {
        let mut pending = self.of_call(request);
        Box::pin(async move {
            pending.rule_scope.resolve_links().await;
            let effect = self.permissions.decide(&pending).await;
            matches!(effect, Ok(PermissionEffect::Deny))
        })
    }

    fn rules(
        &self,
        request: tools::PermissionRequest,
    ) -> BoxFuture<'_, Arc<dyn tools::ActionRules>> {
        let pending = self.of_call(request);
        Box::pin(async move { self.permissions.rules_for_many(pending).await })
    }
}

impl TurnPermissions {
    pub(crate) fn new(
        permissions: Arc<Permissions>,
        place: LocationRef,
        rule_scope: RuleScope,
    ) -> Self {
        Self {
            permissions,
            place,
            rule_scope,
            tool_names: None,
            granted: Mutex::default(),
        }
    }

    /// Lets rules with misspelt names of tools restrict the tools that are meant.
    pub(crate) fn with_tool_names(self, names: NamesOfNow) -> Self {
        Self {
            tool_names: Some(names),
            ..self
        }
    }

    /// Returns true if the rules or the saved permissions allow something without a question.
    /// `other_names` are further names by which the action reaches the resource.
    pub(crate) async fn allows(
        &self,
        session: &SessionID,
        action: &str,
        resource: String,
        other_names: Vec<String>,
    ) -> bool {
        let protected = Protected::default();
        self.allows_protected(session, action, resource, other_names, protected)
            .await
    }

    /// Returns true if the use of a directory outside of the Location is allowed without a question. With
    /// `is_given_only`, the built-in rules do not allow it.
    pub(crate) async fn allows_outside(
        &self,
        session: &SessionID,
        pattern: String,
        other_names: Vec<String>,
        is_given_only: bool,
    ) -> bool {
        let protected = Protected {
            given_only: is_given_only.then(|| pattern.clone()).into_iter().collect(),
            ..Protected::default()
        };
        self.allows_protected(
            session,
            "external_directory",
            pattern,
            other_names,
            protected,
        )
        .await
    }

    async fn allows_protected(
        &self,
        session: &SessionID,
        action: &str,
        resource: String,
        other_names: Vec<String>,
        protected: Protected,
    ) -> bool {
        let other_names = [(resource.clone(), other_names)].into();
        let request = self.request(session.clone(), action, vec![resource]);
        let mut pending = Pending {
            protected,
            ..self.pending(request, other_names)
        };
        pending.rule_scope.resolve_links().await;
        matches!(
            self.permissions.decide(&pending).await,
            Ok(PermissionEffect::Allow)
        )
    }

    /// Returns once the user or the rules allow something that the host does for the session, outside of a tool call.
    /// Dropping the future withdraws the request.
    pub(crate) async fn ask(
        &self,
        session: &SessionID,
        action: &str,
        resources: Vec<String>,
        save: Option<Vec<String>>,
    ) -> Result<(), PermissionError> {
        let request = PermissionRequest {
            save,
            ..self.request(session.clone(), action, resources)
        };
        let pending = self.pending(request, BTreeMap::new());
        self.permissions.assert_permission(pending).await?;
        Ok(())
    }

    /// Returns once the request of a call is allowed. If it waited, the rules of now also decide about what the call was
    /// allowed before.
    async fn grant(&self, pending: Pending) -> Result<(), PermissionError> {
        let Granted {
            pending,
            has_waited,
        } = self.permissions.assert_permission(pending).await?;
        if has_waited {
            for earlier in self.of_same_call(&pending) {
                self.permissions.check_now(&earlier).await?;
            }
        }
        let mut granted = self.granted.lock();
        if granted.len() == MAX_GRANTED {
            granted.pop_front();
        }
        granted.push_back(pending);
        Ok(())
    }

    fn of_same_call(&self, pending: &Pending) -> Vec<Arc<Pending>> {
        let granted = self.granted.lock();
        let same = |it: &&Arc<Pending>| it.request.source == pending.request.source;
        granted.iter().filter(same).cloned().collect()
    }

    fn of_call(&self, asked: tools::PermissionRequest) -> Pending {
        let present = |metadata: &opencode_schema::Record| !metadata.is_empty();
        let CallSource {
            session_id,
            agent: _,
            message_id,
            call_id,
        } = asked.source;
        let request = PermissionRequest {
            save: Some(asked.save).filter(|save| !save.is_empty()),
            metadata: Some(asked.metadata).filter(present),
            source: Some(PermissionSource::Tool {
                message_id: message_id.to_string(),
                call_id,
            }),
            ..self.request(session_id, &asked.action, asked.resources)
        };
        Pending {
            tool_names: self.tool_names.clone(),
            tool: asked.tool,
            protected: Protected {
                given_only: asked.given_only,
                guarded: asked.guarded,
            },
            ..self.pending(request, asked.other_names)
        }
    }

    fn request(
        &self,
        session_id: SessionID,
        action: &str,
        resources: Vec<String>,
    ) -> PermissionRequest {
        PermissionRequest {
            id: PermissionID::generate(&self.permissions.journal.ids),
            session_id,
            action: action.to_owned(),
            resources,
            save: None,
            metadata: None,
            source: None,
        }
    }

    fn pending(
        &self,
        request: PermissionRequest,
        other_names: BTreeMap<String, Vec<String>>,
    ) -> Pending {
        let (place, rule_scope) = (self.place.clone(), self.rule_scope.clone());
        Pending::new(request, other_names, place, rule_scope)
    }
}

/// A request that is allowed.
struct Granted {
    pending: Arc<Pending>,
    /// True if it waited for an answer.
    has_waited: bool,
}

impl Permissions {
    /// Returns once the request is allowed. Dropping the future withdraws the request.
    async fn assert_permission(&self, mut pending: Pending) -> Result<Granted, PermissionError> {
        pending.rule_scope.resolve_links().await;
        let mut pending = Arc::new(pending);
        let mut has_waited = false;
        loop {
            let before = self.times_saved();
            match self.decide(&pending).await {
                Ok(PermissionEffect::Allow) => {
                    return Ok(Granted {
                        pending,
                        has_waited,
                    });
                }
                Ok(PermissionEffect::Deny) if has_waited => self.check_now(&pending).await?,
                Ok(PermissionEffect::Deny) | Err(RuntimeError::SessionNotFound(_)) => {
                    return Err(PermissionError::Blocked);
                }
                Ok(PermissionEffect::Ask) => {}
                Err(error) => {
                    // Asks the user, although the rules or a saved permission may already allow it.
                    tracing::warn!(%error, "a permission cannot be decided");
                }
            }
            has_waited = true;
            match self.answer_to(&pending, before).await? {
                AllowedBy::User => {
                    self.check_now(&pending).await?;
                    return Ok(Granted {
                        pending,
                        has_waited,
                    });
                }
                // The approval may have been removed meanwhile. Then the request waits again.
                AllowedBy::Approval => {
                    let mut again = Pending::clone(&pending);
                    again.request.id = PermissionID::generate(&self.journal.ids);
                    pending = Arc::new(again);
                }
            }
        }
    }

    /// Lets the request wait for its answer.
    async fn answer_to(
        &self,
        pending: &Arc<Pending>,
        before: u64,
    ) -> Result<AllowedBy, PermissionError> {
        if self.timeout.unanswered == Unanswered::Deny {
            self.waiting.refuse(pending);
            return Err(PermissionError::Blocked);
        }
        let timeout = self.timeout.wait();
        let asked = match self.waiting.ask(Arc::clone(pending)) {
            Ok(asked) => asked,
            Err(reason) => {
                tracing::warn!(?reason, "a permission cannot be asked for");
                return Err(PermissionError::Blocked);
            }
        };
        self.catch_up(before, &pending.location).await;
        let answer = asked.answer(timeout).await;
        answer.unwrap_or(Err(PermissionError::Blocked))
    }
}
