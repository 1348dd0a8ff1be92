//! The settings of the current activity, which its prompts gave.

use std::sync::{Arc, OnceLock};

use opencode_schema::model::ModelRef;
use opencode_schema::permission::matches;
use opencode_schema::prompt::{PromptOutput, PromptSettings};
use opencode_store::{Reader, Sequence, SessionRow, StoreError};

use crate::inbox::{Promotion, settings_after};
use crate::structured::OutputSchema;

/// The settings of an activity, and the admission of the prompt that gave them.
#[derive(Clone)]
pub(crate) struct ActiveSettings {
    pub(super) admitted: Sequence,
    pub(super) values: Arc<PromptSettings>,
    /// The schema of the output, read once.
    schema: Arc<OnceLock<Result<OutputSchema, String>>>,
}

impl ActiveSettings {
    fn new(admitted: Sequence, values: PromptSettings) -> Self {
        Self {
            admitted,
            values: Arc::new(values),
            schema: Arc::default(),
        }
    }

    /// # Errors
    ///
    /// Fails with the problem if the schema cannot be used.
    pub(super) fn output_schema(&self, wanted: &PromptOutput) -> Result<OutputSchema, String> {
        let read = || OutputSchema::new(&wanted.schema);
        self.schema.get_or_init(read).clone()
    }

    /// True if a turn with these settings may offer the tool. The name itself has priority over names with `*`, and a
    /// longer name over a shorter one. Of two names with equal length, the one that removes the tool has priority.
    pub(super) fn offers(&self, tool: &str) -> bool {
        let Some(tools) = &self.values.tools else {
            return true;
        };
        if let Some(offered) = tools.get(tool) {
            return *offered;
        }
        let matching = tools.iter().filter(|(name, _)| matches(name, tool));
        let decisive = matching.max_by_key(|(name, offered)| (name.len(), !**offered));
        decisive.is_none_or(|(_, offered)| *offered)
    }

    /// Returns the model of the activity. `chosen` is the model that the session would use otherwise, and `default`
    /// returns the model that the Location would use.
    pub(super) fn model(
        &self,
        chosen: Option<ModelRef>,
        default: impl FnOnce() -> Option<ModelRef>,
    ) -> Option<ModelRef> {
        if let Some(model) = &self.values.model {
            return Some(model.clone());
        }
        let Some(variant) = &self.values.variant else {
            return chosen;
        };
        let model = chosen.or_else(default)?;
        Some(ModelRef {
            variant: Some(variant.clone()),
            ..model
        })
    }
}

/// Returns the settings that apply after a promotion. `former` saves the reading of settings that are known.
pub(super) fn active_settings(
    reader: &Reader<'_>,
    session: &SessionRow,
    promotion: Promotion,
    steer_batch: usize,
    former: Option<ActiveSettings>,
) -> Result<Option<ActiveSettings>, StoreError> {
    let Some(admitted) = settings_after(reader, session, promotion, steer_batch)? else {
        return Ok(None);
    };
    if let Some(former) = former.filter(|it| it.admitted == admitted) {
        return Ok(Some(former));
    }
    let values = reader.prompt_settings(session.key, admitted)?;
    Ok(Some(ActiveSettings::new(admitted, values)))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn settings(value: serde_json::Value) -> ActiveSettings {
        ActiveSettings::new(1.into(), serde_json::from_value(value).unwrap())
    }

    #[test]
    fn the_most_specific_name_decides_about_a_tool() {
        for (tools, tool, expected) in [
            (json!({}), "read", true),
            (json!({ "read": false }), "read", false),
            (json!({ "read": false }), "edit", true),
            (json!({ "*": false }), "read", false),
            (json!({ "*": false, "read": true }), "read", true),
            (json!({ "*": true, "read": false }), "read", false),
            (
                json!({ "mcp_*": false, "mcp_git_*": true }),
                "mcp_git_log",
                true,
            ),
            (
                json!({ "mcp_*": false, "mcp_git_*": true }),
                "mcp_web",
                false,
            ),
            (json!({ "*b": true, "a*": false }), "ab", false),
            (json!({ "r": false }), "read", true),
        ] {
            let settings = settings(json!({ "tools": tools }));
            assert_eq!(settings.offers(tool), expected, "{tools} {tool}");
        }
        assert!(settings(json!({ "system": "" })).offers("read"));
    }

    #[test]
    fn the_model_of_the_settings_replaces_the_model_of_the_session() {
        let model = |id: &str, variant: Option<&str>| ModelRef {
            id: id.to_owned(),
            provider_id: "p".to_owned(),
            variant: variant.map(str::to_owned),
        };
        let default = || Some(model("default", None));
        for (given, chosen, expected) in [
            (json!({}), None, None),
            (
                json!({}),
                Some(model("a", Some("low"))),
                Some(model("a", Some("low"))),
            ),
            (
                json!({ "model": model("b", None) }),
                Some(model("a", None)),
                Some(model("b", None)),
            ),
            (
                json!({ "variant": "high" }),
                Some(model("a", Some("low"))),
                Some(model("a", Some("high"))),
            ),
            (
                json!({ "variant": "high" }),
                None,
                Some(model("default", Some("high"))),
            ),
        ] {
            assert_eq!(
                settings(given.clone()).model(chosen, default),
                expected,
                "{given}"
            );
        }
    }
}
