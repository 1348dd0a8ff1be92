//! Names of models.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Selects a model of the catalogue, and one of its variants.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub struct ModelRef {
    /// The model's id within its provider.
    pub id: String,
    /// The provider's id.
    #[serde(rename = "providerID")]
    pub provider_id: String,
    /// A variant of the model; absent means its default one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub variant: Option<String>,
}

impl ModelRef {
    /// The variant in force: an absent one is the default.
    pub fn variant_or_default(&self) -> &str {
        self.variant.as_deref().unwrap_or("default")
    }

    /// Whether both select the same model and variant.
    pub fn same_selection(&self, other: &Self) -> bool {
        self.id == other.id
            && self.provider_id == other.provider_id
            && self.variant_or_default() == other.variant_or_default()
    }

    /// The form shown in a session record, where an absent variant reads `default`.
    pub fn with_variant(&self) -> Self {
        Self {
            variant: Some(self.variant_or_default().to_owned()),
            ..self.clone()
        }
    }
}
