//! Options that the families of models get if neither the configuration nor the list of models sets them.

use serde_json::{Value, json};

use super::copilot::needs_responses;
use super::family::Family;
use super::versions::gpt_version;
use crate::model::Model;
use crate::secret::Members;

/// Returns the default options of a model in the spelling of its package.
pub(super) fn defaults(model: &Model) -> Members {
    let family = Family::of(Some(&model.api.kind));
    let id = model.wire_id.to_ascii_lowercase();
    let mut all = reasoning(family, &id, model.reasoning);
    all.extend(sampling(family, &id, model.reasoning));
    Members(
        all.into_iter()
            .map(|(name, value)| (name.to_owned(), value))
            .collect(),
    )
}

type Defaults = Vec<(&'static str, Value)>;

fn reasoning(family: Family, id: &str, reasons: bool) -> Defaults {
    let version = gpt_version(id).filter(|_| !id.contains("-chat") && !id.contains("-pro"));
    let reasons_by_default = match family {
        Family::Copilot => needs_responses(id),
        _ => version >= Some((5, 0)),
    };
    match family {
        Family::OpenAi | Family::Azure | Family::Copilot if reasons_by_default => {
            let mut defaults = vec![
                ("reasoningEffort", json!("medium")),
                ("reasoningSummary", json!("auto")),
            ];
            // Azure refuses the option for some versions, and Codex models have another default.
            let is_terse =
                family == Family::OpenAi && version >= Some((5, 1)) && !id.contains("codex");
            defaults.extend(is_terse.then(|| ("textVerbosity", json!("low"))));
            defaults
        }
        Family::Google if reasons => {
            let config = match id.contains("gemini-3") {
                true => json!({"includeThoughts": true, "thinkingLevel": "high"}),
                false => json!({"includeThoughts": true}),
            };
            vec![("thinkingConfig", config)]
        }
        _ => Vec::new(),
    }
}

/// The values that the makers of the models recommend.
fn sampling(family: Family, id: &str, reasons: bool) -> Defaults {
    if family == Family::Unknown {
        return Vec::new();
    }
    let is = |names: &[&str]| names.iter().any(|name| id.contains(name));
    if family == Family::Google && is(&["gemini-2.5", "gemini-3"]) {
        let values = [
            ("temperature", json!(1)),
            ("topP", json!(0.95)),
            ("topK", json!(64)),
        ];
        return values.into();
    }
    let temperature = if is(&["kimi-k2"]) {
        // `kimi-k2-thinking` and the models that a list marks.
        if reasons || is(&["thinking"]) {
            1.0
        } else {
            0.6
        }
    } else if is(&["glm-4.6", "glm-4.7", "minimax-m2"]) {
        1.0
    } else {
        return Vec::new();
    };
    vec![("temperature", json!(temperature))]
}
