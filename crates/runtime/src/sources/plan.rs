//! The Context Source `core/plan`: the reminder that the agent `plan` changes nothing. It exists only if the host has
//! switched reminders on, because the traces of OpenCode contain none.

use futures::FutureExt;
use futures::future::BoxFuture;
use opencode_context::{Observation, Source};
use serde_json::Value;

/// The id of the agent.
const PLAN: &str = "plan";

const PLANNING: &str = "You are planning. Read and search, and answer with a plan. Do not change files, and run nothing that changes the project; the permission rules deny edits.";

const WORKING: &str = "You are not planning any more. You may change files, within the permission rules, to do the work that the user asks for.";

/// Tells if the agent of the turn plans.
pub(super) struct PlanReminder {
    is_planning: bool,
}

impl PlanReminder {
    pub(super) fn of(agent: &str) -> Self {
        Self {
            is_planning: agent == PLAN,
        }
    }
}

impl Source for PlanReminder {
    fn key(&self) -> &str {
        "core/plan"
    }

    fn load(&self) -> BoxFuture<'_, Observation> {
        let observed = match self.is_planning {
            true => Observation::Present(Value::Bool(true)),
            false => Observation::Absent,
        };
        futures::future::ready(observed).boxed()
    }

    fn is_valid(&self, value: &Value) -> bool {
        value.is_boolean()
    }

    fn baseline(&self, _value: &Value) -> String {
        PLANNING.to_owned()
    }

    fn update(&self, _previous: &Value, _current: &Value) -> String {
        PLANNING.to_owned()
    }

    fn removed(&self, _value: &Value) -> Option<String> {
        Some(WORKING.to_owned())
    }
}
