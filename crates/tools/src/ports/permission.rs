//! Permission requests of tools. The implementation of the trait decides, by its own rules.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use futures::future::BoxFuture;
use opencode_schema::{Record, message::ErrorKind, permission::PermissionEffect};

use crate::failure::ToolFailure;
use crate::ports::source::CallSource;

/// Decides about the actions of calls.
pub trait Permissions: Send + Sync + 'static {
    /// Returns once the request is permitted. Waits for the user without a time limit if necessary.
    /// Dropping the future withdraws the request.
    fn assert(&self, request: PermissionRequest) -> BoxFuture<'_, Result<(), PermissionError>>;

    /// True if the rules deny the request, so that [`Permissions::assert`] refuses it without a question. Asks no user.
    fn denies(&self, request: PermissionRequest) -> BoxFuture<'_, bool>;

    /// Returns the rules for the action of the request, to decide about many resources without a question. The
    /// resources of the request itself do not matter. With [`PermissionRequest::given_only`], the built-in rules allow
    /// no resource.
    fn rules(&self, request: PermissionRequest) -> BoxFuture<'_, Arc<dyn ActionRules>>;
}

/// The rules for one action of a call, as they are when the call asks for them.
pub trait ActionRules: Send + Sync + 'static {
    /// Returns the effect on a resource. `others` are its other names. `ask` means that the user has to be asked.
    fn effect(&self, resource: &str, others: &[String]) -> PermissionEffect;
}

/// One question: may this call do `action` to all of `resources`?
#[derive(Clone, Debug, PartialEq)]
pub struct PermissionRequest {
    /// The call that asks. The rules of its agent apply.
    pub source: CallSource,
    /// The action, for example `read`.
    pub action: String,
    /// The name of the tool, if rules about it restrict the action as well.
    pub tool: Option<String>,
    /// The resources that the action would use. An empty list means every resource.
    pub resources: Vec<String>,
    /// Other names by which the call reaches a resource, by the resource. Rules about them restrict.
    pub other_names: BTreeMap<String, Vec<String>>,
    /// The resources that the built-in rules do not allow: without a rule of the host or the user, the user is asked.
    pub given_only: BTreeSet<String>,
    /// The resources that decide what the host or Git does, each with the name that a pattern must contain. The user is
    /// asked each time, unless a rule of the host or the user allows them by such a pattern.
    pub guarded: BTreeMap<String, String>,
    /// The patterns that "always" would store for the project.
    pub save: Vec<String>,
    /// More data for the user who decides.
    pub metadata: Record,
}

/// Reason why a request was not permitted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PermissionError {
    /// A rule denies it, or no user is there to decide.
    #[error("a rule denies this, or no user is there to decide")]
    Blocked,
    /// The user allowed it, and a rule of now denies it.
    #[error("the permission rule {rule}, which was set while the request waited, denies this")]
    Overruled {
        /// The action and the resource of the rule.
        rule: String,
    },
    /// The user refused with a reason. The model gets the reason and may try another way.
    #[error("the user refused: {feedback}")]
    Corrected {
        /// The reason from the user.
        feedback: String,
    },
    /// The user refused without a reason. This ends the turn.
    #[error("the user declined")]
    Declined,
}

/// The reason of [`PermissionError::Blocked`] for the model.
const NOT_ALLOWED: &str =
    "it is not allowed. A permission rule denies it, or no user is there to decide";

impl PermissionError {
    /// Returns the failure of a refused call. `refused` is the tool's generic text.
    #[must_use]
    pub fn into_failure(self, refused: &str) -> ToolFailure {
        let message = match self {
            Self::Blocked => format!("{refused}: {NOT_ALLOWED}"),
            Self::Overruled { rule } => format!(
                "{refused}: it is not allowed. The permission rule {rule}, which was set while the request waited, denies it"
            ),
            Self::Corrected { feedback } => format!("{refused}: {feedback}"),
            Self::Declined => return ToolFailure::Declined,
        };
        ToolFailure::Failed {
            message,
            kind: ErrorKind::Permission,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_corrected_refusal_contains_the_feedback_of_the_user() {
        let failed = |message: &str| ToolFailure::Failed {
            message: message.to_owned(),
            kind: ErrorKind::Permission,
        };
        let corrected = PermissionError::Corrected {
            feedback: "use b.txt".to_owned(),
        };
        for (error, expected) in [
            (
                PermissionError::Blocked,
                failed(
                    "Unable to edit a.txt: it is not allowed. A permission rule denies it, or no user is there to decide",
                ),
            ),
            (corrected, failed("Unable to edit a.txt: use b.txt")),
            (
                PermissionError::Overruled {
                    rule: "edit *".to_owned(),
                },
                failed(
                    "Unable to edit a.txt: it is not allowed. The permission rule edit *, which was set while the request waited, denies it",
                ),
            ),
            (PermissionError::Declined, ToolFailure::Declined),
        ] {
            assert_eq!(error.into_failure("Unable to edit a.txt"), expected);
        }
    }
}
