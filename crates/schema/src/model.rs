//! Model selectors.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Selects a model of the catalogue and one of its variants.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub struct ModelRef {
    /// Id of the model within its provider.
    pub id: String,
    /// Id of the provider.
    #[serde(rename = "providerID")]
    pub provider_id: String,
    /// Variant of the model. Absent means the default variant.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub variant: Option<String>,
}

impl ModelRef {
    /// Returns the variant. An absent variant is `default`.
    pub fn variant_or_default(&self) -> &str {
        self.variant.as_deref().unwrap_or("default")
    }

    /// True if both select the same model and variant.
    pub fn same_selection(&self, other: &Self) -> bool {
        self.id == other.id
            && self.provider_id == other.provider_id
            && self.variant_or_default() == other.variant_or_default()
    }

    /// Returns the form in a session record: an absent variant becomes `default`.
    pub fn with_variant(&self) -> Self {
        Self {
            variant: Some(self.variant_or_default().to_owned()),
            ..self.clone()
        }
    }
}
