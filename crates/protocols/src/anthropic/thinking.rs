//! The thinking settings of the model.

use opencode_llm::canonical::error::LlmError;
use opencode_llm::canonical::json::count;
use opencode_llm::canonical::request::JsonMap;
use serde_json::{Value, json};

use crate::body::option;

/// The setting `thinking` of a request.
pub(super) enum Thinking {
    /// The server decides.
    Unset,
    Disabled,
    /// The model decides the amount.
    Adaptive {
        display: Option<Value>,
    },
    /// At most this number of tokens, in addition to those of the answer.
    Enabled {
        budget: u64,
    },
}

impl Thinking {
    pub(super) fn of(options: &JsonMap) -> Result<Self, LlmError> {
        let Some(setting) = option(options, "thinking") else {
            return Ok(Self::Unset);
        };
        let budget = || count(setting.get("budgetTokens")).filter(|budget| *budget > 0);
        match setting.get("type").and_then(Value::as_str) {
            Some("disabled") => Ok(Self::Disabled),
            Some("adaptive") => Ok(Self::Adaptive {
                display: setting.get("display").filter(|it| !it.is_null()).cloned(),
            }),
            Some("enabled") => match budget() {
                Some(budget) => Ok(Self::Enabled { budget }),
                None => Err(LlmError::invalid_request(
                    "the option thinking.budgetTokens must say how much the model may think",
                )),
            },
            _ => Err(LlmError::invalid_request(
                "the option thinking.type must be \"enabled\", \"adaptive\" or \"disabled\"",
            )),
        }
    }

    /// True if this setting makes the model think. Sampling controls are then not available.
    pub(super) const fn is_on(&self) -> bool {
        matches!(self, Self::Adaptive { .. } | Self::Enabled { .. })
    }

    /// Returns the number of tokens in addition to those of the answer.
    pub(super) const fn budget(&self) -> u64 {
        match self {
            Self::Enabled { budget } => *budget,
            _ => 0,
        }
    }

    pub(super) fn wire(&self) -> Option<Value> {
        match self {
            Self::Unset => None,
            Self::Disabled => Some(json!({"type": "disabled"})),
            Self::Adaptive { display: None } => Some(json!({"type": "adaptive"})),
            Self::Adaptive {
                display: Some(display),
            } => Some(json!({"type": "adaptive", "display": display})),
            Self::Enabled { budget } => Some(json!({"type": "enabled", "budget_tokens": budget})),
        }
    }
}
