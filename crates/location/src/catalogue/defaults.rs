//! Options that models get if neither the configuration nor the list of models sets them.

use serde_json::json;

use super::platform::{self, Defaults};
use crate::model::Model;
use crate::secret::Members;

/// Returns the default options of a model in the spelling of its package.
pub(super) fn defaults(model: &Model) -> Members {
    let platform = platform::of(Some(&model.api.kind));
    let id = model.wire_id.to_ascii_lowercase();
    let mut all = match platform.knows_options() {
        true => sampling(&id, model.reasoning),
        false => Defaults::new(),
    };
    all.extend(platform.defaults(&id, model.reasoning));
    let named = all.into_iter();
    Members(named.map(|(name, it)| (name.to_owned(), it)).collect())
}

/// The values that the makers of the models recommend.
fn sampling(id: &str, reasons: bool) -> Defaults {
    let is = |names: &[&str]| names.iter().any(|name| id.contains(name));
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
        return Defaults::new();
    };
    vec![("temperature", json!(temperature))]
}
