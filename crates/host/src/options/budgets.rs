//! Options that limit the work of sessions, and the models that take over from a provider.

use opencode_declaration::options::MAX_FALLBACKS;
use opencode_location::config::parse_model;
use opencode_protocol::failure::Failure;
use opencode_runtime::BudgetOptions;
use opencode_schema::model::ModelRef;
use opencode_schema::session::SessionBudget;
use serde::Deserialize;

use super::{EXAMPLE, HostOptions, invalid};

/// The budgets of a host.
#[derive(Debug, Clone, Copy, PartialEq, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct BudgetsOption {
    /// The budget of each session that no task created and that has none of its own.
    pub session: Limited,
    /// The budget of all sessions together, from the opening of the host on.
    pub host: Limited,
}

/// The limits of one budget.
#[derive(Debug, Clone, Copy, PartialEq, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Limited {
    /// Number of tokens.
    pub tokens: Option<u64>,
    /// Cost, in the currency of the catalogue.
    pub cost: Option<f64>,
    /// Number of Provider Turns.
    pub turns: Option<u64>,
    /// Time of the Provider Turns, in milliseconds.
    pub duration_ms: Option<u64>,
}

impl From<Limited> for SessionBudget {
    fn from(limits: Limited) -> Self {
        Self {
            tokens: limits.tokens,
            cost: limits.cost,
            turns: limits.turns,
            duration_ms: limits.duration_ms,
        }
    }
}

impl From<BudgetsOption> for BudgetOptions {
    fn from(options: BudgetsOption) -> Self {
        Self {
            session: options.session.into(),
            host: options.host.into(),
        }
    }
}

impl HostOptions {
    /// Returns the models that take over from a provider.
    ///
    /// # Errors
    ///
    /// `InvalidOption` for a text that names no model, and for too many models.
    pub(crate) fn fallback(&self) -> Result<Vec<ModelRef>, Failure> {
        if self.fallback.len() > MAX_FALLBACKS {
            let message = format!("fallback has at most {MAX_FALLBACKS} models");
            return Err(invalid("fallback", message));
        }
        let models = self.fallback.iter().enumerate();
        models
            .map(|(at, name)| {
                let message =
                    || format!("fallback[{at}] must be \"provider/model\", for example {EXAMPLE}");
                parse_model(name).ok_or_else(|| invalid(&format!("fallback[{at}]"), message()))
            })
            .collect()
    }
}
