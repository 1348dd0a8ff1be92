//! The information that the model received, in the form that is stored.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::source::{RenderedSource, is_blank};

/// Context Snapshot: the information that the model has, by source key.
pub type Snapshot = BTreeMap<String, Admitted>;

/// The value of a source at the time when the model received it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Admitted {
    /// The value.
    pub value: Value,
    /// The text for the model when the source is gone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub removed: Option<String>,
}

impl Admitted {
    /// Returns the text for the removal of the source, if the source can be removed.
    pub(crate) fn removal(&self) -> Option<&str> {
        self.removed.as_deref().filter(|text| !is_blank(text))
    }
}

impl From<&RenderedSource> for Admitted {
    fn from(rendered: &RenderedSource) -> Self {
        Self {
            value: rendered.value.clone(),
            removed: rendered.removed.clone(),
        }
    }
}

/// Start of a Context Epoch.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Baseline {
    /// Baseline System Context: the exact text sent. Empty if no source is present.
    pub text: String,
    /// Context Snapshot.
    pub snapshot: Snapshot,
}
