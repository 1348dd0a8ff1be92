//! The Context Source `core/reference-guidance`: other directories that may be useful.

use futures::FutureExt;
use futures::future::BoxFuture;
use opencode_context::{Observation, Source};
use opencode_schema::reference::ReferenceInfo;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::markup::{List, element};

const INTRODUCTION: &str = "Besides the workspace there are other directories. Look into one when what it holds matters to the task.";

/// The references of a Location that have a description.
pub(super) struct ReferenceGuidance {
    references: Vec<ListedReference>,
}

/// The data of a reference that the model is told.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct ListedReference {
    name: String,
    path: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    description: Option<String>,
}

impl ReferenceGuidance {
    pub(super) fn of(references: &[ReferenceInfo]) -> Self {
        let described = references.iter().filter(|it| it.description.is_some());
        let mut references: Vec<_> = described
            .map(|reference| ListedReference {
                name: reference.name.clone(),
                path: reference.path.clone(),
                description: reference.description.clone(),
            })
            .collect();
        references.sort_unstable_by(|a, b| a.name.cmp(&b.name));
        Self { references }
    }
}

impl Source for ReferenceGuidance {
    fn key(&self) -> &str {
        "core/reference-guidance"
    }

    fn load(&self) -> BoxFuture<'_, Observation> {
        let observation = if self.references.is_empty() {
            Observation::Absent
        } else {
            Observation::Present(json!(self.references))
        };
        futures::future::ready(observation).boxed()
    }

    fn is_valid(&self, value: &Value) -> bool {
        Vec::<ListedReference>::deserialize(value).is_ok()
    }

    fn baseline(&self, value: &Value) -> String {
        let mut list = List::new("available_references");
        for reference in Vec::<ListedReference>::deserialize(value).unwrap_or_default() {
            let mut elements = vec![
                element("name", &reference.name),
                element("path", &reference.path),
            ];
            let description = reference.description.as_deref();
            elements.extend(description.map(|text| element("description", text)));
            list.item("reference", &elements);
        }
        format!("{INTRODUCTION}\n{}", list.end())
    }

    fn update(&self, _previous: &Value, current: &Value) -> String {
        format!(
            "The other directories have changed; this list takes the place of the one before.\n\n{}",
            self.baseline(current)
        )
    }

    fn removed(&self, _value: &Value) -> Option<String> {
        Some(
            "There are no other directories any more; do not use those that were listed."
                .to_owned(),
        )
    }
}
