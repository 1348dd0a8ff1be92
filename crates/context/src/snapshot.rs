//! What the model was told, in the form in which it is stored.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::source::{Told, is_blank};

/// Context Snapshot: what the model knows, by source key.
pub type Snapshot = BTreeMap<String, Admitted>;

/// A source's value at the time it was told to the model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Admitted {
    /// The value.
    pub value: Value,
    /// What to tell the model when the source has gone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub removed: Option<String>,
}

impl Admitted {
    /// The text for the source's removal, if it can be removed.
    pub(crate) fn removal(&self) -> Option<&str> {
        self.removed.as_deref().filter(|text| !is_blank(text))
    }
}

impl From<&Told> for Admitted {
    fn from(told: &Told) -> Self {
        Self {
            value: told.value.clone(),
            removed: told.removed.clone(),
        }
    }
}

/// The beginning of a Context Epoch.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Baseline {
    /// Baseline System Context: the exact text sent, empty when no source has anything to tell.
    pub text: String,
    /// Context Snapshot.
    pub snapshot: Snapshot,
}
