//! The Context Source `core/model`: the selected model.

use futures::FutureExt;
use futures::future::BoxFuture;
use opencode_context::{Observation, Source};
use opencode_schema::model::ModelRef;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// The model selected for a turn.
pub(crate) struct SelectedModel {
    value: Value,
}

/// The stored value.
#[derive(Serialize, Deserialize)]
struct Identity<'a> {
    #[serde(rename = "providerID")]
    provider_id: &'a str,
    id: &'a str,
}

impl SelectedModel {
    /// Omits the variant, because it does not change which model answers.
    pub(crate) fn of(model: &ModelRef) -> Self {
        Self {
            value: json!(Identity {
                provider_id: &model.provider_id,
                id: &model.id,
            }),
        }
    }
}

impl Source for SelectedModel {
    fn key(&self) -> &str {
        "core/model"
    }

    fn load(&self) -> BoxFuture<'_, Observation> {
        futures::future::ready(Observation::Present(self.value.clone())).boxed()
    }

    fn is_valid(&self, value: &Value) -> bool {
        Identity::deserialize(value).is_ok()
    }

    fn baseline(&self, value: &Value) -> String {
        format!("You are the model {}.", name(value))
    }

    fn update(&self, _previous: &Value, current: &Value) -> String {
        format!("You are now the model {}.", name(current))
    }
}

fn name(value: &Value) -> String {
    Identity::deserialize(value)
        .map(|it| format!("{} of the provider {}", it.id, it.provider_id))
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_text_has_the_ids_of_the_catalogue() {
        let model = SelectedModel::of(&ModelRef {
            id: "m1".to_owned(),
            provider_id: "mock".to_owned(),
            variant: Some("high".to_owned()),
        });
        let value = json!({ "providerID": "mock", "id": "m1" });
        assert_eq!(model.load().await, Observation::Present(value.clone()));
        assert_eq!(
            [model.baseline(&value), model.update(&Value::Null, &value)],
            [
                "You are the model m1 of the provider mock.",
                "You are now the model m1 of the provider mock.",
            ]
        );
        assert_eq!(model.removed(&value), None);
        let valid = [value, json!("m1"), json!({ "id": "m1" })].map(|it| model.is_valid(&it));
        assert_eq!(valid, [true, false, false]);
    }
}
